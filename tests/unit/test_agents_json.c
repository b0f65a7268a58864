/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions of the OpenAI Agents SDK, in and out. The document is what the package's release 0.24.0
 * writes; tests/interop/agents_sdk shows the package itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include <cofferdam/cofferdam.h>

#include "options/generated.h"

#define ID "54883a5969d143365ca81e9f44b07751b5202005be1deb11222c14c2cc73080b"
#define OTHER_ID "6488325969d143365ca81e9f44b07751b5202005be1deb11222c14c2cc73080b"
#define SESSION "7d352bde-f197-4d85-8fd3-c63caa5cc700"

static const char document[] =
    "{\"type\":\"docker\",\"session_id\":\"" SESSION "\","
    "\"snapshot\":{\"type\":\"local\",\"id\":\"x\",\"base_path\":\"/snapshots\"},"
    "\"manifest\":{\"version\":1,\"root\":\"/workspace\","
    "\"entries\":{\"hello.txt\":{\"type\":\"file\",\"content\":\"hello\"}},"
    "\"environment\":{\"value\":{\"A\":\"secret-1\","
    "\"B\":{\"description\":\"of B\",\"ephemeral\":true,"
    "\"value\":{\"type\":\"str\",\"value\":\"secret-2\"}},"
    "\"C\":{\"type\":\"str\",\"value\":\"secret-3\"},"
    "\"D\":{\"type\":\"vault\",\"path\":\"secret-4\"}}},"
    "\"users\":[],\"groups\":[],\"extra_path_grants\":[],"
    "\"remote_mount_command_allowlist\":[\"ls\",\"find\",\"stat\",\"cat\",\"less\",\"head\","
    "\"tail\",\"du\",\"grep\",\"rg\",\"wc\",\"sort\",\"cut\",\"cp\",\"tee\",\"echo\",\"mkdir\","
    "\"rm\"]},"
    "\"exposed_ports\":[],\"snapshot_fingerprint\":null,\"snapshot_fingerprint_version\":null,"
    "\"workspace_root_ready\":true,\"image\":\"busybox:1\",\"container_id\":\"" ID "\","
    "\"network_mode\":\"none\",\"labels\":{\"team\":\"blue\"}}";

/* ---- helpers ---- */

static cdam_status import(const char *text, cdam_state **state, cdam_agents_report **report,
                          cdam_error *err) {
  return cdam_state_from_agents_json(text, strlen(text), state, report, err);
}

/* The document with a member replaced (or, for NULL, removed); free with free(). A dotted path
 * leads into objects. */
static char *changed(const char *path, const char *value) {
  json_t *root = json_loads(document, 0, NULL);
  json_t *at = root;
  char name[64];
  const char *dot;
  for (; (dot = strchr(path, '.')); path = dot + 1) {
    snprintf(name, sizeof name, "%.*s", (int)(dot - path), path);
    at = json_object_get(at, name);
  }
  assert_non_null(at);
  if (value)
    json_object_set_new(at, path, json_loads(value, JSON_DECODE_ANY, NULL));
  else
    json_object_del(at, path);
  char *text = json_dumps(root, 0);
  json_decref(root);
  return text;
}

static const char *told(const cdam_agents_report *report, const char *field) {
  for (size_t i = 0; i < cdam_agents_report_count(report); i++) {
    assert_null(strstr(cdam_agents_report_text(report, i), "secret"));
    if (!strcmp(cdam_agents_report_field(report, i), field))
      return cdam_agents_report_text(report, i);
  }
  return NULL;
}

static cdam_state *imported(const char *text, cdam_agents_report **report) {
  cdam_state *state;
  cdam_agents_report *own = NULL;
  cdam_error err;
  if (import(text, &state, report ? report : &own, &err)) fail_msg("%s", err.message);
  cdam_agents_report_free(own);
  return state;
}

static cdam_state *imported_with(const char *path, const char *value, cdam_agents_report **report) {
  char *text = changed(path, value);
  cdam_state *state = imported(text, report);
  free(text);
  return state;
}

static json_t *exported(const cdam_state *state, const char *base, cdam_agents_report **report) {
  char *text;
  cdam_agents_report *own = NULL;
  cdam_error err;
  if (cdam_state_to_agents_json(state, base, base ? strlen(base) : 0, &text, report ? report : &own,
                                &err))
    fail_msg("%s", err.message);
  json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
  assert_non_null(root);
  assert_null(strchr(text, '\n'));
  free(text);
  cdam_agents_report_free(own);
  return root;
}

static void assert_json(const json_t *root, const char *path, const char *wanted) {
  const json_t *at = root;
  char name[64];
  const char *dot;
  for (; (dot = strchr(path, '.')); path = dot + 1) {
    snprintf(name, sizeof name, "%.*s", (int)(dot - path), path);
    at = json_object_get(at, name);
  }
  char *found = json_dumps(json_object_get(at, path), JSON_ENCODE_ANY | JSON_COMPACT);
  assert_non_null(found);
  assert_string_equal(found, wanted);
  free(found);
}

/* ---- import ---- */

static void test_import(void **unused) {
  (void)unused;
  cdam_agents_report *report;
  cdam_state *state = imported(document, &report);
  const cdam_options *options = cdam_state_options(state);
  assert_string_equal(cdam_state_session_id(state), SESSION);
  assert_string_equal(cdam_state_container_id(state), ID);
  assert_string_equal(cdam_options_image(options), "busybox:1");
  assert_int_equal(cdam_options_network_mode(options), CDAM_NETWORK_MODE_NONE);
  assert_int_equal(cdam_state_required_feature_count(state), 1);
  assert_string_equal(cdam_options_label(options, "team"), "blue");
  assert_string_equal(cdam_options_env(options, "A"), "secret-1");
  assert_string_equal(cdam_options_env(options, "B"), "secret-2");
  assert_string_equal(cdam_options_env(options, "C"), "secret-3");
  assert_null(cdam_options_env(options, "D"));
  assert_true(cdam_state_workspace_ready(state));
  assert_true(cdam_state_needs_adoption(state));
  assert_int_equal(cdam_state_validate(state, NULL), CDAM_OK);

  static const char *const fields[] = {
      "manifest.entries", "snapshot", "manifest.environment.value[B].description",
      "manifest.environment.value[B].ephemeral", "manifest.environment.value[D]"};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    if (!told(report, fields[i])) fail_msg("%s is not told", fields[i]);
  assert_int_equal(cdam_agents_report_count(report), 5);
  assert_null(cdam_agents_report_field(report, 5));
  assert_null(cdam_agents_report_text(NULL, 0));
  cdam_agents_report_free(report);
  cdam_state_free(state);
}

static void test_network_modes(void **unused) {
  (void)unused;
  cdam_agents_report *report;
  cdam_state *state = imported_with("network_mode", "null", &report);
  assert_int_equal(cdam_options_network_mode(cdam_state_options(state)), CDAM_NETWORK_MODE_UNSET);
  assert_int_equal(cdam_state_required_feature_count(state), 0);
  assert_null(told(report, "network_mode"));
  cdam_agents_report_free(report);
  cdam_state_free(state);
  state = imported_with("network_mode", NULL, &report);
  assert_int_equal(cdam_options_network_mode(cdam_state_options(state)), CDAM_NETWORK_MODE_UNSET);
  assert_non_null(strstr(told(report, "network_mode"), "not isolated"));
  cdam_agents_report_free(report);
  cdam_state_free(state);
}

static void test_reported(void **unused) {
  (void)unused;
  static const struct {
    const char *path, *value, *field;
  } rows[] = {
      {"isolation_level", "\"high\"", "isolation_level"},
      {"isolation_level", "null", "isolation_level"},
      {"__openai_agents_redacted_host_path_grant_paths", "[\"/x\"]",
       "__openai_agents_redacted_host_path_grant_paths"},
      {"snapshot_fingerprint", "\"abc\"", "snapshot_fingerprint"},
      {"snapshot_fingerprint_version", "\"v2\"", "snapshot_fingerprint_version"},
      {"manifest.root", "\"/srv\"", "manifest.root"},
      {"manifest.version", "2", "manifest.version"},
      {"manifest.users", "[{\"name\":\"a\"}]", "manifest.users"},
      {"manifest.groups", "[1]", "manifest.groups"},
      {"manifest.extra_path_grants", "[{\"path\":\"/x\"}]", "manifest.extra_path_grants"},
      {"manifest.remote_mount_command_allowlist", "[\"ls\"]",
       "manifest.remote_mount_command_allowlist"},
      {"manifest.limits", "{}", "manifest.limits"},
      {"manifest.environment.more", "1", "manifest.environment.more"},
      {"manifest.environment.value.E", "{\"type\":\"str\",\"value\":\"x\",\"more\":1}",
       "manifest.environment.value[E]"},
      {"manifest.environment.value.E", "{\"value\":{\"type\":\"secret\"}}",
       "manifest.environment.value[E]"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    cdam_agents_report *report;
    cdam_state *state = imported_with(rows[i].path, rows[i].value, &report);
    if (!told(report, rows[i].field)) fail_msg("%s is not told", rows[i].field);
    assert_null(cdam_options_env(cdam_state_options(state), "E"));
    cdam_agents_report_free(report);
    cdam_state_free(state);
  }
}

static void test_refused(void **unused) {
  (void)unused;
  static const struct {
    const char *path, *value, *field;
  } rows[] = {
      {"type", "\"unix_local\"", "type"},
      {"type", "1", "type"},
      {"type", NULL, "type"},
      {"network_mode", "\"bridge\"", "network_mode"},
      {"network_mode", "\"host\"", "network_mode"},
      {"network_mode", "\"None\"", "network_mode"},
      {"network_mode", "\"\"", "network_mode"},
      {"network_mode", "\"container:" ID "\"", "network_mode"},
      {"network_mode", "false", "network_mode"},
      {"network_mode", "[\"none\"]", "network_mode"},
      {"image", "7", "image"},
      {"image", NULL, "image"},
      {"image", "\"Not An Image\"", "options.image"},
      {"session_id", NULL, "session_id"},
      {"session_id", "\"7d352bde\"", "session_id"},
      {"session_id", "\"../" SESSION "\"", "session_id"},
      {"container_id", NULL, "container_id"},
      {"container_id", "\"\"", "container_id"},
      {"container_id", "\"54883a5969d1\"", "container_id"},
      {"container_id", "\"database\"", "container_id"},
      {"container_id", "\"" ID "/../x\"", "container_id"},
      {"container_id", "{}", "container_id"},
      {"exposed_ports", "null", "exposed_ports"},
      {"exposed_ports", "80", "exposed_ports"},
      {"exposed_ports", "[\"80\"]", "exposed_ports"},
      {"exposed_ports", "[true]", "exposed_ports"},
      {"exposed_ports", "[0]", "exposed_ports"},
      {"exposed_ports", "[65536]", "exposed_ports"},
      {"exposed_ports", "[4294967376]", "exposed_ports"},
      {"exposed_ports", "[80.0]", "exposed_ports"},
      {"exposed_ports", "[80,80]", "options.exposed_ports[1]"},
      {"labels", "[]", "labels"},
      {"labels", "{\"a\":1}", "labels[a]"},
      {"labels", "{\"io.cofferdam.session-id\":\"" SESSION "\"}",
       "options.labels[io.cofferdam.session-id]"},
      {"workspace_root_ready", "1", "workspace_root_ready"},
      {"workspace_root_ready", "null", "workspace_root_ready"},
      {"manifest", NULL, "manifest"},
      {"manifest", "[]", "manifest"},
      {"manifest.environment", "[]", "manifest.environment"},
      {"manifest.environment.value", "[]", "manifest.environment.value"},
      {"manifest.environment.value.E", "1", "manifest.environment.value[E]"},
      {"manifest.environment.value.A=B", "\"x\"", "options.env[A=B]"},
      {"snapshot", NULL, "snapshot"},
      {"snapshot", "{}", "snapshot.type"},
      {"snapshot_fingerprint", "1", "snapshot_fingerprint"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char *text = changed(rows[i].path, rows[i].value);
    cdam_state *state = (cdam_state *)text;
    cdam_agents_report *report = (cdam_agents_report *)text;
    cdam_error err;
    cdam_status status = import(text, &state, &report, &err);
    if (status != CDAM_ERR_INVALID || strcmp(err.field, rows[i].field) != 0)
      fail_msg("%s = %s: %s %s: %s", rows[i].path, rows[i].value, cdam_status_name(status),
               err.field, err.message);
    assert_null(state);
    assert_null(report);
    free(text);
  }
}

static void test_not_a_document(void **unused) {
  (void)unused;
  static const char *const texts[] = {"",
                                      "null",
                                      "[]",
                                      "\"docker\"",
                                      "{",
                                      "{}{}",
                                      "{\"type\":\"docker\",\"type\":\"docker\"}",
                                      "{\"labels\":{\"a\":\"1\",\"a\":\"2\"}}",
                                      "{\"type\":\"docker\\u0000\"}",
                                      "{\"type\":\"\xff\"}"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    cdam_state *state;
    cdam_agents_report *report;
    cdam_error err;
    if (import(texts[i], &state, &report, &err) != CDAM_ERR_MALFORMED)
      fail_msg("%s: %s", texts[i], err.message);
  }
  cdam_state *state;
  cdam_agents_report *report;
  assert_int_equal(
      cdam_state_from_agents_json(document, CDAM_AGENTS_JSON_MAX_BYTES + 1, &state, &report, NULL),
      CDAM_ERR_MALFORMED);
  assert_int_equal(import(document, &state, NULL, NULL), CDAM_ERR_ARGUMENT);
}

/* Network isolation survives every cut and every changed bit, or the document is refused. */
static void test_damage(void **unused) {
  (void)unused;
  size_t length = strlen(document);
  for (size_t cut = 0; cut < length; cut++) {
    cdam_state *state;
    cdam_agents_report *report;
    assert_int_equal(cdam_state_from_agents_json(document, cut, &state, &report, NULL),
                     CDAM_ERR_MALFORMED);
  }
  char *text = strdup(document);
  for (size_t bit = 0; bit < 8 * length; bit++) {
    text[bit / 8] ^= (char)(1 << bit % 8);
    cdam_state *state;
    cdam_agents_report *report;
    if (cdam_state_from_agents_json(text, length, &state, &report, NULL) == CDAM_OK) {
      bool none = cdam_options_network_mode(cdam_state_options(state)) == CDAM_NETWORK_MODE_NONE;
      if (!none && !told(report, "network_mode")) fail_msg("bit %zu", bit);
      cdam_state_free(state);
      cdam_agents_report_free(report);
    }
    text[bit / 8] ^= (char)(1 << bit % 8);
  }
  free(text);
}

/* ---- export ---- */

static void test_export(void **unused) {
  (void)unused;
  cdam_state *state = imported(document, NULL);
  cdam_agents_report *report;
  json_t *root = exported(state, NULL, &report);
  assert_json(root, "type", "\"docker\"");
  assert_json(root, "session_id", "\"" SESSION "\"");
  assert_json(root, "container_id", "\"" ID "\"");
  assert_json(root, "image", "\"busybox:1\"");
  assert_json(root, "network_mode", "\"none\"");
  assert_json(root, "exposed_ports", "[]");
  assert_json(root, "labels", "{\"team\":\"blue\"}");
  assert_json(root, "workspace_root_ready", "true");
  assert_json(root, "snapshot", "{\"type\":\"noop\",\"id\":\"" SESSION "\"}");
  assert_json(
      root, "manifest",
      "{\"version\":1,\"root\":\"/workspace\",\"environment\":{\"value\":{\"A\":\"secret-1\","
      "\"B\":\"secret-2\",\"C\":\"secret-3\"}}}");
  assert_int_equal(json_object_size(root), 10);
  assert_non_null(told(report, "schema_revision"));
  assert_non_null(told(report, "image_id"));
  assert_non_null(strstr(told(report, "required_features"), "0.21.1"));
  assert_null(told(report, "options.env"));
  json_decref(root);
  cdam_agents_report_free(report);
  cdam_state_free(state);

  state = imported_with("network_mode", "null", NULL);
  root = exported(state, NULL, &report);
  assert_json(root, "network_mode", "null");
  assert_null(told(report, "required_features"));
  json_decref(root);
  cdam_agents_report_free(report);
  cdam_state_free(state);
}

static void test_ports(void **unused) {
  (void)unused;
  cdam_agents_report *report;
  cdam_state *state = imported_with("exposed_ports", "[80,443]", NULL);
  json_t *root = exported(state, NULL, &report);
  assert_json(root, "exposed_ports", "[]");
  assert_non_null(told(report, "options.exposed_ports"));
  json_decref(root);
  cdam_agents_report_free(report);
  state->message.options->network_mode = COFFERDAM__V1__NETWORK_MODE__NETWORK_MODE_UNSET;
  assert_int_equal(cdam_generated_derive_features(&state->message, NULL), CDAM_OK);
  root = exported(state, NULL, &report);
  assert_json(root, "exposed_ports", "[80,443]");
  assert_null(told(report, "options.exposed_ports"));
  json_decref(root);
  cdam_agents_report_free(report);
  cdam_state_free(state);
}

static void test_base(void **unused) {
  (void)unused;
  char *base = changed("future", "{\"kept\":[1,2]}");
  cdam_state *state = imported(base, NULL);
  cdam_agents_report *report;
  json_t *root = exported(state, base, &report), *wanted = json_loads(base, 0, NULL);
  assert_true(json_equal(root, wanted));
  assert_non_null(told(report, "manifest.environment.value[D]"));
  json_decref(root);
  cdam_agents_report_free(report);

  /* What has changed meanwhile is the state's. */
  free(state->message.container_id);
  state->message.container_id = strdup(OTHER_ID);
  cdam_state_set_workspace_ready(state, false);
  cdam_options *options = (cdam_options *)state->message.options;
  assert_int_equal(cdam_options_set_env(options, "A", "secret-new", NULL), CDAM_OK);
  assert_int_equal(cdam_options_set_label(options, "team", "red", NULL), CDAM_OK);
  root = exported(state, base, &report);
  assert_json(root, "container_id", "\"" OTHER_ID "\"");
  assert_json(root, "workspace_root_ready", "false");
  assert_json(root, "labels", "{\"team\":\"red\"}");
  assert_json(root, "manifest.environment.value.A", "\"secret-new\"");
  assert_non_null(told(report, "manifest.environment.value[A]"));
  assert_non_null(told(report, "labels[team]"));
  assert_true(json_equal(json_object_get(root, "snapshot"), json_object_get(wanted, "snapshot")));
  assert_json(root, "future", "{\"kept\":[1,2]}");
  json_decref(root);
  json_decref(wanted);
  cdam_agents_report_free(report);
  cdam_state_free(state);
  free(base);
}

static void test_wrong_base(void **unused) {
  (void)unused;
  static const struct {
    const char *path, *value;
    cdam_status status;
  } rows[] = {
      {"session_id", "\"8d352bde-f197-4d85-8fd3-c63caa5cc700\"", CDAM_ERR_INVALID},
      {"image", "\"busybox:2\"", CDAM_ERR_INVALID},
      {"network_mode", "\"bridge\"", CDAM_ERR_INVALID},
      {"type", "\"unix_local\"", CDAM_ERR_INVALID},
  };
  cdam_state *state = imported(document, NULL);
  char *json;
  cdam_agents_report *report;
  cdam_error err;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char *base = changed(rows[i].path, rows[i].value);
    assert_int_equal(cdam_state_to_agents_json(state, base, strlen(base), &json, &report, &err),
                     rows[i].status);
    assert_string_equal(err.field, rows[i].path);
    assert_null(json);
    assert_null(report);
    free(base);
  }
  cdam_state_free(state);
  state = imported_with("network_mode", "null", NULL);
  assert_int_equal(
      cdam_state_to_agents_json(state, document, strlen(document), &json, &report, &err),
      CDAM_ERR_POLICY);
  cdam_state_free(state);
}

/* A feature, a mode, or an option that this library does not know. */
static void test_unsayable(void **unused) {
  (void)unused;
  char *json;
  cdam_agents_report *report;
  cdam_state *state = imported(document, NULL);
  state->message.options->network_mode = (Cofferdam__V1__NetworkMode)2;
  assert_int_equal(cdam_state_to_agents_json(state, NULL, 0, &json, &report, NULL),
                   CDAM_ERR_INVALID);
  state->message.options->network_mode = COFFERDAM__V1__NETWORK_MODE__NETWORK_MODE_NONE;
  state->message.required_features[0] = (Cofferdam__V1__Feature)63;
  assert_int_equal(cdam_state_to_agents_json(state, NULL, 0, &json, &report, NULL),
                   CDAM_ERR_UNSUPPORTED);
  cdam_state_free(state);

  state = imported(document, NULL);
  ProtobufCMessageUnknownField *unknown = calloc(1, sizeof *unknown);
  *unknown = (ProtobufCMessageUnknownField){
      .tag = 1000, .wire_type = PROTOBUF_C_WIRE_TYPE_VARINT, .len = 1, .data = malloc(1)};
  unknown->data[0] = 1;
  state->message.options->base.unknown_fields = unknown;
  state->message.options->base.n_unknown_fields = 1;
  assert_int_equal(cdam_state_to_agents_json(state, NULL, 0, &json, &report, NULL),
                   CDAM_ERR_UNSUPPORTED);
  cdam_state_free(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_import),         cmocka_unit_test(test_network_modes),
      cmocka_unit_test(test_reported),       cmocka_unit_test(test_refused),
      cmocka_unit_test(test_not_a_document), cmocka_unit_test(test_damage),
      cmocka_unit_test(test_export),         cmocka_unit_test(test_ports),
      cmocka_unit_test(test_base),           cmocka_unit_test(test_wrong_base),
      cmocka_unit_test(test_unsayable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
