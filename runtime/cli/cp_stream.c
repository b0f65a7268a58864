/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <unistd.h>

#include "cp.h"
#include "files.h"
#include "report.h"

/* What is there, the end of a link; CDAM_FILE_UNKNOWN when there is nothing. */
static int look(const cli_copy *copy, cdam_file_type *type) {
  cdam_file_list *list = NULL;
  cdam_error err;
  *type = CDAM_FILE_UNKNOWN;
  cdam_status status = cdam_file_stat(copy->sandbox->session, copy->inside, true, &list, &err);
  if (status == CDAM_ERR_FILE && err.system_errno == ENOENT) return CLI_OK;
  if (status != CDAM_OK) return cli_fail_file(copy->args, &err);
  if (cdam_file_list_get(list, 0)) *type = cdam_file_list_get(list, 0)->type;
  cdam_file_list_free(list);
  return CLI_OK;
}

static cdam_tree_options options_of(const cli_copy *copy) {
  return (cdam_tree_options){.keep_owner = copy->args->keep_owner, .replace = true};
}

/* ---- in ---- */

static int take_archive(const cli_copy *copy) {
  const cdam_source source = {.from_fd = true, .fd = STDIN_FILENO};
  cdam_tree_options options = options_of(copy);
  options.parents = true;
  cdam_tree_result result;
  cdam_error err;
  if (cdam_tree_upload_tar(copy->sandbox->session, &source, copy->inside, &options, &result,
                           &err) != CDAM_OK)
    return cli_fail_file(copy->args, &err);
  return cli_copy_report(result.skipped);
}

static int take_content(const cli_copy *copy) {
  const cdam_source source = {.from_fd = true, .fd = STDIN_FILENO};
  cdam_file_type type;
  cdam_error err;
  int code = look(copy, &type);
  if (code != CLI_OK) return code;
  if (type == CDAM_FILE_DIRECTORY) {
    cli_say("':%s' is a directory; name the file in it, or give --tar for an archive",
            copy->inside);
    return CLI_FILE_FAILED;
  }
  if (cdam_file_write(copy->sandbox->session, copy->inside, &source, NULL, &err) != CDAM_OK)
    return cli_fail_file(copy->args, &err);
  return CLI_OK;
}

/* ---- out ---- */

static int put_archive(const cli_copy *copy) {
  cli_output output = {0};
  const cdam_sink sink = cli_stdout_sink(&output);
  const cdam_tree_options options = options_of(copy);
  cdam_tree_result result;
  cdam_error err;
  if (isatty(STDOUT_FILENO))
    return cli_usage(copy->args->command, "an archive is not written to a terminal");
  if (cdam_tree_download_tar(copy->sandbox->session, copy->inside, &sink, &options, &result,
                             &err) == CDAM_OK)
    return cli_copy_report(result.skipped);
  int code = cli_output_failure(&output);
  return code == CLI_OK ? cli_fail_file(copy->args, &err) : code;
}

static int put_content(const cli_copy *copy) {
  cli_output output = {0};
  const cdam_sink sink = cli_stdout_sink(&output);
  cdam_error err;
  if (cdam_file_read_to(copy->sandbox->session, copy->inside, 0, 0, &sink, &err) == CDAM_OK)
    return CLI_OK;
  int code = cli_output_failure(&output);
  return code == CLI_OK ? cli_fail_file(copy->args, &err) : code;
}

int cli_copy_stream(const cli_copy *copy) {
  if (copy->up) return copy->args->tar ? take_archive(copy) : take_content(copy);
  cdam_file_type type = CDAM_FILE_DIRECTORY;
  int code = copy->args->tar ? CLI_OK : look(copy, &type);
  if (code != CLI_OK) return code;
  return type == CDAM_FILE_DIRECTORY ? put_archive(copy) : put_content(copy);
}
