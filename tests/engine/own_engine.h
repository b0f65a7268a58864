/* SPDX-License-Identifier: Apache-2.0 */
/* The engine of a program that own_engine.sh runs. */
#ifndef COFFERDAM_TESTS_OWN_ENGINE_H
#define COFFERDAM_TESTS_OWN_ENGINE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* "kill", "start" and what else own_engine.sh takes. */
static inline void engine_control(const char *verb) {
  char command[512];
  const char *root = getenv("COFFERDAM_SOURCE_ROOT");
  assert_non_null(root);
  snprintf(command, sizeof command, "%s/tests/engine/own_engine.sh %s", root, verb);
  assert_int_equal(system(command), 0);
}

#endif
