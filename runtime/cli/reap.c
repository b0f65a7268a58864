/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <stdio.h>

#include "engine.h"
#include "help.h"
#include "report.h"
#include "show.h"

static json_t *entry_json(const cdam_reap_report *report, size_t index, bool dry_run) {
  char deadline[64];
  const char *failure = cdam_reap_failure(report, index);
  cli_format_time(cdam_reap_deadline(report, index), deadline, sizeof deadline);
  return json_pack("{s:s, s:s, s:s, s:b, s:s?}", "session_id", cdam_reap_session_id(report, index),
                   "container_id", cdam_reap_container_id(report, index), "deadline", deadline,
                   "removed", (int)(!dry_run && !failure), "failure", failure);
}

static int put_json(const cli_args *args, const cdam_reap_report *report) {
  json_t *array = json_array();
  bool ok = array != NULL;
  for (size_t i = 0; ok && i < cdam_reap_count(report); i++)
    ok = json_array_append_new(array, entry_json(report, i, args->dry_run)) == 0;
  ok = ok && cli_put_json(array);
  json_decref(array);
  if (!ok && !ferror(stdout)) return cli_no_memory(args);
  return cli_finish_stdout(args);
}

static int put_lines(const cli_args *args, const cdam_reap_report *report) {
  size_t count = cdam_reap_count(report), removed = 0;
  for (size_t i = 0; i < count; i++) {
    char deadline[64];
    cli_format_time(cdam_reap_deadline(report, i), deadline, sizeof deadline);
    if (cdam_reap_failure(report, i)) continue;
    removed++;
    printf("%s %s of session %s, which ended %s\n", args->dry_run ? "would remove" : "removed",
           cdam_reap_container_id(report, i), cdam_reap_session_id(report, i), deadline);
  }
  printf("%zu %s\n", removed, args->dry_run ? "to remove" : "removed");
  return cli_finish_stdout(args);
}

/* What could not be removed. */
static int put_failures(const cdam_reap_report *report) {
  int code = CLI_OK;
  for (size_t i = 0; i < cdam_reap_count(report); i++) {
    const char *failure = cdam_reap_failure(report, i);
    if (!failure) continue;
    cli_say("container %.12s was not removed: %s", cdam_reap_container_id(report, i), failure);
    code = CLI_ENGINE;
  }
  return code;
}

static int run(cli_args *args) {
  cdam_client *client = NULL;
  int code = cli_client_new(args, NULL, &client);
  if (code != CLI_OK) return code;
  cdam_reap_flags flags = {.dry_run = args->dry_run};
  cdam_reap_report *report = NULL;
  cdam_error err;
  if (cdam_reap(client, &flags, &report, &err) != CDAM_OK) {
    code = cli_fail(args, &err, NULL);
  } else {
    code = args->json ? put_json(args, report) : put_lines(args, report);
    int failed = put_failures(report);
    if (code == CLI_OK) code = failed;
  }
  cdam_reap_report_free(report);
  cdam_client_free(client);
  return code;
}

const cli_command cli_reap = {
    .name = "reap",
    .usage = "[--dry-run] [--json]",
    .purpose = "Remove the sandboxes whose deadline has passed.",
    .notes =
        "Only a container is removed that bears the labels and the name of a session of "
        "cofferdam's, and a deadline that has passed by the clock of this machine; nothing else is "
        "touched. Prints a line for each, the earliest deadline first, and how many there were.\n"
        "With --json: an array of objects with session_id, container_id (in full), deadline (UTC), "
        "removed and failure (null, or why it was not removed).",
    .examples = "  cofferdam reap --dry-run\n"
                "  cofferdam reap\n",
    .exits = cli_exits_engine,
    .flags = CLI_FLAG_DRY_RUN | CLI_FLAG_JSON | CLI_FLAGS_ENGINE,
    .run = run,
};
