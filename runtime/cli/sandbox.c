/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox.h"

#include "engine.h"
#include "statefile.h"

int cli_sandbox_open(const cli_args *args, cli_sandbox *sandbox) {
  cdam_key *key = NULL;
  cdam_state *state = NULL;
  *sandbox = (cli_sandbox){0};
  int code = cli_key_open(args, &key);
  if (code == CLI_OK) code = cli_state_read(args, args->state_file, key, &state);
  if (code == CLI_OK) code = cli_client_new(args, NULL, &sandbox->client);
  if (code == CLI_OK)
    code = cli_session_resume(args, sandbox->client, state, true, &sandbox->session);
  cdam_state_free(state);
  cdam_key_free(key);
  return code;
}

void cli_sandbox_close(cli_sandbox *sandbox) {
  cdam_session_free(sandbox->session);
  cdam_client_free(sandbox->client);
}
