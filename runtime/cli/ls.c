/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "report.h"
#include "sandbox.h"
#include "show.h"

/* ---- text ---- */

static const char type_letters[] = "?-dlpscb";
static const char *const type_words[] = {"unknown", "file",   "directory",        "link",
                                         "pipe",    "socket", "character_device", "block_device"};

/* As ls shows it: "drwxr-xr-t". */
static void format_mode(const cdam_file_info *info, char text[11]) {
  uint32_t mode = info->permissions;
  text[0] = type_letters[info->type];
  for (int i = 0; i < 9; i++)
    text[1 + i] = mode & (0400u >> i) ? "rwx"[i % 3] : '-';
  if (mode & 04000) text[3] = mode & 0100 ? 's' : 'S';
  if (mode & 02000) text[6] = mode & 0010 ? 's' : 'S';
  if (mode & 01000) text[9] = mode & 0001 ? 't' : 'T';
  text[10] = '\0';
}

static void put_name(const char *name, bool escape) {
  if (escape)
    cli_put_name(stdout, name);
  else
    fputs(name, stdout);
}

static void put_entry(const cli_args *args, const cdam_file_info *info, const char *name) {
  bool escape = isatty(STDOUT_FILENO) && !args->null_ended;
  if (args->long_form) {
    char mode[11], when[64];
    format_mode(info, mode);
    cli_format_time(info->mtime, when, sizeof when);
    printf("%s %3" PRIu32 " %5" PRIu32 " %5" PRIu32 " %12" PRIu64 " %s ", mode, info->links,
           info->uid, info->gid, info->size, when);
  }
  put_name(name, escape);
  if (args->long_form && info->type == CDAM_FILE_LINK) {
    fputs(" -> ", stdout);
    put_name(info->target, escape);
  }
  putchar(args->null_ended ? '\0' : '\n');
}

/* ---- JSON ---- */

/* A name that is no text has its bytes in a member of its own. */
static bool set_bytes(json_t *object, const char *key, const char *bytes) {
  json_t *text = json_string(bytes);
  if (text) return json_object_set_new(object, key, text) == 0;
  size_t length = strlen(bytes);
  char *hex = calloc(length + 1, 2), name[32];
  if (!hex) return false;
  for (size_t i = 0; i < length; i++)
    snprintf(hex + 2 * i, 3, "%02x", (unsigned char)bytes[i]);
  snprintf(name, sizeof name, "%s_hex", key);
  bool ok = json_object_set_new(object, key, json_null()) == 0 &&
            json_object_set_new(object, name, json_string(hex)) == 0;
  free(hex);
  return ok;
}

static json_t *entry_json(const cdam_file_info *info, const char *name) {
  char mode[8], when[64];
  snprintf(mode, sizeof mode, "%04o", info->permissions & 07777);
  cli_format_time(info->mtime, when, sizeof when);
  json_t *object = json_object();
  bool ok = object && set_bytes(object, "name", name);
  json_t *rest =
      json_pack("{s:s, s:s, s:I, s:I, s:I, s:s, s:I, s:I}", "type", type_words[info->type], "mode",
                mode, "uid", (json_int_t)info->uid, "gid", (json_int_t)info->gid, "size",
                (json_int_t)info->size, "modified", when, "modified_ns", (json_int_t)info->mtime_ns,
                "links", (json_int_t)info->links);
  ok = ok && rest && json_object_update(object, rest) == 0;
  if (ok && info->type == CDAM_FILE_LINK) ok = set_bytes(object, "target", info->target);
  json_decref(rest);
  if (ok) return object;
  json_decref(object);
  return NULL;
}

static int put_json(const cli_args *args, const cdam_file_list *list, const char *only) {
  json_t *array = json_array();
  bool ok = array != NULL;
  for (size_t i = 0; ok && i < cdam_file_list_count(list); i++) {
    const cdam_file_info *info = cdam_file_list_get(list, i);
    ok = json_array_append_new(array, entry_json(info, only ? only : info->name)) == 0;
  }
  ok = ok && cli_put_json(array);
  json_decref(array);
  if (!ok && !ferror(stdout)) return cli_no_memory(args);
  return CLI_OK;
}

/* ---- the command ---- */

/* Of what is no directory, or a link that leads to none that can be reached, there is the thing
 * itself; unless a slash says that a directory is meant. */
static bool is_itself(const cli_sandbox *sandbox, const char *path, const cdam_error *why,
                      cdam_file_list **list) {
  cdam_error err;
  size_t length = strlen(path);
  if (length && path[length - 1] == '/') return false;
  if (why->code != CDAM_ERR_FILE && why->code != CDAM_ERR_OUTSIDE) return false;
  return cdam_file_stat(sandbox->session, path, false, list, &err) == CDAM_OK &&
         cdam_file_list_get(*list, 0)->type != CDAM_FILE_DIRECTORY;
}

static int show(const cli_args *args, const cli_sandbox *sandbox) {
  const char *path = args->operand_count ? cli_inside(args->operands[0]) : "";
  const char *only = NULL;
  cdam_file_list *list = NULL;
  cdam_error err;
  int code = CLI_OK;
  if (cdam_file_list_directory(sandbox->session, path, &list, &err) != CDAM_OK) {
    if (is_itself(sandbox, path, &err, &list))
      only = path;
    else
      code = cli_fail_file(args, &err);
  }
  if (code == CLI_OK && args->json) code = put_json(args, list, only);
  for (size_t i = 0; code == CLI_OK && !args->json && i < cdam_file_list_count(list); i++) {
    const cdam_file_info *info = cdam_file_list_get(list, i);
    put_entry(args, info, only ? only : info->name);
  }
  cdam_file_list_free(list);
  return code == CLI_OK ? cli_finish_stdout(args) : code;
}

static int run(cli_args *args) {
  if (args->json && (args->null_ended || args->long_form))
    return cli_usage(args->command, "--json goes with neither --null nor --long");
  cli_sandbox sandbox = {0};
  int code = cli_sandbox_open(args, &sandbox);
  if (code == CLI_OK) code = show(args, &sandbox);
  cli_sandbox_close(&sandbox);
  return code;
}

const cli_command cli_ls = {
    .name = "ls",
    .usage = "--state FILE [-l] [-0] [--json] [[:]PATH]",
    .purpose = "List a directory of a sandbox: the workspace, or PATH in it.",
    .notes =
        "Every name is listed, one a line, sorted by bytes; also those that begin with a dot. On a "
        "terminal what would not be shown as itself is escaped: a newline is \\x0a, a backslash "
        "\\\\. Elsewhere names are as they are; since they may hold newlines, scripts should use "
        "-0 or --json.\n"
        "With -l: mode, number of names, user and group as numbers, size, time (UTC), name, and "
        "what a link says.\n"
        "With --json: an array of objects with name, type, mode (octal), uid, gid, size, modified "
        "(UTC), modified_ns, links and, of a link, target. A name that is not UTF-8 is null, and "
        "its bytes are in name_hex; likewise a target.",
    .examples = "  cofferdam ls --state s.pb\n"
                "  cofferdam ls -l --state s.pb :src\n"
                "  cofferdam ls -0 --state s.pb out | xargs -0 -n1 echo\n",
    .exits = cli_exits_files,
    .flags = CLI_FLAG_STATE | CLI_FLAG_KEY_FILE | CLI_FLAG_LONG | CLI_FLAG_NULL | CLI_FLAG_JSON |
             CLI_FLAGS_ENGINE,
    .operands = CLI_OPERANDS_PATH,
    .takes_policy = true,
    .run = run,
};
