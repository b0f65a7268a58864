/* SPDX-License-Identifier: Apache-2.0 */
/* Files without the agent, where they are not as with it (the tests of those run without it, too):
 * a shell that lies, an image without one, a container that goes, what is left running. */
#include "test_file_support.h"

#include <sys/stat.h>

#include <cofferdam/tree.h>

#define LIAR "cofferdam-file-lies:latest"
#define SHELLESS "cofferdam-no-shell:latest"
#define ENTRY "e81a4 0 0 3 1 1 1 1 ./f/\\n"
#define DIRECTORY "e41ed 0 0 3 1 1 1 1 ./d/\\n"

static char scratch[64];

static void import(const char *script, const char *image) {
  char command[2048];
  snprintf(command, sizeof command,
           "cd %s && mkdir -p bin && cp /bin/busybox bin/busybox && ln -sf busybox bin/tail && "
           "%s tar -c bin | docker import - %s >/dev/null && rm -rf bin",
           scratch, script, image);
  assert_int_equal(system(command), 0);
}

static int begin(void **state) {
  (void)state;
  require_engine();
  setenv("COFFERDAM_TEST_NO_AGENT", "1", 1);
  snprintf(scratch, sizeof scratch, "/tmp/cofferdam-files-XXXXXX");
  assert_non_null(mkdtemp(scratch));
  import("", SHELLESS);
  /* Called as sh -c SCRIPT sh MARKER ...; with little behind that, it is no request for files. */
  import("printf '#!/bin/busybox sh\\n[ $# -gt 12 ] || exec /bin/busybox sh \"$@\"\\n"
         "m=$4\\n. /lie\\n' >bin/sh && chmod 755 bin/sh &&",
         LIAR);
  client = engine_client();
  return 0;
}

static int finish(void **state) {
  (void)state;
  cdam_client_free(client);
  try_docker("rmi " SHELLESS " " LIAR " >/dev/null 2>&1");
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", scratch);
  return system(command);
}

static void create_from(const char *image, cdam_profile profile, const char *user) {
  cdam_options *options = options_with(CDAM_NETWORK_MODE_NONE);
  cdam_error err;
  assert_ok(cdam_options_set_image(options, image, &err), &err);
  if (profile) cdam_options_set_profile(options, profile);
  if (user) assert_ok(cdam_options_set_user(options, user, &err), &err);
  assert_ok(cdam_create(client, options, &session, &err), &err);
  assert_false(cdam_session_has_agent(session));
  cdam_options_free(options);
}

static void end(void) {
  end_session(client, session);
}

/* ---- lies ---- */

static cdam_status do_stat(cdam_error *err) {
  cdam_file_list *list;
  cdam_status status = cdam_file_stat(session, "f", false, &list, err);
  cdam_file_list_free(list);
  return status;
}

static cdam_status do_list(cdam_error *err) {
  cdam_file_list *list;
  cdam_status status = cdam_file_list_directory(session, "f", &list, err);
  cdam_file_list_free(list);
  return status;
}

static cdam_status do_read(cdam_error *err) {
  const cdam_sink nowhere = {0};
  return cdam_file_read_to(session, "f", 0, 2, &nowhere, err);
}

static cdam_status do_write(cdam_error *err) {
  const cdam_source source = {.bytes = "abc", .length = 3};
  return cdam_file_write(session, "f", &source, NULL, err);
}

static cdam_status do_download(cdam_error *err) {
  char local[96], command[128];
  snprintf(local, sizeof local, "%s/down", scratch);
  snprintf(command, sizeof command, "rm -rf %s", local);
  assert_int_equal(system(command), 0);
  return cdam_tree_download(session, "f", local, NULL, NULL, err);
}

static cdam_status do_upload(cdam_error *err) {
  char local[96];
  snprintf(local, sizeof local, "%s", scratch);
  return cdam_tree_upload(session, local, "f", NULL, NULL, err);
}

typedef struct lie {
  const char *script;
  cdam_status (*call)(cdam_error *err);
  cdam_status expected;
  const char *message;
} lie;

#define NONSENSE CDAM_ERR_NO_AGENT, "does not work as such"
#define SAYS(text) "printf '" text "'"

static const lie lies[] = {
    {"echo hello", do_stat, NONSENSE},
    {"exit 3", do_stat, CDAM_ERR_EXEC, "status 3"},
    {"kill -9 $$", do_read, CDAM_ERR_EXEC, "status 137"},
    {"exec /bin/busybox yes", do_list, NONSENSE},
    {"exec /bin/busybox yes", do_download, NONSENSE},
    {"printf '!\\n'; exec /bin/busybox yes", do_write, NONSENSE},
    {SAYS(".\\n"), do_stat, NONSENSE},
    {SAYS(".\\n"), do_read, NONSENSE},
    {SAYS(".\\n"), do_write, NONSENSE},
    {SAYS(".\\n"), do_download, NONSENSE},
    {SAYS(ENTRY ".\\n"), do_stat, CDAM_OK, ""},
    {SAYS(ENTRY ENTRY ".\\n"), do_stat, NONSENSE},
    {SAYS(ENTRY ".\\n"), do_read, NONSENSE},
    {SAYS("e81a4 0 0 -1 1 1 1 1 ./f/\\n.\\n"), do_stat, NONSENSE},
    {SAYS("e81a4 0 0 99999999999999999999 1 1 1 1 ./f/\\n.\\n"), do_stat, NONSENSE},
    {SAYS("e81a4 0 4294967296 1 1 1 1 1 ./f/\\n.\\n"), do_stat, NONSENSE},
    {SAYS("e81a4 0 0 1 1 1 1 ./f/\\n.\\n"), do_stat, NONSENSE},
    {SAYS("e81a4 0 0 1 1 1 1 1 f/g/\\n.\\n"), do_stat, NONSENSE},
    {SAYS("e81a4 0 0 1 1 1 1 1 ./../\\n.\\n"), do_list, NONSENSE},
    {SAYS("e81a4 0 0 1 1 1 1 1 .//\\n.\\n"), do_list, NONSENSE},
    {SAYS("e81a4 0 0 1 1 1 1 1 ./f/g\\n.\\n"), do_list, NONSENSE},
    {SAYS("u\\n.\\n"), do_list, NONSENSE},
    {SAYS("c\\nabc%s.\\n' $m '"), do_read, NONSENSE},
    {SAYS(ENTRY "c\\nabc%s.\\n' $m '"), do_read, NONSENSE},
    {SAYS(ENTRY "c\\nab%s.\\n' $m '"), do_read, CDAM_OK, ""},
    {SAYS(ENTRY "c\\na"), do_read, CDAM_ERR_EXEC, "status 0"},
    {SAYS(DIRECTORY "c\\na%s.\\n' $m '"), do_read, NONSENSE},
    {SAYS("!\\nls: f: Permission denied%s' $m '"), do_stat, CDAM_ERR_FILE, "input/output"},
    {SAYS("!\\nPermission denied%s' $m '"), do_stat, CDAM_ERR_FILE, "permission denied"},
    {SAYS("!\\noutside%s' $m '"), do_stat, CDAM_ERR_OUTSIDE, "leads out"},
    {SAYS("!\\ncut%s' $m '"), do_stat, CDAM_ERR_PROTOCOL, "cut off"},
    {SAYS("!\\nlacks stat%s' $m '"), do_stat, CDAM_ERR_NO_AGENT, "no \"stat\""},
    {SAYS(DIRECTORY ".\\n"), do_download, NONSENSE},
    {SAYS(DIRECTORY "u\\nu\\n.\\n"), do_download, NONSENSE},
    {SAYS(DIRECTORY "u\\n" ENTRY ".\\n"), do_download, NONSENSE},
    {SAYS(DIRECTORY "e81a4 0 0 1 1 1 1 1 ./../\\n.\\n"), do_download, NONSENSE},
    {SAYS(DIRECTORY ENTRY "c\\nabcd%su\\n.\\n' $m '"), do_download, NONSENSE},
    {SAYS(DIRECTORY ENTRY "c\\nabc%su\\n.\\n' $m '"), do_download, CDAM_OK, ""},
    {"i=0; while [ $i -lt 200 ]; do printf '" DIRECTORY "'; i=$((i+1)); done", do_download,
     NONSENSE},
};

static void tell_lie(const char *script) {
  const char *const argv[] = {"/bin/busybox", "sh",   "-c", "printf '%s\\n' \"$1\" >/lie",
                              "sh",           script, NULL};
  free(output_of(session, argv));
}

static void test_lies(void **state) {
  (void)state;
  create_from(LIAR, CDAM_PROFILE_UNSET, NULL);
  for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
    cdam_error err = {0};
    tell_lie(lies[i].script);
    cdam_status status = lies[i].call(&err);
    if (status != lies[i].expected || !strstr(err.message, lies[i].message))
      fail_msg("%zu, %s: %s: %s", i, lies[i].script, cdam_status_name(status), err.message);
  }
  end();
}

static void test_silence(void **state) {
  (void)state;
  cdam_client_config *config;
  cdam_client *other = client;
  cdam_error err;
  create_from(LIAR, CDAM_PROFILE_UNSET, NULL);
  tell_lie("exec /bin/busybox sleep 1000");
  assert_ok(cdam_client_config_new(&config, &err), &err);
  cdam_client_config_set_timeout(config, 2000);
  assert_ok(cdam_client_new(config, &client, &err), &err);
  cdam_client_config_free(config);
  cdam_session *resumed;
  assert_ok(cdam_resume(client, cdam_session_state(session), NULL, &resumed, &err), &err);
  cdam_session_free(session);
  session = resumed;
  assert_int_equal(do_stat(&err), CDAM_ERR_TIMEOUT);
  assert_message(&err, "shell did not answer");
  assert_int_equal(do_read(&err), CDAM_ERR_TIMEOUT);
  end();
  cdam_client_free(client);
  client = other;
}

static void test_no_shell(void **state) {
  (void)state;
  cdam_error err;
  cdam_status (*const calls[])(cdam_error *) = {do_stat,  do_list,     do_read,
                                                do_write, do_download, do_upload};
  create_from(SHELLESS, CDAM_PROFILE_UNSET, NULL);
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    assert_int_equal(calls[i](&err), CDAM_ERR_NO_AGENT);
    assert_message(&err, "no /bin/sh");
  }
  end();
}

/* ---- other sandboxes ---- */

static void use_it(void) {
  cdam_error err;
  char local[96];
  struct stat info;
  put("f", "hello");
  assert_content("f", "hello");
  put_with("f", "+", 1, &(cdam_file_write_options){.mode = CDAM_FILE_APPEND, .sync = true});
  assert_content("f", "hello+");
  assert_ok(cdam_file_make_directory(session, "d/e", 0, true, &err), &err);
  assert_int_equal(count_of(""), 2);
  assert_ok(cdam_file_rename(session, "f", "d/e/f", true, &err), &err);
  snprintf(local, sizeof local, "%s/used", scratch);
  assert_ok(cdam_tree_download(session, "d", local, NULL, NULL, &err), &err);
  assert_ok(cdam_tree_upload(session, local, "again", NULL, NULL, &err), &err);
  assert_content("again/e/f", "hello+");
  strncat(local, "/e/f", sizeof local - strlen(local) - 1);
  assert_int_equal(stat(local, &info), 0);
  assert_int_equal(info.st_size, 6);
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s/used", scratch);
  assert_int_equal(system(command), 0);
}

/* A root that is read-only, a workspace in memory, no capabilities: what an archive of the engine's
 * neither sees nor can write. */
static void test_hardened(void **state) {
  (void)state;
  create_from(TEST_IMAGE, CDAM_PROFILE_HARDENED, NULL);
  use_it();
  cdam_error err;
  const cdam_source source = {.bytes = "x", .length = 1};
  const cdam_file_write_options owned = {.set_owner = true};
  assert_fails(cdam_file_write(session, "mine", &source, &owned, &err), CDAM_ERR_FILE, EPERM, &err);
  assert_false(is_there("mine"));
  assert_int_equal(count_of(""), 2);
  assert_fails(cdam_file_write(session, "/etc/passwd", &source, NULL, &err), CDAM_ERR_OUTSIDE, 0,
               &err);
  end();
}

static void test_permissions(void **state) {
  (void)state;
  cdam_error err;
  cdam_file_list *list;
  char *bytes;
  size_t length;
  create_from(TEST_IMAGE, CDAM_PROFILE_UNSET, "1000:1000");
  docker("exec -u 0 %s mkdir -m 777 /workspace", container_of(session));
  use_it();
  docker("exec -u 0 -w /workspace %s sh -c 'echo x >r; mkdir l; chmod 600 r; chmod 700 l'",
         container_of(session));
  assert_fails(cdam_file_read(session, "r", 9, &bytes, &length, &err), CDAM_ERR_FILE, EACCES, &err);
  assert_fails(cdam_file_list_directory(session, "l", &list, &err), CDAM_ERR_FILE, EACCES, &err);
  assert_fails(cdam_file_stat(session, "l/x", false, &list, &err), CDAM_ERR_FILE, EACCES, &err);
  assert_fails(cdam_file_make_directory(session, "l/x", 0, false, &err), CDAM_ERR_FILE, EACCES,
               &err);
  end();
}

/* ---- what is weaker ---- */

static void test_weaker(void **state) {
  (void)state;
  cdam_error err;
  cdam_file_watch *watch;
  create_from(TEST_IMAGE, CDAM_PROFILE_UNSET, NULL);
  put("f", "x");
  const cdam_file_attributes times = {.set_mtime = true, .mtime = 1600000000, .mtime_ns = 999};
  assert_ok(cdam_file_set_attributes(session, "f", &times, &err), &err);
  assert_int_equal(info_of("f", false).mtime, 1600000000);
  assert_int_equal(info_of("f", false).mtime_ns, 0);
  assert_int_equal(cdam_file_watch_new(session, "f", &watch, &err), CDAM_ERR_NO_AGENT);
  end();
}

/* ---- the end of it ---- */

static bool refuse(void *user, const void *bytes, size_t length) {
  (void)user, (void)bytes, (void)length;
  return false;
}

/* What was given up has ended, and not by itself: the file is endless for its reader. */
static void test_nothing_is_left(void **state) {
  (void)state;
  cdam_error err;
  create_from(TEST_IMAGE, CDAM_PROFILE_UNSET, NULL);
  put("f", "x");
  shell("dd if=/dev/null of=f bs=1 seek=8000000000 count=0 2>/dev/null");
  const cdam_sink sink = {.write = refuse};
  assert_int_equal(cdam_file_read_to(session, "f", 0, 0, &sink, &err), CDAM_ERR_IO);
  assert_string_equal(shell("ps | grep -c '[c]at ./f' || true"), "0");
  end();
}

static void test_the_container_goes(void **state) {
  (void)state;
  cdam_error err;
  create_from(TEST_IMAGE, CDAM_PROFILE_UNSET, NULL);
  docker("pause %s", container_of(session));
  assert_int_equal(do_stat(&err), CDAM_ERR_PAUSED);
  docker("unpause %s", container_of(session));
  docker("kill %s", container_of(session));
  assert_int_equal(do_write(&err), CDAM_ERR_EXITED);
  docker("rm -f %s", container_of(session));
  assert_int_equal(do_list(&err), CDAM_ERR_NOT_FOUND);
  cdam_session_free(session);
}

int main(void) {
  require_engine();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lies),
      cmocka_unit_test(test_silence),
      cmocka_unit_test(test_no_shell),
      cmocka_unit_test(test_hardened),
      cmocka_unit_test(test_permissions),
      cmocka_unit_test(test_weaker),
      cmocka_unit_test(test_nothing_is_left),
      cmocka_unit_test(test_the_container_goes),
  };
  return cmocka_run_group_tests(tests, begin, finish);
}
