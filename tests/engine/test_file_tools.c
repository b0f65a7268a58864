/* SPDX-License-Identifier: Apache-2.0 */
/* Files without the agent, where the image's tools and shell do not do what they are for, or
 * something else first: each tool is a script that begins with what a test says. */
#include "../scratch.h"
#include "test_file_support.h"

#include <cofferdam/tree.h>

#define TOOLS "cofferdam-file-tools:latest"

/* The directory goes elsewhere, and a link comes in its place. */
#define SWAP "(cd /workspace; /bin/busybox mv d e; /bin/busybox ln -s /tmp/beyond d)"

/* dash knows no tools of its own, as busybox's shell does. */
static void make_tools(void) {
  assert_int_equal(
      here("mkdir image && cd image && %s/tools/test-image.sh debian | tar -x && cd bin && "
           "cp /bin/busybox . && for tool in cat chmod chown dd head ln mkdir mkfifo mv rm rmdir "
           "stat sync tail touch xargs; do rm $tool && printf '#!/bin/dash\\n"
           "[ ! -e /before-%%s ] || . /before-%%s\\nexec /bin/busybox %%s \"$@\"\\n' "
           "$tool $tool $tool >$tool && chmod 755 $tool; done && rm sh && "
           "printf '#!/bin/dash\\n[ -e /before-sh ] && [ $# -gt 3 ] || exec dash \"$@\"\\n"
           ". /before-sh\\nscript=$2\\nshift 3\\neval \"$script\"\\n' >sh && chmod 755 sh && "
           "cd .. && tar -c . | docker import --change 'ENV PATH=/bin' - " TOOLS " >/dev/null",
           getenv("COFFERDAM_SOURCE_ROOT")),
      0);
}

static int begin(void **state) {
  require_engine();
  setenv("COFFERDAM_TEST_NO_AGENT", "1", 1);
  if (make_scratch(state) != 0) return -1;
  make_tools();
  client = engine_client();
  return 0;
}

static int finish(void **state) {
  cdam_client_free(client);
  try_docker("rmi " TOOLS " >/dev/null 2>&1");
  return remove_scratch(state);
}

static void create_from(const char *image) {
  cdam_options *options = options_with(CDAM_NETWORK_MODE_NONE);
  cdam_error err;
  assert_ok(cdam_options_set_image(options, image, &err), &err);
  assert_ok(cdam_create(client, options, &session, &err), &err);
  cdam_options_free(options);
  assert_ok(cdam_file_make_directory(session, "", 0, true, &err), &err);
}

/* What a tool does first. */
static void before(const char *tool, const char *script) {
  char text[512];
  const char *const argv[] = {"/bin/busybox", "sh", "-c", text, NULL};
  snprintf(text, sizeof text, "/bin/busybox cat >/before-%s <<'END'\n%s\nEND\n", tool, script);
  free(output_of(session, argv));
}

/* ---- a directory that becomes a link when a tool is at work ---- */

static void make_swappable(void) {
  shell("rm -rf /workspace/* /tmp/beyond /before-*; mkdir d /tmp/beyond; echo inside >d/f; "
        "echo mine >g; echo beyond >/tmp/beyond/f");
}

static void assert_nothing_beyond(void) {
  assert_string_equal(shell("cat /tmp/beyond/f; ls /tmp/beyond; stat -c %%h /tmp/beyond/f"),
                      "beyond\nf\n1");
}

static void test_swapped(void **state) {
  (void)state;
  cdam_error err;
  create_from(TOOLS);
  make_swappable();
  before("mv", SWAP);
  assert_ok(cdam_file_rename(session, "d/f", "got", false, &err), &err);
  assert_content("got", "inside\n");
  assert_nothing_beyond();

  make_swappable();
  before("mv", SWAP);
  assert_ok(cdam_file_rename(session, "g", "d/g", false, &err), &err);
  assert_content("e/g", "mine\n");
  assert_nothing_beyond();

  make_swappable();
  before("ln", SWAP);
  assert_ok(cdam_file_make_link(session, "got", "d/f", true, &err), &err);
  assert_content("got", "inside\n");
  assert_nothing_beyond();

  make_swappable();
  before("ln", SWAP);
  assert_int_equal(here("mkdir -p t/d t/z && echo new >t/d/f && ln t/d/f t/z/f"), 0);
  assert_ok(cdam_tree_upload(session, in_scratch("t"), "/workspace",
                             &(cdam_tree_options){.replace = true}, NULL, &err),
            &err);
  assert_content("z/f", "new\n");
  assert_nothing_beyond();
  end_session(client, session);
}

/* As bash, which looks where a directory is before it goes there: it believes that it is inside. */
static void test_a_shell_that_believes(void **state) {
  (void)state;
  cdam_error err;
  char *bytes;
  size_t length;
  create_from(TOOLS);
  make_swappable();
  before("sh", "cd() { command cd \"$@\" || return; [ \"$2\" = ./d ] || return 0; "
               "command cd /tmp/beyond; PWD=/workspace/d; }");
  assert_int_equal(cdam_file_read(session, "d/f", 99, &bytes, &length, &err), CDAM_ERR_OUTSIDE);
  assert_int_equal(cdam_file_remove(session, "d/f", false, false, &err), CDAM_ERR_OUTSIDE);
  assert_nothing_beyond();
  end_session(client, session);
}

/* ---- content that is not what was said ---- */

static void test_a_size_that_changes(void **state) {
  (void)state;
  create_from(TOOLS);
  cdam_error err;
  cdam_tree_result result;
  shell("mkdir t; printf 123456 >t/f; printf 1 >t/g");
  before("head", "case $3 in ./f) : >$3 ;; *) printf 23456 >>$3 ;; esac");
  assert_ok(cdam_tree_download(session, "t", in_scratch("changed"), NULL, &result, &err), &err);
  assert_int_equal(result.entries, 3);
  assert_int_equal(result.bytes, 1);
  assert_int_equal(here("test -f changed/f && test ! -s changed/f && test $(cat changed/g) = 1"),
                   0);
  end_session(client, session);
}

/* It says that it went well, and left the rest for the shell. */
static void test_content_that_is_left(void **state) {
  (void)state;
  create_from(TOOLS);
  cdam_error err;
  const cdam_source source = {.bytes = "one two", .length = 7};
  before("dd", "exec /bin/busybox dd bs=3 count=1");
  assert_fails(cdam_file_write(session, "f", &source, NULL, &err), CDAM_ERR_FILE, EIO, &err);
  assert_false(is_there("f"));
  assert_int_equal(count_of(""), 0);
  end_session(client, session);
}

int main(void) {
  require_engine();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_swapped),
      cmocka_unit_test(test_a_shell_that_believes),
      cmocka_unit_test(test_a_size_that_changes),
      cmocka_unit_test(test_content_that_is_left),
  };
  return cmocka_run_group_tests_name("file_tools", tests, begin, finish);
}
