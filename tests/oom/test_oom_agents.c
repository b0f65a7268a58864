/* SPDX-License-Identifier: Apache-2.0 */
/* Out of memory while sessions of the OpenAI Agents SDK come in and go out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../faults/sdk_container.h"
#include "exhaust.h"

static const char document[] =
    "{\"type\":\"docker\",\"session_id\":\"7d352bde-f197-4d85-8fd3-c63caa5cc700\","
    "\"snapshot\":{\"type\":\"local\",\"id\":\"x\"},\"manifest\":{\"entries\":{\"a\":{}},"
    "\"environment\":{\"value\":{\"A\":\"1\",\"B\":{\"description\":\"b\","
    "\"value\":{\"type\":\"str\",\"value\":\"2\"}},\"C\":{\"type\":\"vault\"}}}},"
    "\"exposed_ports\":[80,443],\"image\":\"busybox:1\",\"network_mode\":\"none\","
    "\"container_id\":\"54883a5969d143365ca81e9f44b07751b5202005be1deb11222c14c2cc73080b\","
    "\"labels\":{\"team\":\"blue\",\"b\":\"\"},\"future\":1}";

typedef struct things {
  cdam_state *given;
  const char *base;
  const char *wanted; /* the JSON that comes of it */
  size_t entries;     /* of the report */

  cdam_state *state; /* made */
  char *json;
  cdam_agents_report *report;
} things;

static cdam_status run_import(void *context, cdam_error *err) {
  things *t = context;
  return cdam_state_from_agents_json(document, strlen(document), &t->state, &t->report, err);
}

static cdam_status run_export(void *context, cdam_error *err) {
  things *t = context;
  return cdam_state_to_agents_json(t->given, t->base, t->base ? strlen(t->base) : 0, &t->json,
                                   &t->report, err);
}

static const char *finish(void *context, cdam_status status, bool once) {
  (void)once;
  things *t = context;
  const char *wrong = NULL;
  if (status == CDAM_OK) {
    if (t->state && cdam_state_to_json(t->state, &t->json, NULL)) wrong = "no JSON of the state";
    if (!wrong && t->wanted && strcmp(t->json, t->wanted) != 0) wrong = "not the whole result";
    if (cdam_agents_report_count(t->report) != t->entries) wrong = "not the whole report";
  } else if (t->state || t->json || t->report) {
    wrong = "a failure that leaves something";
  }
  cdam_state_free(t->state);
  cdam_agents_report_free(t->report);
  free(t->json);
  t->state = NULL;
  t->report = NULL;
  t->json = NULL;
  return wrong;
}

/* Runs it once with memory, and then demands the same or a failure. */
static void exhaust_all(const char *name, cdam_status (*run)(void *, cdam_error *), things *t) {
  cdam_error err;
  if (run(t, &err)) fail_msg("%s", err.message);
  char *wanted = t->json;
  if (t->state) assert_int_equal(cdam_state_to_json(t->state, &wanted, NULL), CDAM_OK);
  t->entries = cdam_agents_report_count(t->report);
  cdam_state_free(t->state);
  cdam_agents_report_free(t->report);
  t->state = NULL;
  t->report = NULL;
  t->json = NULL;
  t->wanted = wanted;
  exhaust(&(exhaust_case){name, run, finish, t, false, 0});
  free(wanted);
}

static void test_import(void **unused) {
  (void)unused;
  things t = {0};
  exhaust_all("import", run_import, &t);
}

static void with_state(const char *base) {
  things t = {.base = base};
  cdam_agents_report *report;
  cdam_error err;
  if (cdam_state_from_agents_json(document, strlen(document), &t.given, &report, &err))
    fail_msg("%s", err.message);
  cdam_agents_report_free(report);
  exhaust_all("export", run_export, &t);
  cdam_state_free(t.given);
}

static void test_export(void **unused) {
  (void)unused;
  with_state(NULL);
}

static void test_export_with_base(void **unused) {
  (void)unused;
  with_state(document);
}

/* ---- adoption ---- */

typedef struct adoption {
  model_engine *model;
  cdam_state *state;
  cdam_client *client;
  cdam_session *session;
} adoption;

/* With a client of its own, so that no connection stays. */
static cdam_status run_adopt(void *context, cdam_error *err) {
  adoption *a = context;
  cdam_client_config *config = NULL;
  cdam_status status = cdam_client_config_new(&config, err);
  if (!status)
    status =
        cdam_client_config_set_endpoint(config, scripted_engine_endpoint(a->model->engine), err);
  if (!status) {
    cdam_client_config_set_timeout(config, 300);
    status = cdam_client_new(config, &a->client, err);
  }
  cdam_client_config_free(config);
  if (status) return status;
  return cdam_resume(a->client, a->state, &(cdam_resume_flags){.adopt = true}, &a->session, err);
}

/* Each run begins with a container that was not adopted. */
static const char *finish_adopt(void *context, cdam_status status, bool once) {
  (void)once;
  adoption *a = context;
  const char *wrong = NULL;
  if (!model_has_container(a->model)) wrong = "the container is gone";
  if (status == CDAM_OK && !cdam_session_was_adopted(a->session)) wrong = "it was not adopted";
  if (status == CDAM_OK && strcmp(a->model->name, "cofferdam-adopted-" SDK_SESSION) != 0)
    wrong = "it has another name";
  if (status == CDAM_OK && cdam_session_warning_count(a->session) < 3) wrong = "too few warnings";
  if (status != CDAM_OK && a->session) wrong = "a failure with a session";
  cdam_session_free(a->session);
  cdam_client_free(a->client);
  a->session = NULL;
  a->client = NULL;
  snprintf(a->model->name, sizeof a->model->name, "gifted_name");
  return wrong;
}

static void lie(json_t *inspect, int looks) {
  (void)looks;
  as_the_sdk_makes_it(inspect);
}

static void test_adopt(void **unused) {
  (void)unused;
  adoption a = {.model = model_start()};
  a.model->lie = lie;
  a.state = put_sdk_container(a.model);
  assert_non_null(a.state);
  exhaust(&(exhaust_case){"adopt", run_adopt, finish_adopt, &a, true, 7});
  cdam_state_free(a.state);
  model_stop(a.model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_import),
      cmocka_unit_test(test_export),
      cmocka_unit_test(test_export_with_base),
      cmocka_unit_test(test_adopt),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
