/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "engine.h"
#include "help.h"
#include "report.h"
#include "statefile.h"

/* A sandbox whose state could not be kept is one that nobody can come back to. */
static void take_back(cdam_client *client, const cdam_session *session, const char *why) {
  const cdam_state *state = cdam_session_state(session);
  cdam_error err;
  if (cdam_delete(client, state, &err) == CDAM_OK)
    cli_say("%s; the new sandbox was deleted again", why);
  else
    cli_say("%s, and the new sandbox could not be deleted: %s; remove container %s by hand", why,
            err.message, cdam_state_container_id(state));
}

static int keep(const cli_args *args, cdam_client *client, const cdam_session *session,
                const cdam_key *key, const cli_hold *hold) {
  if (cli_interrupted(hold)) {
    take_back(client, session, "interrupted");
    return cli_failure_code(args);
  }
  const cdam_state *state = cdam_session_state(session);
  int code = cli_state_write(args, args->state_file, state, key);
  if (code != CLI_OK) {
    take_back(client, session, "no state was kept");
    return code;
  }
  fprintf(cli_is_stream(args->state_file) ? stderr : stdout, "%s\n",
          cdam_state_container_id(state));
  return cli_finish_stdout(args);
}

static int create(const cli_args *args, const cdam_key *key, const cli_hold *hold) {
  cdam_client *client = NULL;
  cli_pull pull = {.hold = hold};
  int code = cli_client_new(args, &pull, &client);
  if (code != CLI_OK) return code;
  cdam_session *session = NULL;
  cdam_error err;
  cdam_status status = cdam_create(client, args->options, &session, &err);
  cli_pull_done(&pull);
  if (status != CDAM_OK) {
    if (cli_interrupted(hold) && err.code == CDAM_ERR_PULL)
      cli_say("interrupted; nothing was left behind");
    else
      code = cli_fail(args, &err, NULL);
    if (code == CLI_OK) code = cli_failure_code(args);
  } else {
    cli_show_warnings(session);
    code = keep(args, client, session, key, hold);
  }
  cdam_session_free(session);
  cdam_client_free(client);
  return code;
}

static int run(cli_args *args) {
  cdam_error err;
  if (cdam_options_validate(args->options, &err) != CDAM_OK) return cli_fail(args, &err, NULL);
  cdam_key *key = NULL;
  int code = cli_key_open(args, &key);
  if (code != CLI_OK) return code;
  cli_hold hold;
  cli_hold_signals(&hold);
  cli_claim claim;
  code = cli_claim_new_file(args, args->state_file, &claim);
  if (code == CLI_OK) {
    code = create(args, key, &hold);
    cli_claim_release(&claim);
  }
  cdam_key_free(key);
  cli_release_signals(&hold);
  return code;
}

const cli_command cli_create = {
    .name = "create",
    .usage = "--image IMAGE [OPTION]... --state FILE",
    .purpose = "Create a sandbox, start it, and write its state to FILE.",
    .notes = "Prints the id of the container. Warnings go to stderr. With --state - the state "
             "goes to standard output, and the id to stderr.\n"
             "FILE must not exist, or be empty: a state may be the only way back to a sandbox, so "
             "none is overwritten. When the state cannot be written, the sandbox is deleted "
             "again. Ctrl-C waits until nothing can be left behind.",
    .examples = "  cofferdam create --image busybox --network none --state s.pb\n"
                "  cofferdam create --image registry.example:5000/tools@sha256:... \\\n"
                "      --network none --env MODE=check --label team=blue --state s.pb\n"
                "  cofferdam create --image busybox --port 8080 --state - >s.pb\n",
    .exits = cli_exits_sandbox,
    .flags = CLI_FLAG_STATE | CLI_FLAG_KEY_FILE | CLI_FLAGS_ENGINE,
    .takes_options = true,
    .takes_policy = true,
    .run = run,
};
