/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of processes on a real engine share. Included once in each program. */
#ifndef COFFERDAM_TESTS_PROCESS_SUPPORT_H
#define COFFERDAM_TESTS_PROCESS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "real_engine.h"

#define SH(script) ((const char *const[]){"/bin/busybox", "sh", "-c", script, NULL})

typedef struct fixture {
  cdam_client *client;
  cdam_session *session;
} fixture;

/* All that came of a process, to its end. */
typedef struct tale {
  cdam_buffer out, err;
  int outputs; /* pieces */
  int ends, exits, broken;
  uint64_t lost;
  cdam_process_exit exit;
} tale;

static inline fixture *make_fixture(void) {
  static fixture this;
  this.client = engine_client();
  this.session = create_with(this.client, CDAM_NETWORK_MODE_NONE);
  assert_true(cdam_session_has_agent(this.session));
  return &this;
}

static inline int make_sandbox(void **state) {
  *state = make_fixture();
  return 0;
}

static inline int end_sandbox(void **state) {
  fixture *this = *state;
  end_session(this->client, this->session);
  cdam_client_free(this->client);
  return 0;
}

static inline const char *container_of(const fixture *this) {
  return cdam_state_container_id(cdam_session_state(this->session));
}

static inline cdam_process *spawn(fixture *this, cdam_process_command command) {
  cdam_process *process;
  cdam_error err = {0};
  assert_ok(cdam_process_spawn(this->session, &command, &process, &err), &err);
  assert_non_null(process);
  return process;
}

static inline cdam_process_event next(cdam_process *process, int64_t timeout_ms) {
  cdam_process_event event;
  cdam_error err = {0};
  assert_ok(cdam_process_next(process, timeout_ms, &event, &err), &err);
  return event;
}

/* False at the end. */
static inline bool follow(tale *story, cdam_process *process, cdam_process_event event) {
  cdam_buffer *to = event.stream == CDAM_PROCESS_STDERR ? &story->err : &story->out;
  switch (event.kind) {
  case CDAM_PROCESS_OUTPUT:
    story->outputs++;
    story->lost += event.lost;
    assert_true(cdam_buffer_append(to, event.bytes, event.length));
    return true;
  case CDAM_PROCESS_OUTPUT_END:
    story->ends++;
    return true;
  case CDAM_PROCESS_INPUT_BROKEN:
    story->broken++;
    return true;
  case CDAM_PROCESS_EXITED:
    story->exits++;
    assert_true(cdam_process_exit_status(process, &story->exit));
    return true;
  case CDAM_PROCESS_NOTHING:
    return true;
  default:
    return false;
  }
}

static inline tale read_on(cdam_process *process) {
  tale story = {0};
  while (follow(&story, process, next(process, 20000)))
    ;
  return story;
}

static inline void forget_story(tale *story) {
  cdam_buffer_clear(&story->out);
  cdam_buffer_clear(&story->err);
}

static inline void expect_story(cdam_process *process, const char *out, const char *err, int code,
                                int signal) {
  tale story = read_on(process);
  assert_string_equal(cdam_buffer_text(&story.out), out);
  assert_string_equal(cdam_buffer_text(&story.err), err);
  assert_int_equal(story.exits, 1);
  assert_int_equal(story.exit.code, code);
  assert_int_equal(story.exit.signal, signal);
  forget_story(&story);
  cdam_process_free(process);
}

/* Waits for these bytes on standard output; what came before and with them is thrown away. */
static inline void await_text(cdam_process *process, const char *text) {
  cdam_buffer seen = {0};
  while (!strstr(cdam_buffer_text(&seen), text)) {
    cdam_process_event event = next(process, 10000);
    if (event.kind == CDAM_PROCESS_NOTHING || event.kind == CDAM_PROCESS_CLOSED)
      fail_msg("\"%s\" did not come, but \"%s\"", text, cdam_buffer_text(&seen));
    if (event.kind == CDAM_PROCESS_OUTPUT)
      assert_true(cdam_buffer_append(&seen, event.bytes, event.length));
  }
  cdam_buffer_clear(&seen);
}

/* Whether a process runs in the sandbox whose arguments have this in them. */
static inline bool runs(fixture *this, const char *word) {
  char *list = output_of(this->session, (const char *const[]){"/bin/busybox", "ps", NULL});
  bool found = strstr(list, word) != NULL;
  free(list);
  return found;
}

static inline void await_gone(fixture *this, const char *word) {
  int64_t until = cdam_now_ms() + 5000;
  while (runs(this, word))
    if (cdam_now_ms() > until) fail_msg("%s still runs", word);
}

#endif
