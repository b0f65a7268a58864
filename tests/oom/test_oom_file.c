/* SPDX-License-Identifier: Apache-2.0 */
/* Files, with each allocation made to fail in turn: an error like any other, and nothing is lost.
 */
#include "../faults/test_file_agent.h"

#include <poll.h>

#include "exhaust.h"

#define SIZE 300000
#define STRIDE 7

static char content[SIZE];

typedef struct play {
  fixture *fixture;
  cdam_session session;
  cdam_loop *loop;
  cdam_file_list *one, *listing;
  cdam_file_watch *watch;
  char *bytes;
  size_t length;
  cdam_file_event event;
  char name[8];
  cdam_status status; /* in the callbacks: the first that is no success */
  cdam_error error;
} play;

/* ---- an agent that does as it is told ---- */

static void obey(agent *a, const MSG(ToAgent) * m) {
  const uint32_t c = m->channel;
  switch (m->body_case) {
  case TO(STAT):
    say_entry(a, c, entry_of(TYPE(FILE)));
    break;
  case TO(LIST):
    for (int i = 0; i < 40; i++)
      say_named(a, c, &"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"[i], 5);
    break;
  case TO(READ_FILE):
    say_entry(a, c, entry_of(TYPE(FILE)));
    for (size_t at = 0; at < SIZE; at += 100000)
      say_data(a, c, content + at, 100000, at + 100000 == SIZE);
    break;
  case TO(DATA):
    if (!a->ended) return;
    say_entry(a, c, entry_of(TYPE(FILE)));
    break;
  case TO(WATCH):
    say_event(a, c, KIND(READY), "", 0);
    say_event(a, c, KIND(CREATED), "f", 1);
    return;
  case TO(CANCEL):
  case TO(WRITE_FILE):
    return;
  default:
    break;
  }
  say_done(a, c);
}

/* ---- the calls ---- */

static cdam_status open_session(play *p, cdam_error *err) {
  cdam_client_config *config = NULL;
  p->session = (cdam_session){.state = &p->fixture->state, .has_agent = true};
  p->status = CDAM_OK;
  cdam_status status = cdam_client_config_new(&config, err);
  if (status == CDAM_OK)
    status =
        cdam_client_config_set_endpoint(config, scripted_engine_endpoint(p->fixture->engine), err);
  if (status == CDAM_OK) {
    cdam_client_config_set_timeout(config, 1000);
    status = cdam_client_new(config, &p->session.client, err);
  }
  cdam_client_config_free(config);
  return status;
}

static cdam_status run_blocking(void *context, cdam_error *err) {
  play *p = context;
  const cdam_source source = {.bytes = content, .length = SIZE};
  cdam_status status = open_session(p, err);
  if (status == CDAM_OK) status = cdam_file_stat(&p->session, "f", true, &p->one, err);
  if (status == CDAM_OK) status = cdam_file_list_directory(&p->session, "d", &p->listing, err);
  if (status == CDAM_OK) status = cdam_file_write(&p->session, "f", &source, NULL, err);
  if (status == CDAM_OK)
    status = cdam_file_read(&p->session, "f", SIZE, &p->bytes, &p->length, err);
  if (status == CDAM_OK) status = cdam_file_rename(&p->session, "f", "g", false, err);
  if (status == CDAM_OK) status = cdam_file_watch_new(&p->session, "d", &p->watch, err);
  if (status == CDAM_OK) status = cdam_file_watch_next(p->watch, 1000, &p->event, err);
  if (status == CDAM_OK) snprintf(p->name, sizeof p->name, "%s", p->event.name);
  return status;
}

static void note(play *p, cdam_status status, const cdam_error *err) {
  if (status == CDAM_OK || p->status != CDAM_OK) return;
  p->status = status;
  p->error = *err;
}

static void wrote(void *user, cdam_status status, const cdam_error *err) {
  note(user, status, err);
}

static void was_read(void *user, cdam_status status, char *bytes, size_t length,
                     const cdam_error *err) {
  play *p = user;
  note(p, status, err);
  p->bytes = bytes;
  p->length = length;
}

static void listed(void *user, cdam_status status, cdam_file_list *list, const cdam_error *err) {
  note(user, status, err);
  ((play *)user)->listing = list;
}

static void watched(void *user, cdam_status status, cdam_file_watch *watch, const cdam_error *err) {
  note(user, status, err);
  ((play *)user)->watch = watch;
}

static cdam_status run_loop(void *context, cdam_error *err) {
  play *p = context;
  const cdam_source source = {.bytes = content, .length = SIZE};
  cdam_session *session = &p->session;
  cdam_status status = open_session(p, err);
  if (status == CDAM_OK) status = cdam_loop_new(session->client, &p->loop, err);
  if (status == CDAM_OK)
    status = cdam_file_write_start(p->loop, session, "f", &source, NULL, wrote, p, NULL, err);
  if (status == CDAM_OK)
    status = cdam_file_read_start(p->loop, session, "f", SIZE, was_read, p, NULL, err);
  if (status == CDAM_OK)
    status = cdam_file_list_directory_start(p->loop, session, "d", listed, p, NULL, err);
  if (status == CDAM_OK)
    status = cdam_file_watch_new_start(p->loop, session, "d", watched, p, NULL, err);
  if (!p->loop) return status;
  struct pollfd ready = {.fd = cdam_loop_fd(p->loop), .events = POLLIN};
  while (cdam_loop_dispatch(p->loop))
    poll(&ready, 1, 5000);
  if (status != CDAM_OK || p->status == CDAM_OK) return status;
  *err = p->error;
  return p->status;
}

/* ---- what came out ---- */

static const char *check(const play *p) {
  if (p->length != SIZE || memcmp(p->bytes, content, SIZE) != 0) return "another content";
  if (cdam_file_list_count(p->listing) != 26) return "another listing";
  if (!p->watch) return "no watch";
  return NULL;
}

static void close_play(play *p) {
  cdam_file_list_free(p->one);
  cdam_file_list_free(p->listing);
  cdam_file_watch_free(p->watch);
  free(p->bytes);
  cdam_session_drop_links(&p->session);
  cdam_loop_free(p->loop);
  cdam_client_free(p->session.client);
  *p = (play){.fixture = p->fixture};
}

static const char *finish(void *context, cdam_status status, bool once) {
  (void)once;
  play *p = context;
  const char *wrong = NULL;
  if (status == CDAM_OK) wrong = check(p);
  close_play(p);
  return wrong;
}

static const char *finish_blocking(void *context, cdam_status status, bool once) {
  const play *p = context;
  /* An event for which there is no memory is told as lost. */
  bool event = strcmp(p->name, "f") == 0 || p->event.kind == CDAM_FILE_OVERFLOW;
  bool odd = status == CDAM_OK && (cdam_file_list_count(p->one) != 1 || !event);
  const char *wrong = finish(context, status, once);
  return odd ? "another entry or event" : wrong;
}

static void exhaust_files(const char *name, cdam_status (*run)(void *, cdam_error *),
                          const char *(*end_it)(void *, cdam_status, bool)) {
  for (size_t i = 0; i < SIZE; i++)
    content[i] = (char)(i * 7 + (i >> 9));
  play p = {.fixture = begin(obey, 5000)};
  exhaust(&(exhaust_case){name, run, end_it, &p, true, STRIDE});
  end(p.fixture);
}

static void test_blocking(void **unused) {
  (void)unused;
  exhaust_files("files", run_blocking, finish_blocking);
}

static void test_loop(void **unused) {
  (void)unused;
  exhaust_files("files in a loop", run_loop, finish);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_blocking),
      cmocka_unit_test(test_loop),
  };
  return cmocka_run_group_tests_name("oom_file", tests, NULL, NULL);
}
