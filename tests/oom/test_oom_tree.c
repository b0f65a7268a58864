/* SPDX-License-Identifier: Apache-2.0 */
/* Trees, with each allocation made to fail in turn: an error like any other, nothing is lost, and
 * no half file stays. Archives are not in it: libarchive itself ends the process at some of its
 * own. */
#include <dirent.h>

#include <cofferdam/tree.h>

#include "agent_play.h"

#define STRIDE 7

static char scratch[64], from[80], to[80];

typedef struct play {
  agent_play in;
  cdam_tree_result up, down;
} play;

/* ---- an agent that does as it is told ---- */

static bool in_file;

static void say_path(agent *a, uint32_t channel, int type, const char *path, const char *target) {
  MSG(Entry) entry = entry_of(type);
  entry.path = binary(path, strlen(path));
  entry.target = binary(target, strlen(target));
  entry.size = type == TYPE(FILE) ? 3 : 0;
  entry.links = 2;
  say_entry(a, channel, entry);
}

static void say_tree(agent *a, uint32_t channel) {
  say_path(a, channel, TYPE(DIRECTORY), "", "");
  say_path(a, channel, TYPE(FILE), "f", "");
  say_data(a, channel, "abc", 3, true);
  say_path(a, channel, TYPE(HARD_LINK), "g", "f");
  say_path(a, channel, TYPE(LINK), "l", "f");
  say_path(a, channel, TYPE(LEAVE_DIRECTORY), "", "");
}

static void obey(agent *a, const MSG(ToAgent) * m) {
  switch (m->body_case) {
  case TO(DOWNLOAD):
    say_tree(a, m->channel);
    break;
  case TO(UPLOAD):
    in_file = false;
    return;
  case TO(ENTRY):
    in_file = m->entry->type == TYPE(FILE);
    return;
  case TO(DATA):
    if (in_file && m->data->end) {
      in_file = false;
      return;
    }
    if (in_file) return;
    break;
  default:
    break;
  }
  say_done(a, m->channel);
}

/* ---- the calls ---- */

static const cdam_tree_options options = {.replace = true};

static cdam_status run_blocking(void *context, cdam_error *err) {
  play *p = context;
  cdam_status status = open_session(&p->in, err);
  if (status == CDAM_OK)
    status = cdam_tree_upload(&p->in.session, from, "x", &options, &p->up, err);
  if (status == CDAM_OK)
    status = cdam_tree_download(&p->in.session, "x", to, &options, &p->down, err);
  return status;
}

static void sent(void *user, cdam_status status, const cdam_tree_result *result,
                 const cdam_error *err) {
  ((play *)user)->up = *result;
  note(&((play *)user)->in, status, err);
}

static void received(void *user, cdam_status status, const cdam_tree_result *result,
                     const cdam_error *err) {
  ((play *)user)->down = *result;
  note(&((play *)user)->in, status, err);
}

static cdam_status run_loop(void *context, cdam_error *err) {
  play *p = context;
  cdam_status status = open_loop(&p->in, err);
  if (status == CDAM_OK)
    status =
        cdam_tree_upload_start(p->in.loop, &p->in.session, from, "x", &options, sent, p, NULL, err);
  if (status == CDAM_OK)
    status = cdam_tree_download_start(p->in.loop, &p->in.session, "x", to, &options, received, p,
                                      NULL, err);
  return run_to_end(&p->in, status, err);
}

/* ---- what came out ---- */

static bool has_temporaries(void) {
  bool found = false;
  DIR *directory = opendir(to);
  for (struct dirent *entry; directory && (entry = readdir(directory));)
    found = found || strncmp(entry->d_name, ".cofferdam-", 11) == 0;
  if (directory) closedir(directory);
  return found;
}

static const char *finish(void *context, cdam_status status, bool once) {
  (void)once;
  play *p = context;
  const char *wrong = NULL;
  bool whole = p->up.entries == 5 && p->up.bytes == 6 && p->down.entries == 4 && p->down.bytes == 3;
  if (status == CDAM_OK && !whole) wrong = "not everything";
  close_session(&p->in);
  *p = (play){.in.fixture = p->in.fixture};
  return has_temporaries() ? "half a file" : wrong;
}

static void exhaust_trees(const char *name, cdam_status (*run)(void *, cdam_error *)) {
  play p = {.in.fixture = begin(obey, 5000)};
  exhaust(&(exhaust_case){name, run, finish, &p, true, STRIDE});
  end(p.in.fixture);
}

static void test_blocking(void **unused) {
  (void)unused;
  exhaust_trees("trees", run_blocking);
}

static void test_loop(void **unused) {
  (void)unused;
  exhaust_trees("trees in a loop", run_loop);
}

static int shell(const char *text) {
  char command[256];
  snprintf(command, sizeof command, "cd %s && %s", scratch, text);
  return system(command);
}

static int make_scratch(void **unused) {
  (void)unused;
  snprintf(scratch, sizeof scratch, "/tmp/cofferdam-oom-XXXXXX");
  if (!mkdtemp(scratch)) return -1;
  snprintf(from, sizeof from, "%s/from", scratch);
  snprintf(to, sizeof to, "%s/to", scratch);
  return shell("mkdir -p from/d && printf abcdef >from/f && ln from/f from/g && ln -s f from/l");
}

static int remove_scratch(void **unused) {
  (void)unused;
  return shell("rm -rf from to && rmdir \"$PWD\"");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocking), cmocka_unit_test(test_loop)};
  return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
