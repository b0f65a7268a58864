/* SPDX-License-Identifier: Apache-2.0 */
/* Trees, and an agent that lies: it breaks the link, and leaves nothing half here. What an entry
 * may be is tested without one (unit/test_tree_local.c). */
#include "../scratch.h"
#include "test_file_agent.h"

#include <sys/stat.h>

#include <cofferdam/tree.h>

#define SCRIPT(name) static void name(agent *a, const MSG(ToAgent) * m)

typedef struct lie {
  const char *name;
  agent_script script;
  cdam_status status;
  const char *message; /* of the error */
} lie;

static int make_trees(void **unused) {
  if (make_scratch(unused) != 0) return -1;
  return here("mkdir from && echo content >from/file && head -c 3000000 /dev/zero >from/large && "
              "tar -C from -cf a.tar file large");
}

static void say_path(agent *a, uint32_t channel, int type, const char *path, uint64_t size) {
  MSG(Entry) entry = entry_of(type);
  entry.path = binary(path, strlen(path));
  entry.size = size;
  say_entry(a, channel, entry);
}

/* ---- down ---- */

SCRIPT(nothing) {
  say_done(a, m->channel);
}
SCRIPT(status_instead) {
  MSG(Status) status = COFFERDAM__AGENT__V1__STATUS__INIT;
  SAY(a, m->channel, status, STATUS, &status);
}
SCRIPT(outside) {
  say_path(a, m->channel, TYPE(DIRECTORY), "", 0);
  say_path(a, m->channel, TYPE(FILE), "../evil", 1);
  say_data(a, m->channel, "x", 1, true);
}
SCRIPT(behind_its_own_link) {
  MSG(Entry) entry = entry_of(TYPE(LINK));
  entry.path = binary("door", 4);
  entry.target = binary("/tmp", 4);
  say_path(a, m->channel, TYPE(DIRECTORY), "", 0);
  say_entry(a, m->channel, entry);
  say_path(a, m->channel, TYPE(FILE), "door/evil", 1);
}
SCRIPT(not_left) {
  say_path(a, m->channel, TYPE(DIRECTORY), "", 0);
  say_path(a, m->channel, TYPE(DIRECTORY), "d", 0);
  say_path(a, m->channel, TYPE(LEAVE_DIRECTORY), "d", 0);
  say_done(a, m->channel);
}
SCRIPT(half_a_file) {
  say_path(a, m->channel, TYPE(DIRECTORY), "", 0);
  say_path(a, m->channel, TYPE(FILE), "f", 10);
  say_data(a, m->channel, "x", 1, false);
  say_done(a, m->channel);
}
SCRIPT(more_than_it_has) {
  say_path(a, m->channel, TYPE(FILE), "", 3);
  say_data(a, m->channel, "four", 4, true);
  say_done(a, m->channel);
}
SCRIPT(hard_link_to_nothing) {
  MSG(Entry) entry = entry_of(TYPE(HARD_LINK));
  entry.path = binary("x", 1);
  entry.target = binary("../from/file", 12);
  say_path(a, m->channel, TYPE(DIRECTORY), "", 0);
  say_entry(a, m->channel, entry);
}
SCRIPT(device) {
  say_path(a, m->channel, TYPE(DIRECTORY), "", 0);
  say_path(a, m->channel, TYPE(BLOCK_DEVICE), "sda", 0);
}
SCRIPT(error_in_a_file) {
  MSG(Done) done = COFFERDAM__AGENT__V1__DONE__INIT;
  MSG(Error) error = COFFERDAM__AGENT__V1__ERROR__INIT;
  say_path(a, m->channel, TYPE(DIRECTORY), "", 0);
  say_path(a, m->channel, TYPE(FILE), "f", 10);
  say_data(a, m->channel, "x", 1, false);
  error.code = CODE(SYSTEM);
  error.step = COFFERDAM__AGENT__V1__STEP__STEP_READ;
  error.system_errno = EIO;
  error.path = binary("f\x1b[0m\n", 6);
  done.error = &error;
  SAY(a, m->channel, done, DONE, &done);
}
SCRIPT(gone_in_a_file) {
  say_path(a, m->channel, TYPE(DIRECTORY), "", 0);
  say_path(a, m->channel, TYPE(FILE), "f", 10);
  say_data(a, m->channel, "x", 1, false);
  shutdown(a->fd, SHUT_RDWR);
}
SCRIPT(silent_in_a_file) {
  if (m->body_case != TO(DOWNLOAD)) return;
  say_path(a, m->channel, TYPE(DIRECTORY), "", 0);
  say_path(a, m->channel, TYPE(FILE), "f", 10);
  say_data(a, m->channel, "x", 1, false);
}

static const lie down[] = {
    {"nothing", nothing, CDAM_ERR_AGENT, "nothing at all"},
    {"status_instead", status_instead, CDAM_ERR_AGENT, "no part of a tree"},
    {"outside", outside, CDAM_ERR_AGENT, "a bad name"},
    {"behind_its_own_link", behind_its_own_link, CDAM_ERR_AGENT, "a bad name"},
    {"not_left", not_left, CDAM_ERR_AGENT, "not left"},
    {"half_a_file", half_a_file, CDAM_ERR_AGENT, "without its end"},
    {"more_than_it_has", more_than_it_has, CDAM_ERR_AGENT, "more content"},
    {"hard_link_to_nothing", hard_link_to_nothing, CDAM_ERR_AGENT, "a hard link to nothing"},
    {"device", device, CDAM_ERR_AGENT, "a type that is not copied"},
    {"error_in_a_file", error_in_a_file, CDAM_ERR_FILE, "(at \"f\\x1b[0m\\x0a\")"},
    {"gone_in_a_file", gone_in_a_file, CDAM_ERR_AGENT, ""},
    {"silent_in_a_file", silent_in_a_file, CDAM_ERR_AGENT, "did not answer"},
};

/* Of the client; what is waited for in vain should not take long. */
static unsigned patience(const lie *l) {
  return strcmp(l->message, "did not answer") == 0 ? 300 : 5000;
}

static void expect(const lie *l, const char *what, cdam_status status, const cdam_error *err) {
  if (status != l->status || err->code != status || !strstr(err->message, l->message))
    fail_msg("%s %s: %s: %s", what, l->name, cdam_status_name(status), err->message);
}

static void downloads(void **unused) {
  (void)unused;
  for (size_t i = 0; i < sizeof down / sizeof *down; i++) {
    fixture *this = begin(down[i].script, patience(&down[i]));
    cdam_tree_result result = {.entries = 77};
    cdam_error err;
    here("rm -rf world && mkdir world && cp -r from world");
    cdam_status status =
        cdam_tree_download(&this->session, "x", in_scratch("world/to"), NULL, &result, &err);
    expect(&down[i], "to a directory:", status, &err);
    assert_true(result.entries < 77);
    assert_int_equal(here("test -z \"$(find world -name '.cofferdam-*' -o -name evil -o -name f)\" "
                          "&& diff -r from world/from"),
                     0);
    end(this);
  }
}

static bool count_bytes(void *user, const void *bytes, size_t length) {
  (void)bytes;
  *(size_t *)user += length;
  return true;
}

static void archives(void **unused) {
  (void)unused;
  for (size_t i = 0; i < sizeof down / sizeof *down; i++) {
    if (down[i].script == hard_link_to_nothing) continue; /* it is only a text there */
    fixture *this = begin(down[i].script, patience(&down[i]));
    size_t length = 0;
    const cdam_sink sink = {.write = count_bytes, .user = &length};
    cdam_error err;
    cdam_status status = cdam_tree_download_tar(&this->session, "x", &sink, NULL, NULL, &err);
    expect(&down[i], "to an archive:", status, &err);
    end(this);
  }
}

/* ---- up ---- */

/* To each request and at the end; not to what comes between. */
#define ONLY(NAME)                                                                                 \
  if (m->body_case != TO(NAME)) return

SCRIPT(done_at_once) {
  ONLY(UPLOAD);
  say_done(a, m->channel);
}
SCRIPT(done_in_the_middle) {
  ONLY(DATA);
  say_done(a, m->channel);
}
SCRIPT(entry_in_answer) {
  ONLY(UPLOAD);
  say_entry(a, m->channel, entry_of(TYPE(FILE)));
}
SCRIPT(refused_with_a_path) {
  MSG(Done) done = COFFERDAM__AGENT__V1__DONE__INIT;
  MSG(Error) error = COFFERDAM__AGENT__V1__ERROR__INIT;
  ONLY(DATA);
  error.code = CODE(SYSTEM);
  error.step = COFFERDAM__AGENT__V1__STEP__STEP_CREATE;
  error.system_errno = EEXIST;
  error.path = binary("file", 4);
  done.error = &error;
  SAY(a, m->channel, done, DONE, &done);
}
SCRIPT(gone_in_the_middle) {
  ONLY(DATA);
  shutdown(a->fd, SHUT_RDWR);
}
SCRIPT(silent) {
  (void)a, (void)m;
}

static const lie up[] = {
    {"done_at_once", done_at_once, CDAM_ERR_AGENT, "it is done, and it is not"},
    {"done_in_the_middle", done_in_the_middle, CDAM_ERR_AGENT, "it is done, and it is not"},
    {"entry_in_answer", entry_in_answer, CDAM_ERR_AGENT, "not asked for"},
    {"refused_with_a_path", refused_with_a_path, CDAM_ERR_FILE,
     "cannot copy to \"x\": file exists (at \"file\")"},
    {"gone_in_the_middle", gone_in_the_middle, CDAM_ERR_AGENT, ""},
    {"silent", silent, CDAM_ERR_AGENT, "did not answer"},
};

static void uploads(void **unused) {
  (void)unused;
  for (size_t i = 0; i < sizeof up / sizeof *up; i++) {
    fixture *this = begin(up[i].script, patience(&up[i]));
    cdam_error err;
    cdam_status status =
        cdam_tree_upload(&this->session, in_scratch("from"), "x", NULL, NULL, &err);
    expect(&up[i], "from a directory:", status, &err);
    end(this);
  }
}

/* ---- up from an archive: what is there is asked for ---- */

SCRIPT(two_tops) {
  ONLY(STAT);
  say_entry(a, m->channel, entry_of(TYPE(DIRECTORY)));
  say_entry(a, m->channel, entry_of(TYPE(DIRECTORY)));
}
SCRIPT(data_for_a_top) {
  ONLY(STAT);
  say_data(a, m->channel, "x", 1, true);
}
SCRIPT(gone_when_asked) {
  ONLY(STAT);
  shutdown(a->fd, SHUT_RDWR);
}
SCRIPT(refused_when_asked) {
  MSG(Done) done = COFFERDAM__AGENT__V1__DONE__INIT;
  MSG(Error) error = COFFERDAM__AGENT__V1__ERROR__INIT;
  ONLY(STAT);
  error.code = CODE(OUTSIDE);
  done.error = &error;
  SAY(a, 1, done, DONE, &done); /* the upload, while it waits for the answer */
  SAY(a, m->channel, done, DONE, &done);
}

static const lie asked[] = {
    {"two_tops", two_tops, CDAM_ERR_AGENT, "not asked for"},
    {"data_for_a_top", data_for_a_top, CDAM_ERR_AGENT, "not asked for"},
    {"gone_when_asked", gone_when_asked, CDAM_ERR_AGENT, ""},
    {"refused_when_asked", refused_when_asked, CDAM_ERR_OUTSIDE, "leads out"},
    {"silent", silent, CDAM_ERR_AGENT, "did not answer"},
    {"done_at_once", done_at_once, CDAM_ERR_AGENT, "it is done, and it is not"},
    {"entry_in_answer", entry_in_answer, CDAM_ERR_AGENT, "not asked for"},
};

static void archives_up(void **unused) {
  (void)unused;
  for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
    fixture *this = begin(asked[i].script, patience(&asked[i]));
    FILE *file = fopen(in_scratch("a.tar"), "r");
    const cdam_source source = {.from_fd = true, .fd = fileno(file)};
    cdam_error err;
    cdam_status status = cdam_tree_upload_tar(&this->session, &source, "x", NULL, NULL, &err);
    expect(&asked[i], "from an archive:", status, &err);
    fclose(file);
    end(this);
  }
}

/* ---- credit ---- */

/* Counts what comes, and gives no more credit than this says. */
SCRIPT(miserly) {
  if (m->body_case == TO(DATA) && m->data->data.len) say_credit(a, m->channel, 1000);
  if (m->body_case == TO(ENTRY)) say_credit(a, m->channel, 10);
  if (m->body_case == TO(DATA) && m->data->end && m->data->data.len == 0) say_done(a, m->channel);
}

static void little_credit(void **unused) {
  (void)unused;
  fixture *this = begin(miserly, 300);
  this->agent.credit = 100;
  cdam_tree_result result;
  cdam_error err;
  here("mkdir few && head -c 20000 /dev/zero >few/file && touch few/a few/b");
  /* Each message costs more than it is given back for: it comes to a halt, and says so. */
  cdam_status status =
      cdam_tree_upload(&this->session, in_scratch("few"), "x", NULL, &result, &err);
  assert_int_equal(status, CDAM_ERR_AGENT);
  assert_true(this->agent.taken <= 20000);
  end(this);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(downloads),   cmocka_unit_test(archives),      cmocka_unit_test(uploads),
      cmocka_unit_test(archives_up), cmocka_unit_test(little_credit),
  };
  return cmocka_run_group_tests(tests, make_trees, remove_scratch);
}
