/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Four sandboxes without a network, made, used and deleted at the same time by one thread that
 * waits in epoll: epoll IMAGE
 *
 *   cc epoll.c $(pkg-config --cflags --libs cofferdam)
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include <cofferdam/cofferdam.h>

#define SANDBOXES 4

typedef struct sandbox {
  cdam_loop *loop;
  int number;
  cdam_session *session;
} sandbox;

static int failures;

static void complain(const sandbox *box, const cdam_error *err) {
  fprintf(stderr, "sandbox %d: %s\n", box->number, err->message);
  failures++;
}

static void deleted(void *user, cdam_status status, const cdam_error *err) {
  if (status != CDAM_OK) complain(user, err);
}

static void finish(sandbox *box) {
  cdam_error err;
  /* Everything is copied, so that the session can be freed at once. */
  if (cdam_delete_start(box->loop, cdam_session_state(box->session), deleted, box, NULL, &err) !=
      CDAM_OK)
    complain(box, &err);
  cdam_session_free(box->session);
}

static void ended(void *user, cdam_status status, cdam_exec_result *result, const cdam_error *err) {
  sandbox *box = user;
  if (status == CDAM_OK)
    printf("sandbox %d: %s", box->number, cdam_exec_result_stdout(result, NULL));
  else
    complain(box, err);
  cdam_exec_result_free(result);
  finish(box);
}

static void created(void *user, cdam_status status, cdam_session *session, const cdam_error *err) {
  static const char *const argv[] = {"ls", "/sys/class/net", NULL};
  const cdam_exec_command command = {.argv = argv, .timeout_ms = 20000};
  sandbox *box = user;
  cdam_error failure;
  if (status != CDAM_OK) {
    complain(box, err);
    return;
  }
  box->session = session;
  if (cdam_exec_start(box->loop, session, &command, ended, box, NULL, &failure) == CDAM_OK) return;
  complain(box, &failure);
  finish(box);
}

static void start_all(cdam_loop *loop, const char *image, sandbox *boxes) {
  cdam_options *options;
  cdam_error err;
  if (cdam_options_new(&options, &err) != CDAM_OK) abort();
  if (cdam_options_set_image(options, image, &err) != CDAM_OK) abort();
  cdam_options_set_network_mode(options, CDAM_NETWORK_MODE_NONE);
  for (int i = 0; i < SANDBOXES; i++) {
    boxes[i] = (sandbox){.loop = loop, .number = i};
    if (cdam_create_start(loop, options, created, &boxes[i], NULL, &err) != CDAM_OK)
      complain(&boxes[i], &err);
  }
  cdam_options_free(options);
}

int main(int argc, char **argv) {
  cdam_client *client;
  cdam_loop *loop;
  cdam_error err;
  sandbox boxes[SANDBOXES];
  if (cdam_client_new(NULL, &client, &err) != CDAM_OK ||
      cdam_loop_new(client, &loop, &err) != CDAM_OK) {
    fprintf(stderr, "%s\n", err.message);
    return 1;
  }
  start_all(loop, argc > 1 ? argv[1] : "alpine:3.20", boxes);

  /* The program's own descriptors stand in the same set. */
  int set = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = loop};
  epoll_ctl(set, EPOLL_CTL_ADD, cdam_loop_fd(loop), &event);
  while (cdam_loop_pending(loop) > 0) {
    struct epoll_event ready[8];
    int count = epoll_wait(set, ready, 8, -1);
    for (int i = 0; i < count; i++)
      if (ready[i].data.ptr == loop) cdam_loop_dispatch(loop);
  }
  cdam_loop_free(loop);
  cdam_client_free(client);
  return failures != 0;
}
