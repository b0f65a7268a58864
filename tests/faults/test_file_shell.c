/* SPDX-License-Identifier: Apache-2.0 */
/* Files by a shell, on an engine that cuts what it says, refuses, or sends it in pieces. */
#include "file_shell.h"

typedef struct call {
  const char *name;
  cdam_status (*run)(cdam_session *session, cdam_error *err);
  cdam_status expected;
} call;

static cdam_status run_stat(cdam_session *session, cdam_error *err) {
  cdam_file_list *list;
  cdam_status status = cdam_file_stat(session, "l", false, &list, err);
  if (status == CDAM_OK) assert_string_equal(cdam_file_list_get(list, 0)->target, "text");
  cdam_file_list_free(list);
  return status;
}

static cdam_status run_list(cdam_session *session, cdam_error *err) {
  cdam_file_list *list;
  cdam_status status = cdam_file_list_directory(session, "d", &list, err);
  if (status == CDAM_OK) assert_int_equal(cdam_file_list_count(list), 2);
  if (status == CDAM_OK) assert_string_equal(cdam_file_list_get(list, 0)->name, "a\nb");
  cdam_file_list_free(list);
  return status;
}

static cdam_status run_read(cdam_session *session, cdam_error *err) {
  char *bytes;
  size_t length;
  cdam_status status = cdam_file_read(session, "f", 100, &bytes, &length, err);
  if (status == CDAM_OK) assert_string_equal(bytes, "hello");
  free(bytes);
  return status;
}

static cdam_status run_write(cdam_session *session, cdam_error *err) {
  const cdam_source source = {.bytes = "hello", .length = 5};
  return cdam_file_write(session, "f", &source, NULL, err);
}

static cdam_status run_remove(cdam_session *session, cdam_error *err) {
  return cdam_file_remove(session, "f", false, false, err);
}

static cdam_status run_download(cdam_session *session, cdam_error *err) {
  cdam_tree_result result;
  const cdam_sink nowhere = {0};
  cdam_status status = cdam_tree_download_tar(session, "d", &nowhere, NULL, &result, err);
  if (status == CDAM_OK) assert_int_equal(result.entries, 3);
  if (status == CDAM_OK) assert_int_equal(result.bytes, 5); /* one file of two names */
  return status;
}

static cdam_status run_upload(cdam_session *session, cdam_error *err) {
  char directory[] = "/tmp/cofferdam-shell-XXXXXX";
  assert_non_null(mkdtemp(directory));
  cdam_status status = cdam_tree_upload(session, directory, "d", NULL, NULL, err);
  assert_int_equal(rmdir(directory), 0);
  return status;
}

static const call calls[] = {
    {"stat", run_stat, CDAM_OK},           {"list", run_list, CDAM_OK},
    {"read", run_read, CDAM_OK},           {"write", run_write, CDAM_OK},
    {"remove", run_remove, CDAM_ERR_FILE}, {"download", run_download, CDAM_OK},
    {"upload", run_upload, CDAM_OK},
};

static fixture *begin_shell(const scripted_rule *rules, size_t count) {
  fixture *this = begin(rules, count, 5000);
  this->state.message.options = &shell_options;
  return this;
}

static void finish(fixture *this) {
  cdam_session_drop_links(&this->session);
  end(this);
}

static void test_each(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    for (size_t piece = 0; piece < 40; piece += 13) {
      shell sandbox = {.piece = piece == 39 ? 1 : piece};
      const scripted_rule rules[] = SHELL_RULES(&sandbox);
      fixture *this = begin_shell(rules, sizeof rules / sizeof *rules);
      cdam_error err;
      cdam_status status = calls[i].run(&this->session, &err);
      if (status != calls[i].expected)
        fail_msg("%s: %s: %s", calls[i].name, cdam_status_name(status), err.message);
      finish(this);
    }
}

/* Whatever is missing at the end, it is no success. */
static void test_cut_anywhere(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    shell sandbox = {.cut = 1, .length = SIZE_MAX};
    const scripted_rule rules[] = SHELL_RULES(&sandbox);
    fixture *this = begin_shell(rules, sizeof rules / sizeof *rules);
    for (; sandbox.cut < sandbox.length; sandbox.cut++) {
      cdam_error err;
      cdam_status status = calls[i].run(&this->session, &err);
      if (status != CDAM_ERR_EXEC)
        fail_msg("%s, cut at %zu: %s: %s", calls[i].name, sandbox.cut, cdam_status_name(status),
                 err.message);
    }
    finish(this);
  }
}

static void test_refused(void **state) {
  (void)state;
  static const struct {
    scripted_rule create, start;
    cdam_status expected;
  } cases[] = {
      {{.path = CREATE, .reply = {500, .body = "{\"message\":\"no\"}"}},
       {.path = "/none"},
       CDAM_ERR_ENGINE},
      {{.path = CREATE, .reply = {201, .body = "{}"}}, {.path = "/none"}, CDAM_ERR_PROTOCOL},
      {{.path = CREATE, .reply = CREATED},
       {.path = "/exec/aaaa/start", .reply = {500, .body = "{\"message\":\"no\"}"}},
       CDAM_ERR_ENGINE},
      {{.path = CREATE, .reply = CREATED},
       {.path = "/exec/aaaa/start", .reply = {RAW("garbage!"), .end = SCRIPTED_CLOSE}},
       CDAM_ERR_PROTOCOL},
      {{.path = CREATE, .reply = CREATED},
       {.path = "/exec/aaaa/start", .reply = {RAW("\3\0\0\0\0\0\0\2no"), .end = SCRIPTED_CLOSE}},
       CDAM_ERR_ENGINE},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const scripted_rule rules[] = {
        cases[i].create,
        cases[i].start,
        {.path = "/exec/aaaa/json", .reply = {200, .body = ENDED("0")}},
        {.path = "/containers/" CONTAINER "/json", .reply = {200, .body = RUNNING_CONTAINER}},
    };
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
      fixture *this = begin_shell(rules, sizeof rules / sizeof *rules);
      cdam_error err;
      cdam_status status = calls[k].run(&this->session, &err);
      if (status != cases[i].expected)
        fail_msg("%zu, %s: %s: %s", i, calls[k].name, cdam_status_name(status), err.message);
      finish(this);
    }
  }
}

/* ---- a shell that was killed ---- */

typedef struct killing {
  bool dying; /* the container, and nothing can be started in it any more */
  int created, inspected;
} killing;

static void kill_created(void *user, const scripted_request *request, scripted_reply *reply) {
  (void)request;
  killing *this = user;
  if (++this->created > 1 && this->dying)
    *reply = (scripted_reply){409, .body = "{\"message\":\"not running\"}"};
}

static void kill_ended(void *user, const scripted_request *request, scripted_reply *reply) {
  (void)request;
  if (((killing *)user)->created > 1) reply->body = ENDED("3");
}

static void kill_inspected(void *user, const scripted_request *request, scripted_reply *reply) {
  (void)request;
  killing *this = user;
  if (++this->inspected > 2 && this->dying) reply->body = "{\"State\":{\"Running\":false}}";
}

/* Something that can be run in its place proves that the container is not the reason. */
static void test_killed(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    for (int dying = 0; dying < 2; dying++) {
      killing sandbox = {.dying = dying};
      const scripted_rule rules[] = {
          {.method = "POST",
           .path = CREATE,
           .answer = kill_created,
           .user = &sandbox,
           .reply = CREATED},
          {.path = "/exec/aaaa/start", .reply = {RAW(""), .end = SCRIPTED_CLOSE}},
          {.path = "/exec/aaaa/json",
           .answer = kill_ended,
           .user = &sandbox,
           .reply = {200, .body = ENDED("137")}},
          {.path = "/containers/" CONTAINER "/json",
           .answer = kill_inspected,
           .user = &sandbox,
           .reply = {200, .body = RUNNING_CONTAINER}},
      };
      fixture *this = begin_shell(rules, sizeof rules / sizeof *rules);
      cdam_error err;
      cdam_status status = calls[i].run(&this->session, &err);
      if (status != (dying ? CDAM_ERR_EXITED : CDAM_ERR_EXEC))
        fail_msg("%s, %d: %s: %s", calls[i].name, dying, cdam_status_name(status), err.message);
      assert_int_equal(sandbox.created, 2);
      assert_int_equal(sandbox.inspected, dying ? 3 : 1);
      finish(this);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each),
      cmocka_unit_test(test_cut_anywhere),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_killed),
  };
  return cmocka_run_group_tests_name("file_shell", tests, NULL, NULL);
}
