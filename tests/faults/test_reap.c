/* SPDX-License-Identifier: Apache-2.0 */
/* cdam_reap among containers that look like sandboxes and are none, and states whose time is over.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <cofferdam/cofferdam.h>

#include "loop_support.h"
#include "scripted_engine.h"

#define SID "01234567-89ab-4def-8123-456789abcde"
#define DIGITS "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde"
#define NOW 1000

/* Of sandbox `n`, a digit: its id, its names, its labels. */
#define CONTAINER(n, names, labels)                                                                \
  "{\"Id\":\"" DIGITS n "\",\"Names\":[" names "],\"Labels\":{" labels "}}"
#define NAME(n) "\"/cofferdam-" SID n "\""
#define SESSION(n) "\"io.cofferdam.session-id\":\"" SID n "\""
#define DEADLINE(value) "\"io.cofferdam.deadline\":" value
#define SANDBOX(n, deadline) CONTAINER(n, NAME(n), SESSION(n) "," DEADLINE(deadline))

static scripted_engine *engine;
static cdam_client *client;

static void start(const scripted_rule *rules, size_t count) {
  engine = scripted_engine_start(rules, count);
  client = scripted_engine_client(engine, 2000);
}

static void stop(void) {
  cdam_client_free(client);
  scripted_engine_stop(engine);
}

static cdam_reap_report *reap(const char *list, bool dry_run, int deletes) {
  const scripted_rule rules[] = {
      {.method = "GET", .path = "/containers/json[?]all=1&filters=*", .reply = {200, .body = list}},
      {.method = "DELETE",
       .path = "/containers/*[?]force=1&v=1",
       .times = deletes,
       .reply = {.status = 204}}};
  start(rules, deletes ? 2 : 1);
  cdam_reap_flags flags = {.now = NOW, .dry_run = dry_run};
  cdam_reap_report *report;
  cdam_error err;
  if (cdam_reap(client, &flags, &report, &err) != CDAM_OK) fail_msg("%s", err.message);
  return report;
}

static size_t deletes_of(const char *digit) {
  char path[160];
  snprintf(path, sizeof path, "/containers/" DIGITS "%s[?]force=1&v=1", digit);
  return scripted_engine_count(engine, "DELETE", path);
}

static void only_what_is_over_is_removed(void **state) {
  (void)state;
  cdam_reap_report *report =
      reap("[" SANDBOX("1", "\"1000\"") "," SANDBOX("2", "\"1001\"") "," SANDBOX(
               "3", "\"1\"") "," SANDBOX("4", "\"253402300799\"") "]",
           false, 2);
  assert_int_equal(cdam_reap_count(report), 2);
  assert_string_equal(cdam_reap_session_id(report, 0), SID "3"); /* the earliest first */
  assert_string_equal(cdam_reap_container_id(report, 0), DIGITS "3");
  assert_int_equal(cdam_reap_deadline(report, 0), 1);
  assert_null(cdam_reap_failure(report, 0));
  assert_string_equal(cdam_reap_session_id(report, 1), SID "1");
  assert_null(cdam_reap_session_id(report, 2));
  assert_null(cdam_reap_container_id(report, 2));
  assert_null(cdam_reap_failure(report, 2));
  assert_int_equal(cdam_reap_deadline(report, 2), 0);
  assert_int_equal(deletes_of("1"), 1);
  assert_int_equal(deletes_of("3"), 1);
  cdam_reap_report_free(report);
  stop();
}

/* clang-format off */
static const char not_ours[] =
    "[7,null,[],{},{\"Id\":\"" DIGITS "0\",\"Labels\":null,\"Names\":null},"
    /* The name of another session, none, and others that are near. */
    CONTAINER("1", NAME("2"), SESSION("1") "," DEADLINE("\"1\"")) ","
    CONTAINER("2", "", SESSION("2") "," DEADLINE("\"1\"")) ","
    CONTAINER("3", "\"cofferdam-" SID "3\"", SESSION("3") "," DEADLINE("\"1\"")) ","
    CONTAINER("4", "\"/x/cofferdam-" SID "4\"", SESSION("4") "," DEADLINE("\"1\"")) ","
    CONTAINER("5", "\"/cofferdam-adopted-" SID "5\"", SESSION("5") "," DEADLINE("\"1\"")) ","
    CONTAINER("6", "\"/cofferdam-" SID "6.\"", SESSION("6") "," DEADLINE("\"1\"")) ","
    /* Without the label of a session, or with one that is no id. */
    CONTAINER("7", NAME("7"), DEADLINE("\"1\"")) ","
    CONTAINER("8", "\"/cofferdam-mine\"",
              "\"io.cofferdam.session-id\":\"mine\"," DEADLINE("\"1\"")) ","
    CONTAINER("9", "\"/cofferdam-01234567-89AB-4def-8123-456789abcdef\"",
              "\"io.cofferdam.session-id\":\"01234567-89AB-4def-8123-456789abcdef\","
              DEADLINE("\"1\"")) ","
    /* Deadlines that are none. */
    SANDBOX("a", "1") "," SANDBOX("b", "\"\"") "," SANDBOX("c", "\"0\"") ","
    SANDBOX("d", "\"-1\"") "," SANDBOX("e", "\"01\"") "," SANDBOX("f", "\"1 \"") ","
    SANDBOX("0", "\" 1\"") "," SANDBOX("0", "\"1s\"") "," SANDBOX("0", "\"+1\"") ","
    SANDBOX("0", "\"0x1\"") "," SANDBOX("0", "\"1.0\"") "," SANDBOX("0", "null") ","
    SANDBOX("0", "\"18446744073709551617\"") "," SANDBOX("0", "\"253402300800\"") ","
    /* No id of a container. */
    "{\"Id\":\"../x\",\"Names\":[" NAME("1") "],\"Labels\":{" SESSION("1") ","
    DEADLINE("\"1\"") "}}]";
/* clang-format on */

static void what_only_looks_like_ours_is_left_alone(void **state) {
  (void)state;
  cdam_reap_report *report = reap(not_ours, false, 0);
  assert_int_equal(cdam_reap_count(report), 0);
  cdam_reap_report_free(report);
  stop();
}

static void a_dry_run_removes_nothing(void **state) {
  (void)state;
  cdam_reap_report *report = reap("[" SANDBOX("1", "\"1000\"") "]", true, 0);
  assert_int_equal(cdam_reap_count(report), 1);
  assert_null(cdam_reap_failure(report, 0));
  cdam_reap_report_free(report);
  stop();
}

static void one_that_stays_is_told_and_the_others_go(void **state) {
  (void)state;
  const scripted_rule rules[] = {
      {.path = "/containers/json*",
       .reply = {200, .body = "[" SANDBOX("1", "\"1\"") "," SANDBOX("2", "\"2\"") "," SANDBOX(
                          "3", "\"3\"") "," SANDBOX("4", "\"4\"") "]"}},
      {.path = "/containers/" DIGITS "1*", .reply = {500, .body = "{\"message\":\"no\"}"}},
      {.path = "/containers/" DIGITS "2*",
       .reply = {404, .body = "{\"message\":\"No such container\"}"}},
      {.path = "/containers/" DIGITS "3*",
       .reply = {409, .body = "{\"message\":\"removal of container 3 is already in progress\"}"}},
      {.path = "/containers/" DIGITS "4*", .reply = {409, .body = "{\"message\":\"busy\"}"}}};
  start(rules, 5);
  cdam_reap_flags flags = {.now = NOW};
  cdam_reap_report *report;
  assert_int_equal(cdam_reap(client, &flags, &report, NULL), CDAM_OK);
  assert_int_equal(cdam_reap_count(report), 4);
  assert_non_null(strstr(cdam_reap_failure(report, 0), "no"));
  assert_null(cdam_reap_failure(report, 1));
  assert_null(cdam_reap_failure(report, 2));
  assert_non_null(strstr(cdam_reap_failure(report, 3), "busy"));
  cdam_reap_report_free(report);
  stop();
}

static void an_engine_that_fails_is_an_error(void **state) {
  (void)state;
  static const struct {
    scripted_reply list, removal;
    cdam_status status;
  } rows[] = {
      {{.status = 500, .body = "{\"message\":\"x\"}"}, {.status = 204}, CDAM_ERR_ENGINE},
      {{.status = 200, .body = "{}"}, {.status = 204}, CDAM_ERR_PROTOCOL},
      {{.status = 200, .body = "nonsense"}, {.status = 204}, CDAM_ERR_PROTOCOL},
      {{.status = 200, .body = "[" SANDBOX("1", "\"1\"") "]"},
       {.status = 204, .cut = 9},
       CDAM_ERR_PROTOCOL},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const scripted_rule rules[] = {
        {.method = "GET", .path = "/containers/json*", .reply = rows[i].list},
        {.method = "DELETE", .path = "*", .reply = rows[i].removal}};
    start(rules, 2);
    cdam_reap_flags flags = {.now = NOW};
    cdam_reap_report *report;
    cdam_error err;
    cdam_status status = cdam_reap(client, &flags, &report, &err);
    if (status != rows[i].status) fail_msg("row %zu: %s", i, err.message);
    assert_null(report);
    stop();
  }
}

static void arguments(void **state) {
  (void)state;
  cdam_reap_report *report;
  assert_int_equal(cdam_reap(NULL, NULL, &report, NULL), CDAM_ERR_ARGUMENT);
  assert_null(report);
  start(NULL, 0);
  assert_int_equal(cdam_reap(client, NULL, NULL, NULL), CDAM_ERR_ARGUMENT);
  const cdam_reap_flags odd = {.reserved = {[14] = true}};
  assert_int_equal(cdam_reap(client, &odd, &report, NULL), CDAM_ERR_ARGUMENT);
  stop();
  assert_int_equal(cdam_reap_count(NULL), 0);
  cdam_reap_report_free(NULL);
}

/* ---- the clock ---- */

/* How many of three deadlines are over: 1970, an hour ago, in an hour. */
static size_t found_at(const char *info) {
  char list[4096];
  int64_t now = (int64_t)time(NULL);
  snprintf(list, sizeof list,
           "[" SANDBOX("1", "\"1\"") "," SANDBOX("2", "\"%lld\"") "," SANDBOX("3", "\"%lld\"") "]",
           (long long)now - 3600, (long long)now + 3600);
  const scripted_rule rules[] = {
      {.method = "GET", .path = "/info", .reply = {200, .body = info}},
      {.method = "GET", .path = "/containers/json*", .reply = {200, .body = list}}};
  cdam_reap_report *report;
  cdam_error err;
  start(rules, 2);
  if (cdam_reap(client, &(cdam_reap_flags){.dry_run = true}, &report, &err))
    fail_msg("%s", err.message);
  size_t count = cdam_reap_count(report);
  cdam_reap_report_free(report);
  stop();
  return count;
}

/* The earlier of both counts: a client that is ahead ends nobody's sandbox, nor does an engine. */
static void both_clocks_count(void **state) {
  (void)state;
  assert_int_equal(found_at("{\"SystemTime\":\"2001-01-01T00:00:00.5Z\"}"), 1);
  assert_int_equal(found_at("{\"SystemTime\":\"9998-01-01T00:00:00Z\"}"), 2);
  assert_int_equal(found_at("{\"SystemTime\":\"today\"}"), 2);
  assert_int_equal(found_at("{\"SystemTime\":7}"), 2);
  assert_int_equal(found_at("{}"), 2);
}

static void an_engine_without_a_clock_is_an_error(void **state) {
  (void)state;
  const scripted_rule rules[] = {
      {.method = "GET", .path = "/info", .reply = {500, .body = "{\"message\":\"broken\"}"}}};
  cdam_reap_report *report;
  start(rules, 1);
  assert_int_equal(cdam_reap(client, NULL, &report, NULL), CDAM_ERR_ENGINE);
  assert_null(report);
  stop();
}

/* ---- in a loop ---- */

static void reaped(void *user, cdam_status status, cdam_reap_report *report,
                   const cdam_error *err) {
  note_outcome(user, status, err)->port = (uint16_t)cdam_reap_count(report);
  assert_int_equal(report != NULL, status == CDAM_OK);
  cdam_reap_report_free(report);
}

static void without_blocking(void **state) {
  (void)state;
  for (int cancel = 0; cancel < 2; cancel++) {
    const scripted_rule rules[] = {
        {.path = "/containers/json*", .reply = {200, .body = "[" SANDBOX("1", "\"1\"") "]"}},
        {.method = "DELETE", .path = "*", .reply = {.status = 204}}};
    start(rules, 2);
    cdam_loop *loop;
    cdam_error err;
    cdam_operation *operation;
    outcome result = {0};
    cdam_reap_flags flags = {.now = NOW};
    assert_int_equal(cdam_loop_new(client, &loop, &err), CDAM_OK);
    assert_int_equal(cdam_reap_start(loop, &flags, NULL, NULL, NULL, &err), CDAM_ERR_ARGUMENT);
    assert_int_equal(cdam_reap_start(loop, &flags, reaped, &result, &operation, &err), CDAM_OK);
    assert_int_equal(result.calls, 0);
    if (cancel) cdam_cancel(operation);
    drive(loop);
    assert_int_equal(result.calls, 1);
    assert_int_equal(result.status, cancel ? CDAM_ERR_CANCELLED : CDAM_OK);
    assert_int_equal(result.port, !cancel);
    cdam_loop_free(loop);
    stop();
  }
}

/* ---- states whose time is over ---- */

static cdam_state *state_until(const char *deadline) {
  char json[1024];
  snprintf(json, sizeof json,
           "{\"schemaRevision\":3,\"requiredFeatures\":[\"FEATURE_DEADLINE\"],\"sessionId\":\"" SID
           "1\",\"imageId\":\"sha256:" DIGITS "1\",\"containerId\":\"" DIGITS
           "1\",\"options\":{\"image\":\"b\",\"deadline\":\"%s\"}}",
           deadline);
  cdam_state *state;
  cdam_error err;
  if (cdam_state_from_json(json, strlen(json), NULL, &state, &err)) fail_msg("%s", err.message);
  return state;
}

/* A request would fail the test. */
static void what_is_over_is_neither_resumed_nor_created(void **unused) {
  (void)unused;
  start(NULL, 0);
  cdam_state *state = state_until("1");
  cdam_session *session;
  cdam_error err;
  assert_int_equal(cdam_resume(client, state, NULL, &session, &err), CDAM_ERR_EXPIRED);
  assert_null(session);
  assert_int_equal(err.retry, CDAM_RETRY_NO);
  assert_string_equal(cdam_status_name(err.code), "CDAM_ERR_EXPIRED");
  assert_int_equal(cdam_create(client, cdam_state_options(state), &session, &err),
                   CDAM_ERR_EXPIRED);
  assert_null(session);
  cdam_state_free(state);
  stop();
}

/* It can still be deleted, by its state as by reaping. */
static void what_is_over_can_be_deleted(void **unused) {
  (void)unused;
  const scripted_rule rules[] = {{.method = "GET",
                                  .path = "*",
                                  .reply = {404, .body = "{\"message\":\"No such container\"}"}}};
  start(rules, 1);
  cdam_state *state = state_until("1");
  assert_int_equal(cdam_delete(client, state, NULL), CDAM_OK);
  cdam_state_free(state);
  stop();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_what_is_over_is_removed),
      cmocka_unit_test(what_only_looks_like_ours_is_left_alone),
      cmocka_unit_test(a_dry_run_removes_nothing),
      cmocka_unit_test(one_that_stays_is_told_and_the_others_go),
      cmocka_unit_test(an_engine_that_fails_is_an_error),
      cmocka_unit_test(arguments),
      cmocka_unit_test(both_clocks_count),
      cmocka_unit_test(an_engine_without_a_clock_is_an_error),
      cmocka_unit_test(without_blocking),
      cmocka_unit_test(what_is_over_is_neither_resumed_nor_created),
      cmocka_unit_test(what_is_over_can_be_deleted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
