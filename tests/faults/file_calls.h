/* SPDX-License-Identifier: Apache-2.0 */
/* Calls for files to an agent that a test plays: what is asked, and that nothing half comes of it.
 */
#ifndef COFFERDAM_TESTS_FILE_CALLS_H
#define COFFERDAM_TESTS_FILE_CALLS_H

#include "test_file_agent.h"

#define SCRIPT(name) static void name(agent *a, const MSG(ToAgent) * m)

/* Only requests are answered. */
#define IGNORE_DATA()                                                                              \
  if (m->body_case == TO(DATA) || m->body_case == TO(CANCEL)) return

static inline cdam_status call_stat(fixture *this, cdam_error *err) {
  cdam_file_list *list = (cdam_file_list *)1;
  cdam_status status = cdam_file_stat(&this->session, "f", false, &list, err);
  assert_null(list);
  return status;
}

static inline cdam_status call_exists(fixture *this, cdam_error *err) {
  bool exists = true;
  cdam_status status = cdam_file_exists(&this->session, "f", &exists, err);
  assert_false(exists);
  return status;
}

static inline cdam_status call_list(fixture *this, cdam_error *err) {
  cdam_file_list *list = (cdam_file_list *)1;
  cdam_status status = cdam_file_list_directory(&this->session, "d", &list, err);
  assert_null(list);
  return status;
}

static inline bool ignore(void *user, const void *bytes, size_t length) {
  (void)bytes;
  *(size_t *)user += length;
  return true;
}

static inline cdam_status call_read_to(fixture *this, cdam_error *err) {
  size_t got = 0;
  const cdam_sink sink = {.write = ignore, .user = &got};
  cdam_status status = cdam_file_read_to(&this->session, "f", 5, 10, &sink, err);
  assert_in_range(got, 0, 10);
  return status;
}

static inline cdam_status call_read(fixture *this, cdam_error *err) {
  char *bytes = (char *)1;
  size_t length = 1;
  cdam_status status = cdam_file_read(&this->session, "f", 9, &bytes, &length, err);
  assert_null(bytes);
  assert_int_equal(length, 0);
  return status;
}

static char four_megabytes[4 << 20];

static inline cdam_status call_write(fixture *this, cdam_error *err) {
  const cdam_source source = {.bytes = four_megabytes, .length = 1 << 19};
  return cdam_file_write(&this->session, "f", &source, NULL, err);
}

static inline cdam_status call_large_write(fixture *this, cdam_error *err) {
  const cdam_source source = {.bytes = four_megabytes, .length = sizeof four_megabytes};
  return cdam_file_write(&this->session, "f", &source, NULL, err);
}

static inline cdam_status call_make_directory(fixture *this, cdam_error *err) {
  return cdam_file_make_directory(&this->session, "d", 0, false, err);
}
static inline cdam_status call_remove(fixture *this, cdam_error *err) {
  return cdam_file_remove(&this->session, "d", true, true, err);
}
static inline cdam_status call_rename(fixture *this, cdam_error *err) {
  return cdam_file_rename(&this->session, "d", "e", true, err);
}
static inline cdam_status call_link(fixture *this, cdam_error *err) {
  return cdam_file_make_link(&this->session, "d", "e", true, err);
}
static inline cdam_status call_attributes(fixture *this, cdam_error *err) {
  return cdam_file_set_attributes(&this->session, "d", &(cdam_file_attributes){0}, err);
}

static inline cdam_status call_watch(fixture *this, cdam_error *err) {
  cdam_file_watch *watch = (cdam_file_watch *)1;
  cdam_status status = cdam_file_watch_new(&this->session, "d", &watch, err);
  if (status != CDAM_OK) {
    assert_null(watch);
    return status;
  }
  cdam_file_event event;
  do
    status = cdam_file_watch_next(watch, 2000, &event, err);
  while (status == CDAM_OK && event.kind != CDAM_FILE_NOTHING && event.kind != CDAM_FILE_GONE);
  /* And it stays so. */
  cdam_error again;
  assert_int_equal(cdam_file_watch_next(watch, 0, &event, &again), status);
  cdam_file_watch_free(watch);
  return status;
}

#endif
