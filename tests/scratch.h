/* SPDX-License-Identifier: Apache-2.0 */
/* A directory of a test program's own, and what a shell does in it. */
#ifndef COFFERDAM_TESTS_SCRATCH_H
#define COFFERDAM_TESTS_SCRATCH_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static char scratch[64];

/* The status of a shell command in the directory. */
__attribute__((format(printf, 1, 2), unused)) static int here(const char *format, ...) {
  char command[8192];
  int used = snprintf(command, sizeof command, "cd %s && ", scratch);
  va_list args;
  va_start(args, format);
  vsnprintf(command + used, sizeof command - (size_t)used, format, args);
  va_end(args);
  return system(command);
}

/* The path of a name in it, until the fourth call after this one. */
__attribute__((unused)) static const char *in_scratch(const char *name) {
  static char paths[4][256];
  static unsigned next;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", scratch, name);
  return path;
}

/* As a group's setup and teardown; 0, or the test cannot go on. */
static inline int make_scratch(void **unused) {
  (void)unused;
  snprintf(scratch, sizeof scratch, "/tmp/cofferdam-test-XXXXXX");
  return mkdtemp(scratch) ? 0 : -1;
}

static inline int remove_scratch(void **unused) {
  (void)unused;
  return here("chmod -R u+rwX . && rm -rf %s", scratch);
}

#endif
