/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest.environment: {"value": {NAME: VARIABLE}}, where a variable is a text, or an object that
 * says how the SDK gets at one ({"type": "str", "value": TEXT} has it right there), or an entry
 * around such an object, with a description.
 */
#include <string.h>

#include "base/fail.h"
#include "interchange/agents_json.h"

static const char environment[] = "manifest.environment";

/* The text of an EnvValue, or NULL when only the SDK can find out. */
static const char *text_of_value(const json_t *value) {
  const char *text = json_string_value(json_object_get(value, "value"));
  const json_t *type = json_object_get(value, "type");
  if (!type) return json_object_size(value) == 1 ? text : NULL;
  bool plain = json_is_string(type) && strcmp(json_string_value(type), "str") == 0;
  return plain && json_object_size(value) == 2 ? text : NULL;
}

/* An entry has no type of its own, and an object for its value. */
static bool is_entry(const json_t *variable) {
  return json_is_object(variable) && !json_object_get(variable, "type") &&
         json_is_object(json_object_get(variable, "value"));
}

static const char *text_of(const json_t *variable) {
  if (json_is_string(variable)) return json_string_value(variable);
  return text_of_value(is_entry(variable) ? json_object_get(variable, "value") : variable);
}

static bool says_nothing(const json_t *value) {
  return json_is_null(value) || json_is_false(value);
}

/* What an entry says besides its value. */
static cdam_status report_entry(const json_t *variable, const char *field,
                                cdam_agents_report *report, cdam_error *err) {
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)variable, name, value) {
    if (strcmp(name, "value") == 0 || says_nothing(value)) continue;
    char member[CDAM_AGENTS_FIELD_SIZE];
    cdam_agents_member(member, field, name);
    cdam_status status =
        cdam_agents_report_add(report, err, member, "left out: a state has the variable's value");
    if (status) return status;
  }
  return CDAM_OK;
}

static cdam_status read_variable(const char *name, const json_t *variable, cdam_options *options,
                                 cdam_agents_report *report, cdam_error *err) {
  char field[CDAM_AGENTS_FIELD_SIZE];
  cdam_agents_entry(field, CDAM_AGENTS_ENVIRONMENT, name);
  if (!json_is_string(variable) && !json_is_object(variable))
    return cdam_agents_wrong(err, field, "is neither a string nor an object");
  const char *text = text_of(variable);
  if (!text)
    return cdam_agents_report_add(report, err, field,
                                  "left out: its value is not in the document; a container that is "
                                  "recreated from the state is without it");
  cdam_status status = cdam_options_set_env(options, name, text, err);
  if (!status && is_entry(variable)) status = report_entry(variable, field, report, err);
  return status;
}

cdam_status cdam_agents_read_environment(const json_t *manifest, cdam_options *options,
                                         cdam_agents_report *report, cdam_error *err) {
  const json_t *object = json_object_get(manifest, "environment");
  if (!object) return CDAM_OK;
  if (!json_is_object(object)) return cdam_agents_wrong(err, environment, "is not an object");
  cdam_status status = CDAM_OK;
  const char *name;
  json_t *member;
  json_object_foreach((json_t *)object, name, member) {
    char field[CDAM_AGENTS_FIELD_SIZE];
    cdam_agents_member(field, environment, name);
    if (strcmp(name, "value") != 0)
      status = cdam_agents_report_add(report, err, field, "left out: unknown to this library");
    else if (!json_is_object(member))
      status = cdam_agents_wrong(err, field, "is not an object");
    if (status) return status;
  }
  json_object_foreach(json_object_get(object, "value"), name, member) {
    status = read_variable(name, member, options, report, err);
    if (status) return status;
  }
  return CDAM_OK;
}

/* ---- writing ---- */

/* The object at a name, made when it is absent; NULL when out of memory. */
static json_t *object_at(json_t *parent, const char *name) {
  json_t *object = json_object_get(parent, name);
  if (json_is_object(object)) return object;
  object = json_object();
  return json_object_set_new(parent, name, object) == 0 ? object : NULL;
}

static cdam_status report_kept(const json_t *variables, const cdam_options *options,
                               cdam_agents_report *report, cdam_error *err) {
  const char *name;
  json_t *variable;
  json_object_foreach((json_t *)variables, name, variable) {
    if (cdam_options_env(options, name)) continue;
    char field[CDAM_AGENTS_FIELD_SIZE];
    cdam_agents_entry(field, CDAM_AGENTS_ENVIRONMENT, name);
    cdam_status status = cdam_agents_report_add(
        report, err, field, "kept from the base document: the state does not have it");
    if (status) return status;
  }
  return CDAM_OK;
}

cdam_status cdam_agents_write_environment(json_t *manifest, const cdam_options *options,
                                          cdam_agents_report *report, cdam_error *err) {
  json_t *variables = object_at(manifest, "environment");
  if (variables) variables = object_at(variables, "value");
  if (!variables) return cdam_fail_memory(err);
  cdam_status status = report_kept(variables, options, report, err);
  const char *name, *value;
  for (size_t i = 0; !status && cdam_options_env_at(options, i, &name, &value); i++) {
    const json_t *there = json_object_get(variables, name);
    const char *text = there ? text_of(there) : NULL;
    if (text && strcmp(text, value) == 0) continue;
    if (json_object_set_new(variables, name, json_string(value)) != 0) return cdam_fail_memory(err);
    if (!there) continue;
    char field[CDAM_AGENTS_FIELD_SIZE];
    cdam_agents_entry(field, CDAM_AGENTS_ENVIRONMENT, name);
    status = cdam_agents_report_add(report, err, field,
                                    "the base document's own is replaced by the state's value");
  }
  return status;
}
