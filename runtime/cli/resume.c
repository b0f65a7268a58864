/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "engine.h"
#include "help.h"
#include "report.h"
#include "statefile.h"

static const char *outcome(const cdam_session *session) {
  if (cdam_session_was_recreated(session)) return "recreated";
  return cdam_session_was_adopted(session) ? "adopted" : "reattached";
}

static int keep(const cli_args *args, const cdam_session *session, const cdam_key *key) {
  const cdam_state *state = cdam_session_state(session);
  int code = cli_state_write(args, args->state_file, state, key);
  if (code != CLI_OK) {
    cli_say("the sandbox runs as container %s; the old state still leads to it",
            cdam_state_container_id(state));
    return code;
  }
  fprintf(cli_is_stream(args->state_file) ? stderr : stdout, "%s %s\n", outcome(session),
          cdam_state_container_id(state));
  return cli_finish_stdout(args);
}

static int resume(const cli_args *args, const cdam_state *state, const cdam_key *key,
                  const cli_hold *hold) {
  cdam_client *client = NULL;
  cli_pull pull = {.hold = hold};
  int code = cli_client_new(args, &pull, &client);
  if (code != CLI_OK) return code;
  cdam_session *session = NULL;
  code = cli_session_resume(args, client, state, false, &session);
  cli_pull_done(&pull);
  if (code == CLI_OK) {
    cli_show_warnings(session);
    code = keep(args, session, key);
  }
  cdam_session_free(session);
  cdam_client_free(client);
  return code;
}

static int run(cli_args *args) {
  cdam_key *key = NULL;
  cdam_state *state = NULL;
  int code = cli_key_open(args, &key);
  if (code == CLI_OK) code = cli_state_read(args, args->state_file, key, &state);
  if (code == CLI_OK) code = cli_state_check_writable(args, args->state_file);
  if (code == CLI_OK) {
    cli_hold hold;
    cli_hold_signals(&hold);
    code = resume(args, state, key, &hold);
    cli_release_signals(&hold);
  }
  cdam_state_free(state);
  cdam_key_free(key);
  return code;
}

const cli_command cli_resume = {
    .name = "resume",
    .usage = "--state FILE [FLAG]...",
    .purpose = "Bring a sandbox back from its state, as it was created or not at all.",
    .notes = "Prints 'reattached ID' when the container was there and is what the state says, and "
             "'recreated ID' when it was gone and a new one was made from the state. FILE is "
             "rewritten on success only. With --state - the state is read from standard input, "
             "the new one goes to standard output, and the line above to stderr.\n"
             "--adopt is for a state from 'state import': its container was made by somebody else. "
             "It is verified and renamed, which makes it yours for good ('adopted ID'), and "
             "warnings say what could not be proved. Use it only on a document that you trust.",
    .examples = "  cofferdam resume --state s.pb\n"
                "  cofferdam resume --state s.pb --require-network none --unpause\n"
                "  cofferdam resume --state imported.pb --adopt --require-network none\n"
                "  cofferdam resume --state - <old.pb >new.pb\n",
    .exits = cli_exits_sandbox,
    .flags =
        CLI_FLAG_STATE | CLI_FLAG_KEY_FILE | CLI_FLAG_UNPAUSE | CLI_FLAG_ADOPT | CLI_FLAGS_ENGINE,
    .takes_policy = true,
    .run = run,
};
