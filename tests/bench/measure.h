/* SPDX-License-Identifier: Apache-2.0 */
/* What a benchmark reads of itself, and how it ends. Included once in each program. */
#ifndef COFFERDAM_BENCH_MEASURE_H
#define COFFERDAM_BENCH_MEASURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void die(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

static long long now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* getrusage would give the peak of the process that started this one, if that was higher. */
static long peak_kib(void) {
  char line[256];
  long peak = 0;
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status))
    if (!strncmp(line, "VmHWM:", 6)) peak = strtol(line + 6, NULL, 10);
  if (status) fclose(status);
  return peak;
}

#endif
