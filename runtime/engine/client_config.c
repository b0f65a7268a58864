/* SPDX-License-Identifier: Apache-2.0 */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cofferdam/cofferdam.h>

#include "base/fail.h"
#include "engine/client_private.h"

#define DEFAULT_TIMEOUT_MS 60000

static const char *environment(const char *name) {
  const char *value = getenv(name);
  return value && *value ? value : NULL;
}

/* NULL stays NULL. */
static bool copy_text(const char *text, char **out) {
  *out = text ? strdup(text) : NULL;
  return *out || !text;
}

/* ~/.docker; the home directory is HOME, or else what the user database says. */
static char *default_cert_path(void) {
  const char *home = environment("HOME");
  char space[4096];
  struct passwd entry;
  struct passwd *found = NULL;
  if (!home && getpwuid_r(getuid(), &entry, space, sizeof space, &found) == 0 && found)
    home = found->pw_dir;
  char *path;
  return asprintf(&path, "%s/.docker", home ? home : "") >= 0 ? path : NULL;
}

/* What is found there is run in every sandbox, so a program with more rights than its user does not
 * listen. */
static bool find_agent_directory(cdam_client_config *config) {
  const char *directory = secure_getenv("COFFERDAM_AGENT_DIR");
  if (!directory || !*directory) directory = CDAM_AGENT_INSTALL_DIRECTORY;
  return copy_text(directory, &config->agent_directory);
}

static bool read_environment(cdam_client_config *config) {
  if (!find_agent_directory(config)) return false;
  const char *endpoint = environment("DOCKER_HOST");
  if (!copy_text(endpoint ? endpoint : CDAM_DEFAULT_ENDPOINT, &config->endpoint)) return false;
  config->tls = environment("DOCKER_TLS_VERIFY") != NULL;
  if (!config->tls) return true;
  const char *cert_path = environment("DOCKER_CERT_PATH");
  config->cert_path = cert_path ? strdup(cert_path) : default_cert_path();
  return config->cert_path != NULL;
}

cdam_status cdam_client_config_new(cdam_client_config **out, cdam_error *err) {
  if (!out) return cdam_fail(err, CDAM_ERR_ARGUMENT, "cdam_client_config_new: out is NULL");
  *out = NULL;
  cdam_client_config *config = calloc(1, sizeof *config);
  if (!config) return cdam_fail_memory(err);
  config->timeout_ms = DEFAULT_TIMEOUT_MS;
  if (!read_environment(config)) {
    cdam_client_config_free(config);
    return cdam_fail_memory(err);
  }
  *out = config;
  return cdam_ok(err);
}

void cdam_client_config_clear(cdam_client_config *config) {
  if (config->registry_auth) explicit_bzero(config->registry_auth, strlen(config->registry_auth));
  free(config->registry_auth);
  free(config->endpoint);
  free(config->cert_path);
  free(config->agent_directory);
  cdam_options_free(config->minimum);
  *config = (cdam_client_config){0};
}

void cdam_client_config_free(cdam_client_config *config) {
  if (!config) return;
  cdam_client_config_clear(config);
  free(config);
}

cdam_status cdam_client_config_copy(const cdam_client_config *from, cdam_client_config *to,
                                    cdam_error *err) {
  *to = *from;
  to->endpoint = to->cert_path = to->registry_auth = to->agent_directory = NULL;
  to->minimum = NULL;
  if (!copy_text(from->endpoint, &to->endpoint) || !copy_text(from->cert_path, &to->cert_path) ||
      !copy_text(from->registry_auth, &to->registry_auth) ||
      !copy_text(from->agent_directory, &to->agent_directory)) {
    cdam_client_config_clear(to);
    return cdam_fail_memory(err);
  }
  cdam_status status =
      from->minimum ? cdam_options_copy(from->minimum, &to->minimum, err) : CDAM_OK;
  if (status != CDAM_OK) cdam_client_config_clear(to);
  return status;
}

/* ---- settings ---- */

static cdam_status no_config(cdam_error *err) {
  return cdam_fail(err, CDAM_ERR_ARGUMENT, "the client configuration is NULL");
}

/* Puts a copy of `text`, which may be NULL, in place of what was there. */
static cdam_status replace(char **slot, const char *text, cdam_error *err) {
  char *copy;
  if (!copy_text(text, &copy)) return cdam_fail_memory(err);
  free(*slot);
  *slot = copy;
  return cdam_ok(err);
}

cdam_status cdam_client_config_set_endpoint(cdam_client_config *config, const char *endpoint,
                                            cdam_error *err) {
  if (!config) return no_config(err);
  if (!endpoint) return cdam_fail(err, CDAM_ERR_ARGUMENT, "the endpoint is NULL");
  cdam_endpoint parsed;
  cdam_status status = cdam_endpoint_parse(endpoint, config->tls, &parsed, err);
  if (status != CDAM_OK) return status;
  cdam_endpoint_clear(&parsed);
  return replace(&config->endpoint, endpoint, err);
}

cdam_status cdam_client_config_set_tls(cdam_client_config *config, const char *cert_path,
                                       cdam_error *err) {
  if (!config) return no_config(err);
  if (cert_path && !*cert_path)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "the certificate directory is empty");
  cdam_status status = replace(&config->cert_path, cert_path, err);
  if (status == CDAM_OK) config->tls = cert_path != NULL;
  return status;
}

void cdam_client_config_allow_plain_tcp(cdam_client_config *config, bool allow) {
  if (config) config->allow_plain_tcp = allow;
}

void cdam_client_config_set_timeout(cdam_client_config *config, unsigned timeout_ms) {
  if (config) config->timeout_ms = timeout_ms;
}

void cdam_client_config_set_pull_progress(cdam_client_config *config, cdam_pull_progress progress,
                                          void *user) {
  if (!config) return;
  config->progress = progress;
  config->progress_user = user;
}

cdam_status cdam_client_config_set_agent_directory(cdam_client_config *config,
                                                   const char *directory, cdam_error *err) {
  if (!config) return no_config(err);
  if (!directory || !*directory)
    return cdam_fail(err, CDAM_ERR_ARGUMENT, "the agent's directory is NULL or empty");
  return replace(&config->agent_directory, directory, err);
}

void cdam_client_config_set_agent(cdam_client_config *config, cdam_agent_policy policy) {
  if (config) config->agent = policy;
}

/* A policy needs no image, valid options do. */
static cdam_status check_policy(cdam_options *policy, cdam_error *err) {
  cdam_status status = CDAM_OK;
  if (!*cdam_options_image(policy)) status = cdam_options_set_image(policy, "any", err);
  return status == CDAM_OK ? cdam_options_validate(policy, err) : status;
}

cdam_status cdam_client_config_require(cdam_client_config *config, const cdam_options *minimum,
                                       cdam_error *err) {
  if (!config) return no_config(err);
  if (!minimum) return cdam_fail(err, CDAM_ERR_ARGUMENT, "the policy is NULL");
  cdam_options *policy;
  cdam_status status = cdam_options_copy(minimum, &policy, err);
  if (status == CDAM_OK) status = check_policy(policy, err);
  if (status == CDAM_OK) status = cdam_options_resolve_profile(policy, err);
  if (status != CDAM_OK) {
    cdam_options_free(policy);
    return status;
  }
  cdam_options_free(config->minimum);
  config->minimum = policy;
  return cdam_ok(err);
}

static bool is_base64url(const char *text) {
  size_t length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");
  size_t padding = strspn(text + length, "=");
  return length && padding <= 2 && !text[length + padding] && (length + padding) % 4 == 0;
}

cdam_status cdam_client_config_set_registry_auth(cdam_client_config *config, const char *base64url,
                                                 cdam_error *err) {
  if (!config) return no_config(err);
  if (base64url && !is_base64url(base64url))
    return cdam_fail(err, CDAM_ERR_ARGUMENT,
                     "the registry authentication is not URL-safe base64 with padding");
  if (config->registry_auth) explicit_bzero(config->registry_auth, strlen(config->registry_auth));
  return replace(&config->registry_auth, base64url, err);
}
