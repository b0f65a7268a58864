/* SPDX-License-Identifier: Apache-2.0 */
#include "engine.h"

#include <stdio.h>
#include <unistd.h>

#include "report.h"
#include "show.h"

static bool show_pull(void *user, const char *status, const char *layer, unsigned long long current,
                      unsigned long long total) {
  cli_pull *pull = user;
  if (pull->terminal) {
    const unsigned long long mib = 1024 * 1024;
    fputs("\r\033[K", stderr);
    cli_put_text(stderr, status);
    if (*layer) {
      fputc(' ', stderr);
      cli_put_text(stderr, layer);
    }
    if (total >= mib) fprintf(stderr, " %llu/%llu MiB", current / mib, total / mib);
    fflush(stderr);
    pull->drawn = true;
  }
  return !pull->hold || !cli_interrupted(pull->hold);
}

void cli_pull_done(cli_pull *pull) {
  if (pull->drawn) fputs("\r\033[K", stderr);
  pull->drawn = false;
}

static cdam_status configure(const cli_args *args, cli_pull *pull, cdam_client_config *config,
                             cdam_error *err) {
  cdam_status status = CDAM_OK;
  cdam_client_config_allow_plain_tcp(config, args->plain_tcp);
  if (pull) {
    pull->terminal = isatty(STDERR_FILENO);
    cdam_client_config_set_pull_progress(config, show_pull, pull);
  }
  if (args->host) status = cdam_client_config_set_endpoint(config, args->host, err);
  if (status == CDAM_OK && args->policy)
    status = cdam_client_config_require(config, args->policy, err);
  return status;
}

int cli_client_new(const cli_args *args, cli_pull *pull, cdam_client **client) {
  *client = NULL;
  cdam_error err;
  cdam_client_config *config = NULL;
  cdam_status status = cdam_client_config_new(&config, &err);
  if (status == CDAM_OK) status = configure(args, pull, config, &err);
  if (status == CDAM_OK) status = cdam_client_new(config, client, &err);
  cdam_client_config_free(config);
  return status == CDAM_OK ? CLI_OK : cli_fail(args, &err, NULL);
}

void cli_show_warnings(const cdam_session *session) {
  size_t count = cdam_session_warning_count(session);
  for (size_t i = 0; i < count; i++)
    cli_say("warning: %s", cdam_session_warning(session, i));
}

int cli_session_resume(const cli_args *args, cdam_client *client, const cdam_state *state,
                       bool reattach_only, cdam_session **session) {
  cdam_error err;
  cdam_resume_flags flags = {
      .unpause = args->unpause, .reattach_only = reattach_only, .adopt = args->adopt};
  if (cdam_resume(client, state, &flags, session, &err) != CDAM_OK)
    return cli_fail(args, &err, NULL);
  return CLI_OK;
}
