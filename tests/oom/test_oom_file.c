/* SPDX-License-Identifier: Apache-2.0 */
/* Files, with each allocation made to fail in turn: an error like any other, and nothing is lost.
 */
#include "agent_play.h"

#define SIZE 300000
#define STRIDE 7

static char content[SIZE];

typedef struct play {
  agent_play in;
  cdam_file_list *one, *listing;
  cdam_file_watch *watch;
  char *bytes;
  size_t length;
  cdam_file_event event;
  char name[8];
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

static cdam_status run_blocking(void *context, cdam_error *err) {
  play *p = context;
  const cdam_source source = {.bytes = content, .length = SIZE};
  cdam_status status = open_session(&p->in, err);
  if (status == CDAM_OK) status = cdam_file_stat(&p->in.session, "f", true, &p->one, err);
  if (status == CDAM_OK) status = cdam_file_list_directory(&p->in.session, "d", &p->listing, err);
  if (status == CDAM_OK) status = cdam_file_write(&p->in.session, "f", &source, NULL, err);
  if (status == CDAM_OK)
    status = cdam_file_read(&p->in.session, "f", SIZE, &p->bytes, &p->length, err);
  if (status == CDAM_OK) status = cdam_file_rename(&p->in.session, "f", "g", false, err);
  if (status == CDAM_OK) status = cdam_file_watch_new(&p->in.session, "d", &p->watch, err);
  if (status == CDAM_OK) status = cdam_file_watch_next(p->watch, 1000, &p->event, err);
  if (status == CDAM_OK) snprintf(p->name, sizeof p->name, "%s", p->event.name);
  return status;
}

static void wrote(void *user, cdam_status status, const cdam_error *err) {
  note(&((play *)user)->in, status, err);
}

static void was_read(void *user, cdam_status status, char *bytes, size_t length,
                     const cdam_error *err) {
  play *p = user;
  note(&p->in, status, err);
  p->bytes = bytes;
  p->length = length;
}

static void listed(void *user, cdam_status status, cdam_file_list *list, const cdam_error *err) {
  note(&((play *)user)->in, status, err);
  ((play *)user)->listing = list;
}

static void watched(void *user, cdam_status status, cdam_file_watch *watch, const cdam_error *err) {
  note(&((play *)user)->in, status, err);
  ((play *)user)->watch = watch;
}

static cdam_status run_loop(void *context, cdam_error *err) {
  play *p = context;
  const cdam_source source = {.bytes = content, .length = SIZE};
  cdam_session *session = &p->in.session;
  cdam_status status = open_loop(&p->in, err);
  if (status == CDAM_OK)
    status = cdam_file_write_start(p->in.loop, session, "f", &source, NULL, wrote, p, NULL, err);
  if (status == CDAM_OK)
    status = cdam_file_read_start(p->in.loop, session, "f", SIZE, was_read, p, NULL, err);
  if (status == CDAM_OK)
    status = cdam_file_list_directory_start(p->in.loop, session, "d", listed, p, NULL, err);
  if (status == CDAM_OK)
    status = cdam_file_watch_new_start(p->in.loop, session, "d", watched, p, NULL, err);
  return run_to_end(&p->in, status, err);
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
  close_session(&p->in);
  *p = (play){.in.fixture = p->in.fixture};
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
  play p = {.in.fixture = begin(obey, 5000)};
  exhaust(&(exhaust_case){name, run, end_it, &p, true, STRIDE});
  end(p.in.fixture);
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
