/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/image.h"

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define HEX32 "0123456789abcdef0123456789abcdef"
#define DIGEST "sha256:" HEX64
#define SHA512 "sha512:" HEX64 HEX64
#define A32 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define A128 A32 A32 A32 A32

typedef struct accepted {
  const char *text, *name, *tag, *digest;
} accepted;

static const accepted good[] = {
    {"busybox", "busybox", "", ""},
    {"busybox:1.36", "busybox", "1.36", ""},
    {"localhost:5000/a", "localhost:5000/a", "", ""},
    {"localhost:5000/a:1", "localhost:5000/a", "1", ""},
    {"localhost/a", "localhost/a", "", ""},
    {"host/a", "host/a", "", ""},
    {"a@" DIGEST, "a", "", DIGEST},
    {"h:5/a:1@" DIGEST, "h:5/a", "1", DIGEST},
    {"a@" SHA512, "a", "", SHA512},
    {"a@sha384:" HEX64 HEX32, "a", "", "sha384:" HEX64 HEX32},
    {"test:5000", "test", "5000", ""},
    {"test.com:5000", "test.com", "5000", ""},
    {"test:5000/repo", "test:5000/repo", "", ""},
    {"test:5000/repo:tag", "test:5000/repo", "tag", ""},
    {"foo_bar.com:8080", "foo_bar.com", "8080", ""},
    {"127.0.0.1:5000/x/y/z:_t.a-g", "127.0.0.1:5000/x/y/z", "_t.a-g", ""},
    {"[::1]:5000/a:b", "[::1]:5000/a", "b", ""},
    {"[fc00:AB::1]/a", "[fc00:AB::1]/a", "", ""},
    {"A.example/b", "A.example/b", "", ""},
    {"REGISTRY/b", "REGISTRY/b", "", ""},
    {"xn--n3h.com/myimage:xn--n3h.com", "xn--n3h.com/myimage", "xn--n3h.com", ""},
    {"a__b---c.d_e", "a__b---c.d_e", "", ""},
    {"a:UPPER", "a", "UPPER", ""},
    {"a:" A128, "a", A128, ""},
    {"sha256", "sha256", "", ""},
    {"sha256:" HEX32, "sha256", HEX32, ""},
    /* Image ids. */
    {DIGEST, "", "", DIGEST},
    {HEX64, "", "", DIGEST},
};

static const char *const bad[] = {
    "",
    " ",
    "A:b",
    "Busybox",
    "a/B",
    "host.com/A",
    ":tag",
    "a:",
    "a:b:c",
    "@" DIGEST,
    ":t@" DIGEST,
    "a@",
    "a@sha256:",
    "a@sha256:" HEX32,
    "a@sha256:" HEX64 "0",
    "a@sha256:0123456789ABCDEF" HEX32 "0123456789abcdef",
    "a@sha512:" HEX64,
    "a@md5:" HEX32,
    "a@" DIGEST ":t",
    "a@" DIGEST "@" DIGEST,
    "a:-b",
    "a:.b",
    "a:b c",
    "a:" A128 "a",
    "a//b",
    "/a",
    "a/",
    "a/:t",
    "-a",
    "a-",
    "_a",
    "a..b",
    "a._b",
    "a___b",
    "-foo.com/a",
    "foo-.com/a",
    "foo..com/a",
    "host:/a",
    "host:port/a",
    "[::1/a",
    "[]:5000/a",
    "[::g]/a",
    "[::1]5000/a",
    "[::1]:/a",
    "http://a/b",
    "a b",
    "a\n",
    "a?b",
    "a#b",
    "a%2fb",
    "a/../b",
    "a/./b",
    "b\xc3\xa4r",
    "a:\xc3\xa4",
};

static void accepts(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    cdam_image_reference reference;
    const char *why = "";
    memset(&reference, 'x', sizeof reference);
    if (!cdam_image_reference_parse(good[i].text, &reference, &why))
      fail_msg("%s: %s", good[i].text, why);
    assert_string_equal(reference.name, good[i].name);
    assert_string_equal(reference.tag, good[i].tag);
    assert_string_equal(reference.digest, good[i].digest);
    assert_null(why);
  }
}

static void refuses(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    cdam_image_reference reference;
    const char *why = NULL;
    if (cdam_image_reference_parse(bad[i], &reference, &why)) fail_msg("accepted: %s", bad[i]);
    assert_non_null(why);
    assert_false(cdam_image_reference_parse(bad[i], NULL, NULL));
  }
}

/* 255 bytes for the name, with what Docker puts before it. */
static void bounds_the_name(void **state) {
  (void)state;
  static const struct {
    const char *start;
    size_t longest;
  } cases[] = {{"", 255 - 18}, {"a/", 255 - 10}, {"a.b/", 255}, {"localhost/", 255}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[300];
    memset(text, 'a', sizeof text);
    memcpy(text, cases[i].start, strlen(cases[i].start));
    text[cases[i].longest] = '\0';
    assert_true(cdam_image_reference_parse(text, NULL, NULL));
    text[cases[i].longest] = 'a';
    text[cases[i].longest + 1] = '\0';
    assert_false(cdam_image_reference_parse(text, NULL, NULL));
  }
}

static void is_total(void **state) {
  (void)state;
  static char text[4096];
  for (int c = 1; c < 256; c++) {
    memset(text, c, sizeof text - 1);
    cdam_image_reference_parse(text, NULL, NULL);
    text[1] = '\0';
    cdam_image_reference_parse(text, NULL, NULL);
  }
}

static void reads_ids(void **state) {
  (void)state;
  char id[72];
  assert_true(cdam_image_id_parse(DIGEST, id));
  assert_string_equal(id, DIGEST);
  assert_true(cdam_image_id_parse(HEX64, id));
  assert_string_equal(id, DIGEST);
  assert_false(cdam_image_id_parse("", id));
  assert_false(cdam_image_id_parse("sha256:", id));
  assert_false(cdam_image_id_parse("sha256:sha256:" HEX64, id));
  assert_false(cdam_image_id_parse("sha512:" HEX64, id));
  assert_false(cdam_image_id_parse(HEX64 "0", id));
  assert_false(cdam_image_id_parse("ABCDEFabcdef" HEX32 "0123456789abcdef0123", id));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(accepts),  cmocka_unit_test(refuses),   cmocka_unit_test(bounds_the_name),
      cmocka_unit_test(is_total), cmocka_unit_test(reads_ids),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
