/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "engine.h"
#include "help.h"
#include "report.h"
#include "show.h"

static json_t *entry_json(const cdam_sandbox_list *list, size_t index) {
  char created[64];
  cli_format_time(cdam_list_created(list, index), created, sizeof created);
  return json_pack("{s:s, s:s, s:s, s:s, s:s}", "session_id", cdam_list_session_id(list, index),
                   "container_id", cdam_list_container_id(list, index), "status",
                   cdam_list_status(list, index), "image", cdam_list_image(list, index), "created",
                   created);
}

static int put_json(const cli_args *args, const cdam_sandbox_list *list) {
  json_t *array = json_array();
  size_t count = cdam_list_count(list);
  bool ok = array != NULL;
  for (size_t i = 0; ok && i < count; i++)
    ok = json_array_append_new(array, entry_json(list, i)) == 0;
  ok = ok && cli_put_json(array);
  json_decref(array);
  if (!ok && !ferror(stdout)) return cli_no_memory(args);
  return cli_finish_stdout(args);
}

/* How many blanks follow a text in its column. */
static int pad(const char *text, int width) {
  size_t length = strlen(text);
  return length < (size_t)width ? width - (int)length : 0;
}

static int put_table(const cli_args *args, const cdam_sandbox_list *list) {
  printf("%-36s  %-12s  %-10s  %-20s  %s\n", "SESSION", "CONTAINER", "STATUS", "CREATED", "IMAGE");
  size_t count = cdam_list_count(list);
  for (size_t i = 0; i < count; i++) {
    char created[64];
    cli_format_time(cdam_list_created(list, i), created, sizeof created);
    printf("%-36s  %-12.12s  ", cdam_list_session_id(list, i), cdam_list_container_id(list, i));
    cli_put_text(stdout, cdam_list_status(list, i));
    printf("%*s  %-20s  ", pad(cdam_list_status(list, i), 10), "", created);
    cli_put_text(stdout, cdam_list_image(list, i));
    putchar('\n');
  }
  return cli_finish_stdout(args);
}

static int run(cli_args *args) {
  cdam_client *client = NULL;
  int code = cli_client_new(args, NULL, &client);
  if (code != CLI_OK) return code;
  cdam_sandbox_list *list = NULL;
  cdam_error err;
  if (cdam_list(client, &list, &err) != CDAM_OK)
    code = cli_fail(args, &err, NULL);
  else
    code = args->json ? put_json(args, list) : put_table(args, list);
  cdam_list_free(list);
  cdam_client_free(client);
  return code;
}

const cli_command cli_list = {
    .name = "list",
    .usage = "[--json]",
    .purpose = "List the sandboxes of the engine, running or not.",
    .notes = "With --json: an array of objects with session_id, container_id (in full), status, "
             "image and created (UTC), all of them strings.",
    .examples = "  cofferdam list\n"
                "  cofferdam list --json | jq -r '.[].session_id'\n",
    .exits = cli_exits_engine,
    .flags = CLI_FLAG_JSON | CLI_FLAGS_ENGINE,
    .run = run,
};
