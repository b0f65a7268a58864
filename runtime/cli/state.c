/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "help.h"
#include "report.h"
#include "show.h"
#include "statefile.h"
#include "summary.h"

/* ---- check ---- */

static int run_check(cli_args *args) {
  return cli_with_state(args, cli_put_summary);
}

const cli_command cli_state_check = {
    .name = "state check",
    .usage = "FILE [--key-file FILE]",
    .purpose = "Check a state as resume does before it asks the engine.",
    .notes = "Prints 'ok', and then the revision, the seal, the ids and what the state isolates. "
             "A state without a seal is read, and said to have none. With --key-file only one "
             "that is sealed with that key passes.",
    .examples = "  cofferdam state check s.pb\n",
    .exits = cli_exits_local,
    .flags = CLI_FLAG_KEY_FILE,
    .operands = CLI_OPERANDS_FILE,
    .run = run_check,
};

/* ---- verify ---- */

static int verify(const cli_args *args, const cdam_state *state) {
  char *seal = NULL;
  int code = cli_seal_words(args, state, &seal);
  if (code != CLI_OK) return code;
  if (!seal) {
    cli_say("the state is not sealed; seal it with 'cofferdam state seal' if you trust it");
    return CLI_INVALID;
  }
  fputs("ok, sealed with ", stdout);
  cli_put_text(stdout, seal);
  putchar('\n');
  free(seal);
  return cli_finish_stdout(args);
}

static int run_verify(cli_args *args) {
  return cli_with_state(args, verify);
}

const cli_command cli_state_verify = {
    .name = "state verify",
    .usage = "FILE [--key-file FILE]",
    .purpose = "Demand that a state is sealed, and that the seal is right.",
    .notes = "With --key-file: sealed with that key (HMAC-SHA-256). Without: sealed with SHA-256, "
             "which finds damage and not forgery.",
    .examples = "  cofferdam state verify s.pb --key-file team.key\n",
    .exits = cli_exits_local,
    .flags = CLI_FLAG_KEY_FILE,
    .operands = CLI_OPERANDS_FILE,
    .run = run_verify,
};

/* ---- seal ---- */

/* A state with a wrong seal, or with one by a key that is not given, must not come out
 * with a right one. */
static int read_for_seal(const cli_args *args, const cdam_key *key, cdam_state **state) {
  const char *path = args->operands[0];
  unsigned char *bytes = NULL;
  size_t length = 0;
  int code = cli_bytes_read(args, path, &bytes, &length);
  if (code != CLI_OK) return code;
  cdam_error err;
  cdam_status status = cdam_state_parse(bytes, length, NULL, state, &err);
  if (status == CDAM_ERR_SEAL && key) status = cdam_state_parse(bytes, length, key, state, &err);
  free(bytes);
  return status == CDAM_OK ? CLI_OK : cli_fail(args, &err, path);
}

static int seal_in_place(const cli_args *args, const char *path, const cdam_key *key) {
  cdam_state *state = NULL;
  int code = read_for_seal(args, key, &state);
  if (code == CLI_OK) code = cli_state_check_writable(args, path);
  if (code == CLI_OK) code = cli_state_write(args, path, state, key);
  cdam_state_free(state);
  return code;
}

static int seal_elsewhere(const cli_args *args, const char *path, const cdam_key *key) {
  cdam_state *state = NULL;
  int code = read_for_seal(args, key, &state);
  cli_claim claim;
  if (code == CLI_OK) {
    code = cli_claim_new_file(args, path, &claim);
    if (code == CLI_OK) {
      code = cli_state_write(args, path, state, key);
      cli_claim_release(&claim);
    }
  }
  cdam_state_free(state);
  return code;
}

static int run_seal(cli_args *args) {
  cdam_key *key = NULL;
  int code = cli_key_open(args, &key);
  if (code == CLI_OK)
    code = args->out_file ? seal_elsewhere(args, args->out_file, key)
                          : seal_in_place(args, args->operands[0], key);
  cdam_key_free(key);
  return code;
}

const cli_command cli_state_seal = {
    .name = "state seal",
    .usage = "FILE [--key-file FILE] [--out FILE]",
    .purpose = "Seal a state that another program wrote, or seal it with a key.",
    .notes = "Writes FILE again, all or nothing, with an HMAC-SHA-256 seal by the key, or with a "
             "SHA-256 seal. With FILE - the state goes from standard input to standard output. "
             "--out takes a file that does not exist or is empty, or -.\n"
             "A state without a seal is taken as it is: by sealing it you vouch for it. One whose "
             "seal is wrong is refused, and so is one that is sealed with another key.",
    .examples = "  cofferdam state seal s.pb --key-file team.key\n"
                "  cofferdam state seal - <unsealed.pb >sealed.pb\n",
    .exits = cli_exits_local,
    .flags = CLI_FLAG_KEY_FILE | CLI_FLAG_OUT,
    .operands = CLI_OPERANDS_FILE,
    .run = run_seal,
};
