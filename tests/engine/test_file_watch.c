/* SPDX-License-Identifier: Apache-2.0 */
/* Watching directories of a sandbox. */
#include "test_file_support.h"

static cdam_file_event next(cdam_file_watch *watch, int64_t timeout_ms) {
  cdam_file_event event;
  cdam_error err;
  assert_ok(cdam_file_watch_next(watch, timeout_ms, &event, &err), &err);
  return event;
}

static void assert_event(cdam_file_watch *watch, cdam_file_event_kind kind, const char *name) {
  cdam_file_event event = next(watch, 60000);
  if (event.kind != kind || strcmp(event.name, name) != 0)
    fail_msg("event %d of \"%s\", expected %d of \"%s\"", (int)event.kind, event.name, (int)kind,
             name);
}

static void test_watching(void **state) {
  (void)state;
  cdam_error err;
  cdam_file_watch *watch;
  shell("mkdir -p watched");
  assert_ok(cdam_file_watch_new(session, "watched", &watch, &err), &err);
  int64_t before = cdam_now_ms();
  assert_int_equal(next(watch, 0).kind, CDAM_FILE_NOTHING);
  assert_int_equal(next(watch, 200).kind, CDAM_FILE_NOTHING);
  assert_in_range(cdam_now_ms() - before, 199, 20000);
  shell("cd watched && echo hello > 'new\nname' && mkdir sub && mv 'new\nname' other && rm other");
  assert_event(watch, CDAM_FILE_CREATED, "new\nname");
  assert_event(watch, CDAM_FILE_MODIFIED, "new\nname");
  assert_event(watch, CDAM_FILE_CLOSED, "new\nname");
  cdam_file_event event = next(watch, 60000);
  assert_int_equal(event.kind, CDAM_FILE_CREATED);
  assert_true(event.is_directory);
  cdam_file_event from = next(watch, 60000);
  uint32_t cookie = from.cookie;
  assert_int_equal(from.kind, CDAM_FILE_MOVED_FROM);
  cdam_file_event to = next(watch, 60000);
  assert_int_equal(to.kind, CDAM_FILE_MOVED_TO);
  assert_int_equal(to.cookie, cookie);
  assert_string_equal(to.name, "other");
  assert_event(watch, CDAM_FILE_REMOVED, "other");
  shell("chmod 700 watched/sub");
  assert_event(watch, CDAM_FILE_ATTRIBUTES, "sub");
  assert_int_equal(next(watch, 0).kind, CDAM_FILE_NOTHING);
  assert_ok(cdam_file_remove(session, "watched", true, false, &err), &err);
  do
    event = next(watch, 60000);
  while (event.kind != CDAM_FILE_GONE);
  assert_int_equal(next(watch, 0).kind, CDAM_FILE_GONE);
  cdam_file_watch_free(watch);
  assert_fails(cdam_file_watch_new(session, "watched", &watch, &err), CDAM_ERR_FILE, ENOENT, &err);
  assert_message(&err, "cannot watch \"watched\"");
}

/* Nobody fetches: what is kept is bounded, and what was lost is told. */
static void test_a_flood_of_events(void **state) {
  (void)state;
  cdam_error err;
  cdam_file_watch *watch;
  shell("mkdir -p flooded");
  assert_ok(cdam_file_watch_new(session, "flooded", &watch, &err), &err);
  shell("cd flooded && i=0 && while [ $i -lt 40000 ]; do : > $i; : > x; i=$((i+1)); done");
  size_t count = 0;
  cdam_file_event event;
  for (;;) {
    event = next(watch, 3000);
    if (event.kind == CDAM_FILE_OVERFLOW || event.kind == CDAM_FILE_NOTHING) break;
    count++;
  }
  assert_int_equal(event.kind, CDAM_FILE_OVERFLOW);
  assert_in_range(count, 10000, 200000);
  /* And then it goes on. */
  while (next(watch, 500).kind != CDAM_FILE_NOTHING)
    ;
  put("flooded/last", "x");
  bool seen = false;
  while ((event = next(watch, 500)).kind != CDAM_FILE_NOTHING)
    if (strcmp(event.name, "last") == 0) seen = true;
  assert_true(seen);
  cdam_file_watch_free(watch);
  assert_ok(cdam_file_remove(session, "flooded", true, false, &err), &err);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_watching),
      cmocka_unit_test(test_a_flood_of_events),
  };
  return cmocka_run_group_tests_name("file_watch", tests, begin_sandbox, end_sandbox);
}
