/* SPDX-License-Identifier: Apache-2.0 */
/* Files by the engine's exec, with each allocation made to fail in turn. */
#include "../faults/file_shell.h"
#include "calls.h"
#include "exhaust.h"

typedef struct play {
  fixture *fixture;
  cdam_session session;
  cdam_file_list *one, *listing;
  char *bytes;
  size_t length;
  cdam_tree_result result;
} play;

static cdam_status open_session(play *p, cdam_error *err) {
  p->session = (cdam_session){.state = &p->fixture->state};
  return open_client(p->fixture->engine, 0, &p->session.client, err);
}

static cdam_status run_files(void *context, cdam_error *err) {
  play *p = context;
  const cdam_source source = {.bytes = "hello", .length = 5};
  cdam_status status = open_session(p, err);
  if (status == CDAM_OK) status = cdam_file_stat(&p->session, "l", false, &p->one, err);
  if (status == CDAM_OK) status = cdam_file_list_directory(&p->session, "d", &p->listing, err);
  if (status == CDAM_OK) status = cdam_file_write(&p->session, "f", &source, NULL, err);
  if (status == CDAM_OK) status = cdam_file_read(&p->session, "f", 100, &p->bytes, &p->length, err);
  if (status == CDAM_OK) status = cdam_file_rename(&p->session, "f", "g", false, err);
  return status;
}

static void close_session(play *p) {
  cdam_file_list_free(p->one);
  cdam_file_list_free(p->listing);
  free(p->bytes);
  cdam_session_drop_links(&p->session);
  cdam_client_free(p->session.client);
  fixture *kept = p->fixture;
  *p = (play){.fixture = kept};
}

static const char *finish_files(void *context, cdam_status status, bool once) {
  play *p = context;
  const char *wrong = NULL;
  (void)once;
  if (status == CDAM_OK && cdam_file_list_count(p->listing) != 2) wrong = "another listing";
  if (status == CDAM_OK && strcmp(cdam_file_list_get(p->one, 0)->target, "text") != 0)
    wrong = "another link";
  if (status == CDAM_OK && strcmp(p->bytes, "hello") != 0) wrong = "another content";
  close_session(p);
  return wrong;
}

static char directory[32];
static const cdam_tree_options merging = {.replace = true};

static cdam_status run_trees(void *context, cdam_error *err) {
  play *p = context;
  cdam_status status = open_session(p, err);
  if (status == CDAM_OK)
    status = cdam_tree_download(&p->session, "d", directory, &merging, &p->result, err);
  if (status == CDAM_OK) status = cdam_tree_upload(&p->session, directory, "d", NULL, NULL, err);
  return status;
}

static const char *finish_trees(void *context, cdam_status status, bool once) {
  play *p = context;
  const char *wrong = NULL;
  (void)once;
  if (status == CDAM_OK && p->result.entries != 3) wrong = "another tree";
  close_session(p);
  return wrong;
}

static void exhaust_with(const char *name, cdam_status (*run_it)(void *, cdam_error *),
                         const char *(*finish)(void *, cdam_status, bool)) {
  shell sandbox = {0};
  const scripted_rule rules[] = SHELL_RULES(&sandbox);
  play p = {.fixture = BEGIN(rules, 2000)};
  p.fixture->state.message.options = &shell_options;
  exhaust(&(exhaust_case){name, run_it, finish, &p, true, 7});
  end(p.fixture);
}

static void test_files(void **state) {
  (void)state;
  exhaust_with("files by the engine", run_files, finish_files);
}

static void test_trees(void **state) {
  (void)state;
  char command[64];
  snprintf(directory, sizeof directory, "/tmp/cofferdam-oom-XXXXXX");
  assert_non_null(mkdtemp(directory));
  exhaust_with("trees by the engine", run_trees, finish_trees);
  snprintf(command, sizeof command, "rm -rf %s", directory);
  assert_int_equal(system(command), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_files), cmocka_unit_test(test_trees)};
  return cmocka_run_group_tests_name("oom_file_engine", tests, NULL, NULL);
}
