/* SPDX-License-Identifier: Apache-2.0 */
#include "live.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cofferdam/cofferdam.h>

struct sandbox {
  cdam_session *session;
};

static cdam_client *client;
static cdam_loop *loop;
static cdam_error err;

static void must(cdam_status status) {
  if (status != CDAM_OK) die(cdam_status_name(status), err.message);
}

sandbox *live_create(const char *image) {
  cdam_options *options;
  sandbox *box = calloc(1, sizeof *box);
  if (!box) die("calloc", "no memory");
  if (!client) must(cdam_client_new(NULL, &client, &err));
  if (!loop) must(cdam_loop_new(client, &loop, &err));
  must(cdam_options_new(&options, &err));
  must(cdam_options_set_image(options, image, &err));
  cdam_options_set_network_mode(options, CDAM_NETWORK_MODE_NONE);
  must(cdam_create(client, options, &box->session, &err));
  cdam_options_free(options);
  return box;
}

void live_delete(sandbox *box) {
  must(cdam_delete(client, cdam_session_state(box->session), &err));
  cdam_session_free(box->session);
  free(box);
}

/* ---- commands ---- */

static void check(cdam_exec_result *result) {
  if (cdam_exec_result_exit_code(result) != 0) die("exec", cdam_exec_result_stderr(result, NULL));
  cdam_exec_result_free(result);
}

static void run(sandbox *box, const cdam_exec_command *command) {
  cdam_exec_result *result;
  must(cdam_exec(box->session, command, &result, &err));
  check(result);
}

void live_run(sandbox *box, const char *const *argv) {
  run(box, &(cdam_exec_command){.argv = argv});
}

static void ended(void *user, cdam_status status, cdam_exec_result *result, const cdam_error *why) {
  size_t *left = user;
  if (status != CDAM_OK) die(cdam_status_name(status), why->message);
  check(result);
  --*left;
}

void live_at_once(sandbox **boxes, size_t box_count, size_t count) {
  const cdam_exec_command command = {.argv = (const char *const[]){"true", NULL}};
  size_t left = count;
  for (size_t i = 0; i < count; i++)
    must(cdam_exec_start(loop, boxes[i % box_count]->session, &command, ended, &left, NULL, &err));
  struct pollfd ready = {.fd = cdam_loop_fd(loop), .events = POLLIN};
  while (cdam_loop_dispatch(loop))
    poll(&ready, 1, -1);
  if (left) die("exec", "commands are missing");
}

/* ---- bulk ---- */

static bool count_bytes(void *user, const void *bytes, size_t length) {
  (void)bytes;
  *(long *)user += (long)length;
  return true;
}

static int64_t give_zeros(void *user, void *buffer, size_t size) {
  long *left = user;
  if ((long)size > *left) size = (size_t)*left;
  memset(buffer, 0, size);
  *left -= (long)size;
  return (int64_t)size;
}

void live_stdout(sandbox *box) {
  char size[24];
  long total = 0;
  snprintf(size, sizeof size, "%ld", LIVE_BULK);
  run(box, &(cdam_exec_command){
               .argv = (const char *const[]){"head", "-c", size, "/dev/zero", NULL},
               .stdout_sink = &(cdam_sink){.write = count_bytes, .user = &total},
           });
  if (total != LIVE_BULK) die("stdout", "short");
}

void live_stdin(sandbox *box) {
  long left = LIVE_BULK;
  run(box, &(cdam_exec_command){
               .argv = (const char *const[]){"sh", "-c", "cat >/dev/null", NULL},
               .input = &(cdam_source){.read = give_zeros, .user = &left},
           });
}

/* ---- files ---- */

void live_write(sandbox *box, long size) {
  must(cdam_file_write(box->session, "file", &(cdam_source){.read = give_zeros, .user = &size},
                       NULL, &err));
}

void live_read(sandbox *box, long size) {
  long total = 0;
  must(cdam_file_read_to(box->session, "file", 0, 0,
                         &(cdam_sink){.write = count_bytes, .user = &total}, &err));
  if (total != size) die("read", "short");
}

void live_list(sandbox *box) {
  cdam_file_list *list;
  must(cdam_file_list_directory(box->session, "many", &list, &err));
  if (cdam_file_list_count(list) != LIVE_ENTRIES) die("list", "names are missing");
  cdam_file_list_free(list);
}
