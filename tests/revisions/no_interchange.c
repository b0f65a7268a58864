/* SPDX-License-Identifier: Apache-2.0 */
/* Stands for runtime/interchange/ in a library of r1: other programs' documents tell isolation by
 * network_mode, which came with r2. */
#include <cofferdam/agents_json.h>

#include "base/fail.h"
#include "interchange/agents_container.h"

static cdam_status refuse(cdam_error *err) {
  return cdam_fail(err, CDAM_ERR_UNSUPPORTED, "this schema revision has no network_mode");
}

cdam_status cdam_state_from_agents_json(const char *json, size_t length, cdam_state **out,
                                        cdam_agents_report **report, cdam_error *err) {
  (void)json, (void)length, (void)out, (void)report;
  return refuse(err);
}

cdam_status cdam_state_to_agents_json(const cdam_state *state, const char *base, size_t base_length,
                                      char **json, cdam_agents_report **report, cdam_error *err) {
  (void)state, (void)base, (void)base_length, (void)json, (void)report;
  return refuse(err);
}

void cdam_agents_report_free(cdam_agents_report *report) {
  (void)report;
}

size_t cdam_agents_report_count(const cdam_agents_report *report) {
  (void)report;
  return 0;
}

const char *cdam_agents_report_field(const cdam_agents_report *report, size_t index) {
  (void)report, (void)index;
  return NULL;
}

const char *cdam_agents_report_text(const cdam_agents_report *report, size_t index) {
  (void)report, (void)index;
  return NULL;
}

bool cdam_state_needs_adoption(const cdam_state *state) {
  (void)state;
  return false;
}

cdam_status cdam_agents_check_container(const Cofferdam__V1__SandboxOptions *options,
                                        const json_t *inspect, cdam_error *err) {
  (void)options, (void)inspect;
  return refuse(err);
}

const char *cdam_agents_limit_of(const json_t *inspect) {
  (void)inspect;
  return NULL;
}

const char *cdam_agents_volume_of(const json_t *inspect) {
  (void)inspect;
  return NULL;
}
