/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "interchange/agents_json.h"
#include "options/generated.h"
#include "session/session.h"
#include "state/protojson.h"

cdam_status cdam_agents_wrong(cdam_error *err, const char *field, const char *text) {
  return cdam_fail_field(err, field, "%s", text);
}

/* What a document is read into. */
typedef struct reading {
  const json_t *root;
  cdam_state *state;
  cdam_options *options; /* the state's own */
  cdam_agents_report *report;
} reading;

static cdam_status tell(reading *this, cdam_error *err, const char *field, const char *text) {
  return cdam_agents_report_add(this->report, err, field, "%s", text);
}

/* ---- the members that are carried over ---- */

static cdam_status read_text(const json_t *json, const char *field, char **place, cdam_error *err) {
  if (!json) return cdam_agents_wrong(err, field, "is required");
  if (!json_is_string(json)) return cdam_agents_wrong(err, field, "is not a string");
  return cdam_set_text(place, json_string_value(json), err);
}

static cdam_status read_type(reading *this, const json_t *json, cdam_error *err) {
  (void)this;
  if (json_is_string(json) && strcmp(json_string_value(json), "docker") == 0) return CDAM_OK;
  return cdam_agents_wrong(err, "type",
                           "is not \"docker\"; only sessions of the SDK's Docker client can be "
                           "carried over");
}

static cdam_status read_image(reading *this, const json_t *json, cdam_error *err) {
  return read_text(json, "image", &this->options->message.image, err);
}

static cdam_status read_session_id(reading *this, const json_t *json, cdam_error *err) {
  return read_text(json, "session_id", &this->state->message.session_id, err);
}

static cdam_status read_container_id(reading *this, const json_t *json, cdam_error *err) {
  if (json_is_string(json) && json_string_length(json) == 0)
    return cdam_agents_wrong(err, "container_id",
                             "is empty, as the SDK writes it when it has removed the credentials "
                             "of mounts: there is no container to come back to");
  return read_text(json, "container_id", &this->state->message.container_id, err);
}

static cdam_status read_network_mode(reading *this, const json_t *json, cdam_error *err) {
  if (!json)
    return tell(this, err, "network_mode",
                "absent, as the SDK's releases before 0.21.1 have it; read as null: the sandbox "
                "is not isolated");
  if (json_is_null(json)) return CDAM_OK;
  if (!json_is_string(json) || strcmp(json_string_value(json), "none") != 0)
    return cdam_agents_wrong(err, "network_mode",
                             "only null and \"none\" can be carried over; nothing else can be "
                             "said in a state");
  cdam_options_set_network_mode(this->options, CDAM_NETWORK_MODE_NONE);
  return CDAM_OK;
}

static cdam_status read_exposed_ports(reading *this, const json_t *json, cdam_error *err) {
  static const char wrong[] = "is not an array of ports from 1 to 65535";
  if (!json) return CDAM_OK;
  if (!json_is_array(json)) return cdam_agents_wrong(err, "exposed_ports", wrong);
  size_t index;
  const json_t *port;
  json_array_foreach(json, index, port) {
    json_int_t number = json_integer_value(port);
    if (!json_is_integer(port) || number < 1 || number > UINT16_MAX)
      return cdam_agents_wrong(err, "exposed_ports", wrong);
    cdam_status status = cdam_options_add_exposed_port(this->options, (uint32_t)number, err);
    if (status) return status;
  }
  return CDAM_OK;
}

static cdam_status read_labels(reading *this, const json_t *json, cdam_error *err) {
  if (!json) return CDAM_OK;
  if (!json_is_object(json)) return cdam_agents_wrong(err, "labels", "is not an object");
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)json, key, value) {
    char field[CDAM_AGENTS_FIELD_SIZE];
    cdam_agents_entry(field, "labels", key);
    if (!json_is_string(value)) return cdam_agents_wrong(err, field, "is not a string");
    cdam_status status = cdam_options_set_label(this->options, key, json_string_value(value), err);
    if (status) return status;
  }
  return CDAM_OK;
}

static cdam_status read_workspace(reading *this, const json_t *json, cdam_error *err) {
  if (!json) return CDAM_OK;
  if (!json_is_boolean(json))
    return cdam_agents_wrong(err, "workspace_root_ready", "is neither true nor false");
  this->state->message.workspace_ready = json_is_true(json);
  return CDAM_OK;
}

/* ---- the members that have no place in a state ---- */

static const char no_place[] = "left out: it has no place in a state; to keep it, give this "
                               "document as the base when the state is exported again";

static cdam_status read_fingerprint(reading *this, const json_t *json, const char *field,
                                    cdam_error *err) {
  if (!json || json_is_null(json)) return CDAM_OK;
  if (!json_is_string(json)) return cdam_agents_wrong(err, field, "is neither null nor a string");
  return tell(this, err, field, no_place);
}

static cdam_status read_snapshot_fingerprint(reading *this, const json_t *json, cdam_error *err) {
  return read_fingerprint(this, json, "snapshot_fingerprint", err);
}

static cdam_status read_fingerprint_version(reading *this, const json_t *json, cdam_error *err) {
  return read_fingerprint(this, json, "snapshot_fingerprint_version", err);
}

static cdam_status read_snapshot(reading *this, const json_t *json, cdam_error *err) {
  const json_t *type = json_object_get(json, "type");
  if (!json_is_object(json)) return cdam_agents_wrong(err, "snapshot", "is not an object");
  if (!json_is_string(type)) return cdam_agents_wrong(err, "snapshot.type", "is not a string");
  bool holds_nothing = strcmp(json_string_value(type), "noop") == 0;
  return holds_nothing ? CDAM_OK : tell(this, err, "snapshot", no_place);
}

/* As the SDK has it when nobody changes it. */
static const char *const mount_commands[] = {
    "ls", "find", "stat", "cat", "less", "head", "tail", "du",    "grep",
    "rg", "wc",   "sort", "cut", "cp",   "tee",  "echo", "mkdir", "rm",
};

static bool is_default_commands(const json_t *json) {
  const size_t count = sizeof mount_commands / sizeof *mount_commands;
  if (!json_is_array(json) || json_array_size(json) != count) return false;
  for (size_t i = 0; i < count; i++) {
    const char *word = json_string_value(json_array_get(json, i));
    if (!word || strcmp(word, mount_commands[i]) != 0) return false;
  }
  return true;
}

/* Would a manifest without this member mean the same? */
static bool is_default(const char *name, const json_t *value) {
  if (strcmp(name, "version") == 0) return json_is_integer(value) && json_integer_value(value) == 1;
  if (strcmp(name, "root") == 0)
    return json_is_string(value) && strcmp(json_string_value(value), "/workspace") == 0;
  if (strcmp(name, "remote_mount_command_allowlist") == 0) return is_default_commands(value);
  bool empty = (json_is_object(value) && json_object_size(value) == 0) ||
               (json_is_array(value) && json_array_size(value) == 0);
  return empty && (strcmp(name, "entries") == 0 || strcmp(name, "users") == 0 ||
                   strcmp(name, "groups") == 0 || strcmp(name, "extra_path_grants") == 0);
}

static cdam_status read_manifest(reading *this, const json_t *json, cdam_error *err) {
  if (!json_is_object(json)) return cdam_agents_wrong(err, "manifest", "is not an object");
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)json, name, value) {
    if (strcmp(name, "environment") == 0 || is_default(name, value)) continue;
    char field[CDAM_AGENTS_FIELD_SIZE];
    cdam_agents_member(field, "manifest", name);
    cdam_status status = tell(this, err, field, no_place);
    if (status) return status;
  }
  return cdam_agents_read_environment(json, this->options, this->report, err);
}

/* ---- the whole ---- */

typedef struct member {
  const char *name;
  cdam_status (*read)(reading *this, const json_t *json, cdam_error *err);
} member;

/* `json` is NULL for a member that is absent. */
static const member members[] = {
    {"type", read_type},
    {"session_id", read_session_id},
    {"image", read_image},
    {"container_id", read_container_id},
    {"network_mode", read_network_mode},
    {"exposed_ports", read_exposed_ports},
    {"labels", read_labels},
    {"workspace_root_ready", read_workspace},
    {"manifest", read_manifest},
    {"snapshot", read_snapshot},
    {"snapshot_fingerprint", read_snapshot_fingerprint},
    {"snapshot_fingerprint_version", read_fingerprint_version},
};

enum { MEMBER_COUNT = sizeof members / sizeof *members };

static bool is_known(const char *name) {
  for (size_t i = 0; i < MEMBER_COUNT; i++)
    if (strcmp(members[i].name, name) == 0) return true;
  return false;
}

static cdam_status report_unknown(reading *this, cdam_error *err) {
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)this->root, name, value) {
    if (is_known(name)) continue;
    bool marker = strncmp(name, "__openai_agents_redacted_", 25) == 0;
    cdam_status status = tell(this, err, name,
                              marker ? "left out: it says that the SDK removed something when it "
                                       "wrote the document"
                                     : "left out: unknown to this library; if it isolates, the "
                                       "state does not say so");
    if (status) return status;
  }
  return CDAM_OK;
}

static cdam_status read_members(reading *this, cdam_error *err) {
  for (size_t i = 0; i < MEMBER_COUNT; i++) {
    const json_t *json = json_object_get(this->root, members[i].name);
    cdam_status status = members[i].read(this, json, err);
    if (status) return status;
  }
  return report_unknown(this, err);
}

static cdam_status fill_state(reading *this, cdam_error *err) {
  Cofferdam__V1__SessionState *message = &this->state->message;
  message->schema_revision = cdam_generated_revision;
  cdam_status status = cdam_options_new(&this->options, err);
  if (status) return status;
  message->options = &this->options->message;
  status = read_members(this, err);
  if (!status) status = cdam_set_text(&message->image_id, CDAM_IMAGE_ID_UNKNOWN, err);
  if (!status) status = cdam_generated_derive_features(message, err);
  if (!status) status = cdam_state_validate(this->state, err);
  return status;
}

cdam_status cdam_agents_read(const json_t *root, cdam_state **out, cdam_agents_report *report,
                             cdam_error *err) {
  *out = NULL;
  cdam_state *state = malloc(sizeof *state);
  if (!state) return cdam_fail_memory(err);
  cofferdam__v1__session_state__init(&state->message);
  reading this = {.root = root, .state = state, .report = report};
  cdam_status status = fill_state(&this, err);
  if (status)
    cdam_state_free(state);
  else
    *out = state;
  return status;
}

cdam_status cdam_state_from_agents_json(const char *json, size_t length, cdam_state **out,
                                        cdam_agents_report **report, cdam_error *err) {
  if (out) *out = NULL;
  if (report) *report = NULL;
  if (!json || !out || !report)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "cdam_state_from_agents_json: NULL");
  json_t *root;
  cdam_status status = cdam_json_load(json, length, CDAM_AGENTS_JSON_MAX_BYTES, &root, err);
  if (status) return status;
  cdam_agents_report *told;
  status = cdam_agents_report_new(&told, err);
  if (!status) status = cdam_agents_read(root, out, told, err);
  json_decref(root);
  if (status) {
    cdam_agents_report_free(told);
    return status;
  }
  *report = told;
  return cdam_ok(err);
}

bool cdam_state_needs_adoption(const cdam_state *state) {
  return state && state->message.image_id &&
         !strcmp(state->message.image_id, CDAM_IMAGE_ID_UNKNOWN);
}
