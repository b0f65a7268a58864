/* Made by codegen/generate.py from schema/; not to be edited. Again: ./dev regen */
/* SPDX-License-Identifier: Apache-2.0 */
#include "options/create_body.h"

#include "base/fail.h"
#include "option_fields.h"
#include "options/generated.h"

static bool put_image(const Cofferdam__V1__SandboxOptions *options, json_t *body) {
  if (!cdam_in_use_image(options)) return true;
  bool done = true;
  done = done && cdam_body_put(body, "Image", json_string(options->image));
  return done;
}

static bool put_exposed_ports(const Cofferdam__V1__SandboxOptions *options, json_t *body) {
  if (!cdam_in_use_exposed_ports(options)) return true;
  bool done = true;
  done = done &&
         cdam_body_put(body, "ExposedPorts",
                       cdam_body_port_set(options->exposed_ports, options->n_exposed_ports));
  done = done &&
         cdam_body_put(body, "HostConfig.PortBindings",
                       cdam_body_port_bindings(options->exposed_ports, options->n_exposed_ports));
  return done;
}

static bool put_labels(const Cofferdam__V1__SandboxOptions *options, json_t *body) {
  if (!cdam_in_use_labels(options)) return true;
  cdam_map map = cdam_map_of_labels(options);
  bool done = true;
  done = done && cdam_body_put(body, "Labels", cdam_body_object(&map));
  return done;
}

static bool put_env(const Cofferdam__V1__SandboxOptions *options, json_t *body) {
  if (!cdam_in_use_env(options)) return true;
  cdam_map map = cdam_map_of_env(options);
  bool done = true;
  done = done && cdam_body_put(body, "Env", cdam_body_env(&map));
  return done;
}

static bool put_network_mode(const Cofferdam__V1__SandboxOptions *options, json_t *body) {
  if (!cdam_in_use_network_mode(options)) return true;
  bool done = true;
  done = done &&
         cdam_body_put(body, "HostConfig.NetworkMode",
                       json_string(cdam_docker_word_network_mode(options->network_mode)));
  return done;
}

/* A value that nobody checked must not end in a body without its key. */
static cdam_status check_words(const Cofferdam__V1__SandboxOptions *options, cdam_error *err) {
  if (cdam_in_use_network_mode(options) && !cdam_docker_word_network_mode(options->network_mode)) {
    return cdam_fail_field(err, "network_mode", "has a value that is not known");
  }
  return CDAM_OK;
}

cdam_status cdam_generated_create_body(const Cofferdam__V1__SandboxOptions *options, json_t **body,
                                       cdam_error *err) {
  *body = NULL;
  cdam_status status = check_words(options, err);
  if (status != CDAM_OK) return status;
  json_t *made = json_object();
  bool done = made != NULL;
  done = done && put_image(options, made);
  done = done && put_exposed_ports(options, made);
  done = done && put_labels(options, made);
  done = done && put_env(options, made);
  done = done && put_network_mode(options, made);
  if (!done) {
    json_decref(made);
    return cdam_fail_memory(err);
  }
  *body = made;
  return cdam_ok(err);
}
