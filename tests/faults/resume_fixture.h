/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of cdam_resume and cdam_delete share: a sandbox on a scripted engine. */
#ifndef COFFERDAM_TESTS_RESUME_FIXTURE_H
#define COFFERDAM_TESTS_RESUME_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_engine.h"

/* A model with one sandbox that was created with NONE (or UNSET), a label and a variable. */
typedef struct fixture {
  model_engine *model;
  cdam_state *state;
  char *before; /* the state as JSON, to show that it is never changed */
  size_t changes;
} fixture;

/* What lie_about changes: a value at "A.B", and the JSON that it becomes; NULL takes it away. */
extern const char *lie_path, *lie_json;

size_t changes_so_far(model_engine *model);
fixture *make_fixture(cdam_network_mode mode);
int setup_none(void **state);
int setup_unset(void **state);
int teardown(void **state);
cdam_status resume(fixture *this, const cdam_resume_flags *flags, cdam_session **session,
                   cdam_error *err);
void assert_no_change(fixture *this);
void assert_reattaches(fixture *this);
void assert_refused(fixture *this, cdam_status status, const char *field);
json_t *settings(json_t *inspect);
json_t *config(json_t *inspect);
void lie_about(json_t *inspect, int looks);
void lose_container(fixture *this);
json_t *create_body(fixture *this, size_t index);
void put_winner(fixture *this, bool ours);

#define NONE_TEST(name) cmocka_unit_test_setup_teardown(name, setup_none, teardown)
#define UNSET_TEST(name) cmocka_unit_test_setup_teardown(name, setup_unset, teardown)

#endif
