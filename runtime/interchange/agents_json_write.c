/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/fail.h"
#include "base/json_text.h"
#include "interchange/agents_json.h"
#include "options/generated.h"
#include "state/message.h"
#include "state/protojson.h"
#include "state/schema.h"

/* ---- what the document has no place for ---- */

/* The options that are carried over. Whatever the schema gets besides is told, or refused. */
static const char *const carried[] = {"image", "exposed_ports", "labels", "env", "network_mode"};

static bool is_carried(const char *name) {
  for (size_t i = 0; i < sizeof carried / sizeof *carried; i++)
    if (strcmp(carried[i], name) == 0) return true;
  return false;
}

static bool is_in_use(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field) {
  if (field->label == PROTOBUF_C_LABEL_REPEATED) return *cdam_field_count(message, field) > 0;
  const void *member = cdam_field_member(message, field);
  switch (field->type) {
  case PROTOBUF_C_TYPE_MESSAGE:
    return *(ProtobufCMessage *const *)member != NULL;
  case PROTOBUF_C_TYPE_STRING: {
    const char *text = *(char *const *)member;
    return text && *text;
  }
  case PROTOBUF_C_TYPE_BYTES:
    return ((const ProtobufCBinaryData *)member)->len > 0;
  default: {
    const unsigned char *bytes = member;
    for (size_t i = 0, size = cdam_element_size(field->type); i < size; i++)
      if (bytes[i]) return true;
    return cdam_element_size(field->type) == 0; /* a type that nobody foresaw */
  }
  }
}

static const char *feature_name(int number) {
  const ProtobufCEnumValue *value =
      protobuf_c_enum_descriptor_get_value(&cofferdam__v1__feature__descriptor, number);
  return value ? value->name : "a feature";
}

/* Every isolating option in use has its feature in the list, also those that are yet to come. */
static cdam_status refuse_unsayable(const cdam_state *state, cdam_error *err) {
  const Cofferdam__V1__SessionState *message = &state->message;
  for (size_t i = 0; i < message->n_required_features; i++) {
    int feature = (int)message->required_features[i];
    if (feature == COFFERDAM__V1__FEATURE__FEATURE_NETWORK_ISOLATION) continue;
    return cdam_fail(err, CDAM_ERR_UNSUPPORTED,
                     "the SDK's document has no place for %s: what it recreates would be less "
                     "isolated",
                     feature_name(feature));
  }
  int mode = (int)message->options->network_mode;
  if (mode != COFFERDAM__V1__NETWORK_MODE__NETWORK_MODE_UNSET &&
      mode != COFFERDAM__V1__NETWORK_MODE__NETWORK_MODE_NONE)
    return cdam_fail(err, CDAM_ERR_UNSUPPORTED,
                     "the SDK's document has no place for network_mode %d", mode);
  if (cdam_message_has_unknown(&message->options->base))
    return cdam_fail(err, CDAM_ERR_UNSUPPORTED,
                     "the options hold fields that this library does not know, and that would be "
                     "lost");
  return CDAM_OK;
}

static cdam_status report_options(const cdam_state *state, cdam_agents_report *report,
                                  cdam_error *err) {
  const ProtobufCMessage *options = &state->message.options->base;
  for (unsigned i = 0; i < options->descriptor->n_fields; i++) {
    const ProtobufCFieldDescriptor *field = &options->descriptor->fields[i];
    if (is_carried(field->name) || !is_in_use(options, field)) continue;
    char path[CDAM_AGENTS_FIELD_SIZE];
    cdam_agents_member(path, "options", field->name);
    cdam_status status = cdam_agents_report_add(
        report, err, path, "left out: a container that the SDK recreates is without it");
    if (status) return status;
  }
  return CDAM_OK;
}

static cdam_status report_state(const cdam_state *state, cdam_agents_report *report,
                                cdam_error *err) {
  const Cofferdam__V1__SessionState *message = &state->message;
  cdam_status status = cdam_agents_report_add(report, err, "schema_revision", "left out (it is %u)",
                                              (unsigned)message->schema_revision);
  if (!status && message->n_required_features)
    status =
        cdam_agents_report_add(report, err, "required_features",
                               "network_mode \"none\" stands for %s; the SDK's releases before "
                               "0.21.1 do not know it and would recreate with a network",
                               feature_name((int)message->required_features[0]));
  if (!status)
    status = cdam_agents_report_add(report, err, "image_id",
                                    "left out: the SDK recreates from whatever image has the name "
                                    "then");
  if (!status && message->engine && message->engine->id[0])
    status = cdam_agents_report_add(report, err, "engine.id",
                                    "left out: the SDK does not notice another engine, and "
                                    "recreates there");
  if (!status && message->seal)
    status = cdam_agents_report_add(report, err, "seal", "left out: the document is not sealed");
  if (!status && cdam_message_has_unknown(&message->base))
    status = cdam_agents_report_add(report, err, "unknown fields", "left out");
  return status;
}

/* ---- the document ---- */

static bool put(json_t *root, const char *name, json_t *value) {
  return json_object_set_new(root, name, value) == 0;
}

static json_t *labels_of(const cdam_options *options) {
  json_t *labels = json_object();
  const char *key, *value;
  for (size_t i = 0; labels && cdam_options_label_at(options, i, &key, &value); i++) {
    if (put(labels, key, json_string(value))) continue;
    json_decref(labels);
    return NULL;
  }
  return labels;
}

static json_t *ports_of(const cdam_options *options) {
  json_t *ports = json_array();
  for (size_t i = 0; ports && i < cdam_options_exposed_port_count(options); i++) {
    json_int_t port = (json_int_t)cdam_options_exposed_port(options, i);
    if (json_array_append_new(ports, json_integer(port)) == 0) continue;
    json_decref(ports);
    return NULL;
  }
  return ports;
}

/* The SDK refuses a document that has ports and no network. */
static cdam_status put_ports(json_t *root, const cdam_options *options, bool isolated,
                             cdam_agents_report *report, cdam_error *err) {
  bool left_out = isolated && cdam_options_exposed_port_count(options) > 0;
  if (!put(root, "exposed_ports", left_out ? json_array() : ports_of(options)))
    return cdam_fail_memory(err);
  if (!left_out) return CDAM_OK;
  return cdam_agents_report_add(report, err, "options.exposed_ports",
                                "left out: the SDK takes no ports with network_mode \"none\"; "
                                "nothing can reach them anyhow");
}

static cdam_status put_members(json_t *root, const cdam_state *state, cdam_agents_report *report,
                               cdam_error *err) {
  const cdam_options *options = cdam_state_options(state);
  bool isolated = cdam_options_network_mode(options) == CDAM_NETWORK_MODE_NONE;
  bool ok = put(root, "type", json_string("docker")) &&
            put(root, "session_id", json_string(cdam_state_session_id(state))) &&
            put(root, "image", json_string(cdam_options_image(options))) &&
            put(root, "container_id", json_string(cdam_state_container_id(state))) &&
            put(root, "network_mode", isolated ? json_string("none") : json_null()) &&
            put(root, "labels", labels_of(options)) &&
            put(root, "workspace_root_ready", json_boolean(cdam_state_workspace_ready(state)));
  return ok ? put_ports(root, options, isolated, report, err) : cdam_fail_memory(err);
}

/* What a state does not hold, when there is no base. */
static cdam_status put_defaults(json_t *root, const cdam_state *state, cdam_error *err) {
  json_t *manifest = json_pack("{s:i, s:s}", "version", 1, "root", "/workspace");
  json_t *snapshot = json_pack("{s:s, s:s}", "type", "noop", "id", cdam_state_session_id(state));
  bool ok = put(root, "manifest", manifest);
  ok = put(root, "snapshot", snapshot) && ok;
  return ok ? CDAM_OK : cdam_fail_memory(err);
}

/* ---- the base ---- */

static cdam_status same_text(const char *field, const char *base, const char *own,
                             cdam_error *err) {
  if (strcmp(base, own) == 0) return CDAM_OK;
  return cdam_fail_field(err, field,
                         "the base document is of another sandbox: it has %s, and the "
                         "state %s",
                         base, own);
}

static cdam_status report_lost_labels(const cdam_options *base, const cdam_options *own,
                                      cdam_agents_report *report, cdam_error *err) {
  const char *key, *value;
  for (size_t i = 0; cdam_options_label_at(base, i, &key, &value); i++) {
    const char *ours = cdam_options_label(own, key);
    if (ours && strcmp(ours, value) == 0) continue;
    char field[CDAM_AGENTS_FIELD_SIZE];
    cdam_agents_entry(field, "labels", key);
    cdam_status status = cdam_agents_report_add(report, err, field, "the base document's own is %s",
                                                ours ? "replaced by the state's value"
                                                     : "left out: the state does not have it");
    if (status) return status;
  }
  return CDAM_OK;
}

static cdam_status compare_base(const cdam_state *base, const cdam_state *state,
                                cdam_agents_report *report, cdam_error *err) {
  const cdam_options *theirs = cdam_state_options(base), *ours = cdam_state_options(state);
  cdam_status status =
      same_text("session_id", cdam_state_session_id(base), cdam_state_session_id(state), err);
  if (!status)
    status = same_text("image", cdam_options_image(theirs), cdam_options_image(ours), err);
  if (!status &&
      cdam_generated_check_policy(&theirs->message, &ours->message, NULL) == CDAM_ERR_POLICY)
    status = cdam_fail(err, CDAM_ERR_POLICY,
                       "the base document has network_mode \"none\" and the state does not");
  if (!status) status = report_lost_labels(theirs, ours, report, err);
  return status;
}

/* Reads the base as an import does, so that nothing is carried along that could not come in. */
static cdam_status load_base(const char *base, size_t length, const cdam_state *state,
                             json_t **root, cdam_agents_report *report, cdam_error *err) {
  cdam_status status = cdam_json_load(base, length, CDAM_AGENTS_JSON_MAX_BYTES, root, err);
  if (status) return status;
  cdam_agents_report *import_report = NULL;
  cdam_state *base_state = NULL;
  status = cdam_agents_report_new(&import_report, err);
  if (!status) status = cdam_agents_read(*root, &base_state, import_report, err);
  if (!status) status = compare_base(base_state, state, report, err);
  cdam_state_free(base_state);
  cdam_agents_report_free(import_report);
  return status;
}

/* ---- the whole ---- */

static cdam_status make_document(const cdam_state *state, const char *base, size_t base_length,
                                 json_t **root, cdam_agents_report *report, cdam_error *err) {
  cdam_status status;
  if (base) {
    status = load_base(base, base_length, state, root, report, err);
  } else {
    *root = json_object();
    status = *root ? put_defaults(*root, state, err) : cdam_fail_memory(err);
  }
  if (!status) status = put_members(*root, state, report, err);
  if (!status)
    status = cdam_agents_write_environment(json_object_get(*root, "manifest"),
                                           cdam_state_options(state), report, err);
  if (!status) status = report_options(state, report, err);
  if (!status) status = report_state(state, report, err);
  return status;
}

static cdam_status write_document(const cdam_state *state, const char *base, size_t base_length,
                                  char **json, cdam_agents_report *report, cdam_error *err) {
  json_t *root = NULL;
  cdam_status status = make_document(state, base, base_length, &root, report, err);
  if (!status) {
    *json = cdam_json_text(root, JSON_COMPACT);
    if (!*json) status = cdam_fail_memory(err);
  }
  json_decref(root);
  return status;
}

cdam_status cdam_state_to_agents_json(const cdam_state *state, const char *base, size_t base_length,
                                      char **json, cdam_agents_report **report, cdam_error *err) {
  if (json) *json = NULL;
  if (report) *report = NULL;
  if (!state || !json || !report)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "cdam_state_to_agents_json: NULL");
  cdam_status status = cdam_state_validate(state, err);
  if (!status) status = refuse_unsayable(state, err);
  if (status) return status;
  cdam_agents_report *told;
  status = cdam_agents_report_new(&told, err);
  if (!status) status = write_document(state, base, base_length, json, told, err);
  if (status) {
    cdam_agents_report_free(told);
    return status;
  }
  *report = told;
  return cdam_ok(err);
}
