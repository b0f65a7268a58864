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

static bool put_memory_bytes(const Cofferdam__V1__SandboxOptions *options, json_t *body) {
  if (!cdam_in_use_memory_bytes(options)) return true;
  bool done = true;
  done = done &&
         cdam_body_put(body, "HostConfig.Memory",
                       json_integer((json_int_t)options->memory_bytes));
  done = done &&
         cdam_body_put(body, "HostConfig.MemorySwap",
                       json_integer((json_int_t)options->memory_bytes));
  return done;
}

static bool put_nano_cpus(const Cofferdam__V1__SandboxOptions *options, json_t *body) {
  if (!cdam_in_use_nano_cpus(options)) return true;
  bool done = true;
  done = done &&
         cdam_body_put(body, "HostConfig.NanoCpus",
                       json_integer((json_int_t)options->nano_cpus));
  return done;
}

static bool put_pids_limit(const Cofferdam__V1__SandboxOptions *options, json_t *body) {
  if (!cdam_in_use_pids_limit(options)) return true;
  bool done = true;
  done = done &&
         cdam_body_put(body, "HostConfig.PidsLimit",
                       json_integer((json_int_t)options->pids_limit));
  return done;
}

static bool put_tmpfs(const Cofferdam__V1__SandboxOptions *options, json_t *body) {
  if (!cdam_in_use_tmpfs(options)) return true;
  cdam_map map = cdam_map_of_tmpfs(options);
  bool done = true;
  done = done && cdam_body_put(body, "HostConfig.Tmpfs", cdam_body_object(&map));
  return done;
}

static bool put_read_only_root(const Cofferdam__V1__SandboxOptions *options, json_t *body) {
  if (!cdam_in_use_read_only_root(options)) return true;
  bool done = true;
  done = done &&
         cdam_body_put(body, "HostConfig.ReadonlyRootfs",
                       json_boolean(options->read_only_root));
  return done;
}

static bool put_user(const Cofferdam__V1__SandboxOptions *options, json_t *body) {
  if (!cdam_in_use_user(options)) return true;
  bool done = true;
  done = done && cdam_body_put(body, "User", json_string(options->user));
  return done;
}

static bool put_drop_all_capabilities(const Cofferdam__V1__SandboxOptions *options, json_t *body) {
  if (!cdam_in_use_drop_all_capabilities(options)) return true;
  bool done = true;
  done = done && cdam_body_put(body, "HostConfig.CapDrop", json_pack("[s]", "ALL"));
  return done;
}

static bool put_no_new_privileges(const Cofferdam__V1__SandboxOptions *options, json_t *body) {
  if (!cdam_in_use_no_new_privileges(options)) return true;
  bool done = true;
  done = done &&
         cdam_body_put(body, "HostConfig.SecurityOpt",
                       json_pack("[s]", "no-new-privileges"));
  return done;
}

static bool put_runtime(const Cofferdam__V1__SandboxOptions *options, json_t *body) {
  if (!cdam_in_use_runtime(options)) return true;
  bool done = true;
  done = done && cdam_body_put(body, "HostConfig.Runtime", json_string(options->runtime));
  return done;
}

static bool put_ulimits(const Cofferdam__V1__SandboxOptions *options, json_t *body) {
  if (!cdam_in_use_ulimits(options)) return true;
  cdam_map map = cdam_map_of_ulimits(options);
  bool done = true;
  done = done && cdam_body_put(body, "HostConfig.Ulimits", cdam_body_ulimits(&map));
  return done;
}

static bool put_hostname(const Cofferdam__V1__SandboxOptions *options, json_t *body) {
  if (!cdam_in_use_hostname(options)) return true;
  bool done = true;
  done = done && cdam_body_put(body, "Hostname", json_string(options->hostname));
  return done;
}

static bool put_workspace(const Cofferdam__V1__SandboxOptions *options, json_t *body) {
  if (!cdam_in_use_workspace(options)) return true;
  bool done = true;
  done = done && cdam_body_put(body, "WorkingDir", json_string(options->workspace));
  return done;
}

static bool put_profile(const Cofferdam__V1__SandboxOptions *options, json_t *body) {
  if (!cdam_in_use_profile(options)) return true;
  bool done = true;
  done = done &&
         cdam_body_put_label(body, "io.cofferdam.profile",
                             json_string(cdam_docker_word_profile(options->profile)));
  return done;
}

static bool put_deadline(const Cofferdam__V1__SandboxOptions *options, json_t *body) {
  if (!cdam_in_use_deadline(options)) return true;
  bool done = true;
  done = done &&
         cdam_body_put_label(body, "io.cofferdam.deadline",
                             cdam_body_decimal(options->deadline));
  return done;
}

/* A value that nobody checked must not end in a body without its key. */
static cdam_status check_words(const Cofferdam__V1__SandboxOptions *options, cdam_error *err) {
  if (cdam_in_use_network_mode(options) && !cdam_docker_word_network_mode(options->network_mode)) {
    return cdam_fail_field(err, "network_mode", "has a value that is not known");
  }
  if (cdam_in_use_profile(options) && !cdam_docker_word_profile(options->profile)) {
    return cdam_fail_field(err, "profile", "has a value that is not known");
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
  done = done && put_memory_bytes(options, made);
  done = done && put_nano_cpus(options, made);
  done = done && put_pids_limit(options, made);
  done = done && put_tmpfs(options, made);
  done = done && put_read_only_root(options, made);
  done = done && put_user(options, made);
  done = done && put_drop_all_capabilities(options, made);
  done = done && put_no_new_privileges(options, made);
  done = done && put_runtime(options, made);
  done = done && put_ulimits(options, made);
  done = done && put_hostname(options, made);
  done = done && put_workspace(options, made);
  done = done && put_profile(options, made);
  done = done && put_deadline(options, made);
  if (!done) {
    json_decref(made);
    return cdam_fail_memory(err);
  }
  *body = made;
  return cdam_ok(err);
}

bool cdam_generated_create_query(const Cofferdam__V1__SandboxOptions *options, cdam_buffer *query) {
  if (cdam_in_use_platform(options) &&
      !cdam_query_put(query, "platform", options->platform)) {
    return false;
  }
  return true;
}
