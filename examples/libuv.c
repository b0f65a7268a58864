/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sandbox in a program whose loop is libuv's. The command would run for long; a timer of the
 * program cancels it, which kills it: libuv IMAGE
 *
 *   cc libuv.c $(pkg-config --cflags --libs cofferdam libuv)
 */
#include <stdio.h>
#include <stdlib.h>

#include <uv.h>

#include <cofferdam/cofferdam.h>

typedef struct program {
  cdam_client *client;
  cdam_loop *loop;
  cdam_session *session;
  cdam_operation *command;
  uv_poll_t poll;
  uv_timer_t timer;
  int status;
} program;

static void complain(program *this, const cdam_error *err) {
  fprintf(stderr, "%s\n", err->message);
  this->status = 1;
}

static void deleted(void *user, cdam_status status, const cdam_error *err) {
  if (status != CDAM_OK) complain(user, err);
}

static void ended(void *user, cdam_status status, cdam_exec_result *result, const cdam_error *err) {
  program *this = user;
  cdam_error failure;
  printf("the command ended: %s\n", status == CDAM_OK ? "by itself" : err->message);
  if (status != CDAM_ERR_CANCELLED) this->status = 1;
  cdam_exec_result_free(result);
  if (cdam_delete_start(this->loop, cdam_session_state(this->session), deleted, this, NULL,
                        &failure) != CDAM_OK)
    complain(this, &failure);
  cdam_session_free(this->session);
}

static void time_is_up(uv_timer_t *timer) {
  program *this = timer->data;
  cdam_cancel(this->command);
}

static void created(void *user, cdam_status status, cdam_session *session, const cdam_error *err) {
  static const char *const argv[] = {"sleep", "1000", NULL};
  program *this = user;
  cdam_error failure;
  if (status != CDAM_OK) {
    complain(this, err);
    return;
  }
  this->session = session;
  if (cdam_exec_start(this->loop, session, &(cdam_exec_command){.argv = argv}, ended, this,
                      &this->command, &failure) == CDAM_OK)
    uv_timer_start(&this->timer, time_is_up, 300, 0);
  else
    complain(this, &failure);
}

/* When nothing is pending there is nothing to wait for. */
static void ready(uv_poll_t *poll, int status, int events) {
  program *this = poll->data;
  (void)status;
  (void)events;
  if (cdam_loop_dispatch(this->loop)) return;
  uv_close((uv_handle_t *)&this->poll, NULL);
  uv_close((uv_handle_t *)&this->timer, NULL);
}

static int start(program *this, const char *image) {
  cdam_options *options = NULL;
  cdam_error err;
  cdam_status status = cdam_client_new(NULL, &this->client, &err);
  if (status == CDAM_OK) status = cdam_loop_new(this->client, &this->loop, &err);
  if (status == CDAM_OK) status = cdam_options_new(&options, &err);
  if (status == CDAM_OK) status = cdam_options_set_image(options, image, &err);
  if (status == CDAM_OK) {
    cdam_options_set_network_mode(options, CDAM_NETWORK_MODE_NONE);
    status = cdam_create_start(this->loop, options, created, this, NULL, &err);
  }
  cdam_options_free(options);
  if (status != CDAM_OK) complain(this, &err);
  return status == CDAM_OK;
}

int main(int argc, char **argv) {
  program this = {0};
  if (start(&this, argc > 1 ? argv[1] : "alpine:3.20")) {
    this.poll.data = this.timer.data = &this;
    uv_timer_init(uv_default_loop(), &this.timer);
    uv_poll_init(uv_default_loop(), &this.poll, cdam_loop_fd(this.loop));
    uv_poll_start(&this.poll, UV_READABLE, ready);
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    uv_loop_close(uv_default_loop());
  }
  cdam_loop_free(this.loop);
  cdam_client_free(this.client);
  return this.status;
}
