/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions of the OpenAI Agents SDK. What is imported says NONE if and only if the document says
 * "none", and waits for its adoption. What is exported again, alone or over the document that it
 * came from, is imported as the same state.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "options/generated.h"
#include "state_checks.h"

static void check_report(cdam_agents_report *report) {
  FUZZ_CHECK(report != NULL);
  for (size_t i = 0; i < cdam_agents_report_count(report); i++)
    FUZZ_CHECK(cdam_agents_report_field(report, i) && cdam_agents_report_text(report, i)[0]);
  FUZZ_CHECK(!cdam_agents_report_field(report, cdam_agents_report_count(report)));
  cdam_agents_report_free(report);
}

static cdam_state *import(const char *text, size_t length) {
  cdam_state *state;
  cdam_agents_report *report;
  char *copy = fuzz_copy(text, length);
  cdam_error err = {0};
  cdam_status status = cdam_state_from_agents_json(copy, length, &state, &report, &err);
  free(copy);
  FUZZ_CHECK(err.code == status);
  FUZZ_CHECK((status == CDAM_OK) == (state != NULL));
  if (state)
    check_report(report);
  else
    FUZZ_CHECK(!report);
  return state;
}

/* The document with jansson alone. */
static void check_isolation(const char *text, size_t length, const cdam_state *state) {
  json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
  FUZZ_CHECK(json_is_object(root));
  const json_t *mode = json_object_get(root, "network_mode");
  bool none = json_is_string(mode) && strcmp(json_string_value(mode), "none") == 0;
  FUZZ_CHECK(none || !mode || json_is_null(mode));
  cdam_network_mode ours = cdam_options_network_mode(cdam_state_options(state));
  FUZZ_CHECK(ours == (none ? CDAM_NETWORK_MODE_NONE : CDAM_NETWORK_MODE_UNSET));
  json_decref(root);
}

/* Ports are left out where there is no network, because the SDK refuses them; the report says so.
 */
static void leave_out_ports(cdam_state *state, const cdam_agents_report *report) {
  cdam_options *options = (cdam_options *)state->message.options;
  bool told = false;
  for (size_t i = 0; i < cdam_agents_report_count(report); i++)
    told |= strcmp(cdam_agents_report_field(report, i), "options.exposed_ports") == 0;
  bool left_out = cdam_options_network_mode(options) == CDAM_NETWORK_MODE_NONE &&
                  cdam_options_exposed_port_count(options) > 0;
  FUZZ_CHECK(told == left_out);
  if (left_out) cdam_options_clear_exposed_ports(options);
}

static void check_export(const cdam_state *state, const char *base, size_t base_length) {
  char *json;
  cdam_agents_report *report;
  cdam_state *expected, *back;
  cdam_error err = {0};
  cdam_status status = cdam_state_to_agents_json(state, base, base_length, &json, &report, &err);
  FUZZ_CHECK(status == CDAM_OK && err.code == CDAM_OK);
  FUZZ_CHECK(cdam_state_copy(state, &expected, NULL) == CDAM_OK);
  leave_out_ports(expected, report);
  check_report(report);
  back = import(json, strlen(json));
  FUZZ_CHECK(back != NULL);
  check_isolation(json, strlen(json), back);
  FUZZ_CHECK(fuzz_same(&expected->message.base, &back->message.base));
  cdam_state_free(expected);
  cdam_state_free(back);
  free(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *text = (const char *)data;
  cdam_state *state = import(text, size);
  if (!state) return 0;
  FUZZ_CHECK(!memchr(data, '\0', size));
  FUZZ_CHECK(cdam_state_needs_adoption(state));
  check_isolation(text, size, state);
  fuzz_check_state(state, NULL);
  check_export(state, NULL, 0);
  check_export(state, text, size);
  cdam_state_free(state);
  return 0;
}
