/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine.h"
#include "help.h"
#include "report.h"
#include "statefile.h"

/* Behind a symbolic link the state is what must go. */
static bool unlink_all(const char *path) {
  char *target = realpath(path, NULL);
  bool ok = target ? unlink(target) == 0 : errno == ENOENT;
  int reason = errno;
  free(target);
  errno = reason;
  return ok && (unlink(path) == 0 || errno == ENOENT);
}

static int remove_file(const char *path) {
  if (cli_is_stream(path) || unlink_all(path)) return CLI_OK;
  cli_say("the sandbox was deleted, but %s could not be removed: %s; remove it by hand", path,
          strerror(errno));
  return CLI_INVALID;
}

static int remove_sandbox(const cli_args *args, const cdam_state *state) {
  cdam_client *client = NULL;
  int code = cli_client_new(args, NULL, &client);
  if (code != CLI_OK) return code;
  cdam_error err;
  if (cdam_delete(client, state, &err) != CDAM_OK) code = cli_fail(args, &err, NULL);
  cdam_client_free(client);
  if (code != CLI_OK) return code;
  code = remove_file(args->state_file);
  if (code != CLI_OK) return code;
  printf("removed %s\n", cdam_state_container_id(state));
  return cli_finish_stdout(args);
}

static int run(cli_args *args) {
  cdam_key *key = NULL;
  cdam_state *state = NULL;
  int code = cli_key_open(args, &key);
  if (code == CLI_OK) code = cli_state_read(args, args->state_file, key, &state);
  if (code == CLI_OK) code = remove_sandbox(args, state);
  cdam_state_free(state);
  cdam_key_free(key);
  return code;
}

const cli_command cli_rm = {
    .name = "rm",
    .usage = "--state FILE",
    .purpose = "Delete a sandbox, running or not, and then its state file.",
    .notes = "Prints 'removed ID'. A container that is gone already is fine; one that does not "
             "bear the labels of this sandbox is left alone. FILE is removed when the sandbox is "
             "gone, so that nothing brings it back by mistake: keep a copy to do so. With --state "
             "- there is no file to remove.",
    .examples = "  cofferdam rm --state s.pb\n",
    .exits = cli_exits_sandbox,
    .flags = CLI_FLAG_STATE | CLI_FLAG_KEY_FILE | CLI_FLAGS_ENGINE,
    .run = run,
};
