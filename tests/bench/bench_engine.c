/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One client doing one thing a number of times: bench_CLIENT SCENARIO COUNT IMAGE. Scenarios: exec,
 * resume, cycle. Prints "wall_ns cpu_ns peak_kib" of the repetitions; set-up and clean-up are left
 * out of the times.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "actions.h"

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

static void once(const actions *client, const char *scenario) {
  if (!strcmp(scenario, "exec")) {
    client->exec();
  } else if (!strcmp(scenario, "resume")) {
    client->resume();
  } else {
    client->create();
    client->exec();
    client->destroy();
  }
}

int main(int argc, char **argv) {
  if (argc != 4) die("usage", "bench_CLIENT SCENARIO COUNT IMAGE");
  const char *scenario = argv[1];
  long count = strtol(argv[2], NULL, 10);
  actions client = make_actions(argv[3]);
  int cycle = !strcmp(scenario, "cycle");
  if (!cycle) client.create();
  once(&client, scenario); /* warm up */
  long long wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
  for (long i = 0; i < count; i++)
    once(&client, scenario);
  cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  wall = now(CLOCK_MONOTONIC) - wall;
  long peak = peak_kib();
  if (!cycle) client.destroy();
  printf("%lld %lld %ld\n", wall, cpu, peak);
  return 0;
}
