/* SPDX-License-Identifier: Apache-2.0 */
/* Text format: what the format allows, nothing that is odd, and no secret in an error. Names to
 * ignore, in text and in JSON. States with their secrets hidden. */
#include "state_goldens.h"

#include <cofferdam/options.h>
#include <cofferdam/state.h>

#include "state/message.h"
#include "state/textproto.h"
#include "state/wire.h"

/* ---- support ---- */

static cdam_options *read_good(const char *text) {
  cdam_options *options = NULL;
  cdam_error err;
  /* On the heap, of exactly that size: the text need not end in a NUL. */
  blob b = blob_of(text, strlen(text));
  if (cdam_options_from_text((char *)b.bytes, b.length, &options, &err))
    fail_msg("%s: %s", text, err.message);
  assert_int_equal(err.code, CDAM_OK);
  blob_free(&b);
  return options;
}

static char *text_of(const cdam_options *options) {
  char *text = NULL;
  cdam_error err;
  if (cdam_options_to_text(options, &text, &err)) fail_msg("%s", err.message);
  return text;
}

static void expect_text(const char *input, const char *output) {
  cdam_options *options = read_good(input);
  char *text = text_of(options);
  if (strcmp(text, output) != 0) fail_msg("%s gives %s", input, text);
  free(text);
  cdam_options_free(options);
}

static void refuse_text(const char *text, cdam_status code, const char *message,
                        const char *field) {
  cdam_options *options = (cdam_options *)(uintptr_t)1;
  cdam_error err;
  blob b = blob_of(text, strlen(text));
  cdam_status status = cdam_options_from_text((char *)b.bytes, b.length, &options, &err);
  if (status != code || strcmp(err.message, message) != 0 || strcmp(err.field, field) != 0)
    fail_msg("%s: %s: \"%s\" about \"%s\"", text, cdam_status_name(status), err.message, err.field);
  assert_null(options);
  assert_int_equal(cdam_options_from_text((char *)b.bytes, b.length, &options, NULL), code);
  blob_free(&b);
}

/* ---- goldens ---- */

static void compare_text(const char *name, const cdam_state *state, const blob *expected) {
  char *text = NULL;
  cdam_error err;
  if (cdam_state_to_text(state, &text, &err)) fail_msg("%s", err.message);
  assert_int_equal(strlen(text), expected->length);
  if (memcmp(text, expected->bytes, expected->length) != 0) fail_msg("%s: %s", name, text);
  free(text);
}

static void written_as_python_writes_it(void **unused) {
  (void)unused;
  write_goldens("txtpb", compare_text);
}

static void read_as_python_writes_it(void **unused) {
  (void)unused;
  read_goldens("txtpb", cdam_state_from_text);
}

static void a_seal_in_text_is_checked(void **unused) {
  (void)unused;
  cdam_key *key = golden_key();
  blob text = golden_as("r2-none-full", "txtpb"), keyed = golden_as("r2-none-hmac", "txtpb");
  cdam_state *state;
  char *port = strstr((char *)text.bytes, "8080");
  assert_int_equal(cdam_state_from_text((char *)text.bytes, text.length, key, &state, NULL),
                   CDAM_ERR_SEAL);
  port[3] = '1';
  assert_int_equal(cdam_state_from_text((char *)text.bytes, text.length, NULL, &state, NULL),
                   CDAM_ERR_SEAL);
  assert_int_equal(cdam_state_from_text((char *)keyed.bytes, keyed.length, NULL, &state, NULL),
                   CDAM_ERR_SEAL);
  assert_null(state);
  blob_free(&text);
  blob_free(&keyed);
  cdam_key_free(key);
}

/* ---- what the format allows ---- */

static void spellings(void **unused) {
  (void)unused;
  static const char expected[] = "image: \"a\"\nexposed_ports: 80\nexposed_ports: 443\n"
                                 "labels {\n  key: \"k\"\n  value: \"v\"\n}\n"
                                 "network_mode: NETWORK_MODE_NONE\n";
  static const char *const same[] = {
      expected,
      "image:'a'exposed_ports:80,exposed_ports:443;labels{key:'k'value:'v'}network_mode:1",
      "# first\nimage: \"a\" # a comment { [ '\nexposed_ports: [80, 443] labels: <key: 'k', "
      "value: 'v';>\r\nnetwork_mode: 0x1",
      "labels [{key: 'k' value: 'v'}]\texposed_ports: [0x50] exposed_ports: [] exposed_ports: 0673 "
      "network_mode : 01 image : 'a' #",
      "network_mode:NETWORK_MODE_NONE\v\f exposed_ports: 80 image: '' 'a' \"\"\n# x\n '' "
      "exposed_ports: 0X1bB labels: [<value: 'v' key: '' 'k'>] env: []",
  };
  for (size_t i = 0; i < sizeof same / sizeof *same; i++)
    expect_text(same[i], expected);
}

static void strings(void **unused) {
  (void)unused;
  cdam_options *options =
      read_good("image: \"a\" env { key: 'K' value: '\\a\\b\\f\\n\\r\\t\\v\\\\\\'\\\"\\1\\01\\0012"
                "\\x41\\x4g\\303\\251\xc3\xa9\"#{'\n\"'\" }");
  assert_string_equal(cdam_options_env(options, "K"), "\a\b\f\n\r\t\v\\'\"\1\1\1"
                                                      "2A\4g\xc3\xa9\xc3\xa9\"#{'");
  char *text = text_of(options);
  assert_string_equal(text, "image: \"a\"\nenv {\n  key: \"K\"\n  value: "
                            "\"\\007\\010\\014\\n\\r\\t\\013\\\\\\'\\\"\\001\\001\\0012A\\004g"
                            "\\303\\251\\303\\251"
                            "\\\"#{\\'\"\n}\n");
  cdam_options *again = read_good(text);
  assert_string_equal(cdam_options_env(again, "K"), cdam_options_env(options, "K"));
  free(text);
  cdam_options_free(again);
  cdam_options_free(options);
}

static void maps(void **unused) {
  (void)unused;
  expect_text("image: 'a' env { value: 'x' key: 'B' } env { key: 'A' } labels { key: 'l' }",
              "image: \"a\"\nlabels {\n  key: \"l\"\n}\nenv {\n  key: \"A\"\n}\nenv {\n  key: "
              "\"B\"\n  value: \"x\"\n}\n");
  refuse_text("image: 'a' env { value: 'x' } ", CDAM_ERR_INVALID,
              "env[]: is 0 bytes long; at least 1 are needed", "env[]");
  refuse_text("image: 'a' env { key: 'A' } env { key: 'B' } env { key: 'A' value: 'secret' }",
              CDAM_ERR_MALFORMED, "env[A]: the key is there twice", "env[A]");
}

static void bools_and_bytes(void **unused) {
  (void)unused;
  static const char *const yes[] = {"true", "True", "t", "1"}, *const no[] = {"false", "False", "f",
                                                                              "0"};
  const ProtobufCMessageDescriptor *descriptor = &cofferdam__v1__session_state__descriptor;
  for (size_t i = 0; i < 8; i++) {
    char text[64];
    snprintf(text, sizeof text, "workspace_ready: %s", i < 4 ? yes[i] : no[i - 4]);
    ProtobufCMessage *message = NULL;
    assert_int_equal(cdam_textproto_read(text, strlen(text), descriptor, NULL, &message, NULL), 0);
    assert_int_equal(((Cofferdam__V1__SessionState *)message)->workspace_ready, i < 4);
    protobuf_c_message_free_unpacked(message, NULL);
  }
  ProtobufCMessage *message = NULL;
  const char text[] = "seal { digest: '\\0\\377' 'x' }";
  assert_int_equal(cdam_textproto_read(text, strlen(text), descriptor, NULL, &message, NULL), 0);
  const Cofferdam__V1__Seal *seal = ((Cofferdam__V1__SessionState *)message)->seal;
  assert_int_equal(seal->digest.len, 3);
  assert_memory_equal(seal->digest.data, "\0\377x", 3);
  protobuf_c_message_free_unpacked(message, NULL);
}

static void what_cannot_be_written(void **unused) {
  (void)unused;
  cdam_options *options = read_good("image: 'busybox' labels { key: 'k' value: 'v' }");
  cdam_options_set_network_mode(options, (cdam_network_mode)7);
  char *text = text_of(options);
  assert_non_null(strstr(text, "\nnetwork_mode: 7\n"));
  free(text);
  cdam_error err;
  options->message.labels[0]->value[0] = '\xff';
  assert_int_equal(cdam_options_to_text(options, &text, &err), CDAM_ERR_INVALID);
  assert_string_equal(err.field, "labels[k].value");
  assert_null(text);
  options->message.labels[0]->value[0] = 'v';
  options->message.image[3] = '\xff';
  assert_int_equal(cdam_options_to_text(options, &text, &err), CDAM_ERR_INVALID);
  assert_string_equal(err.field, "image");
  cdam_options_free(options);
}

/* ---- what is refused ---- */

static void refused(void **unused) {
  (void)unused;
  static const struct {
    const char *text, *message, *field;
    cdam_status code;
  } cases[] = {
      {"image: 'a'\nimage: 'a'", "line 2, column 1: image: the field is there twice", "image",
       CDAM_ERR_MALFORMED},
      {"image: 'a'\n  flavour: 1", "line 2, column 3: flavour: there is no such field", "flavour",
       CDAM_ERR_MALFORMED},
      {"networkMode: 1", "line 1, column 1: networkMode: there is no such field", "networkMode",
       CDAM_ERR_MALFORMED},
      {"\xc3\xa9: 1", "line 1, column 1: no name where one should stand", "", CDAM_ERR_MALFORMED},
      {"image: '\xc3\xa9' ?", "line 1, column 12: no name where one should stand", "",
       CDAM_ERR_MALFORMED},
      {"5: 1", "line 1, column 1: fields are named, not numbered", "", CDAM_ERR_MALFORMED},
      {"[a.b]: 1", "line 1, column 1: extensions and Any are not taken", "", CDAM_ERR_MALFORMED},
      {"[type.googleapis.com/a.B] {}", "line 1, column 1: extensions and Any are not taken", "",
       CDAM_ERR_MALFORMED},
      {"image 'a'", "line 1, column 7: image: the name goes on with :", "image",
       CDAM_ERR_MALFORMED},
      {"image", "line 1, column 6: image: the name goes on with :", "image", CDAM_ERR_MALFORMED},
      {"image: a", "line 1, column 8: image: is not a string", "image", CDAM_ERR_INVALID},
      {"image: ['a']", "line 1, column 8: image: is not a string", "image", CDAM_ERR_INVALID},
      {"image: 'a", "line 1, column 8: image: a string that does not end on its line", "image",
       CDAM_ERR_MALFORMED},
      {"image: 'a\n'", "line 1, column 8: image: a string that does not end on its line", "image",
       CDAM_ERR_MALFORMED},
      {"image: 'a' \"b", "line 1, column 8: image: a string that does not end on its line", "image",
       CDAM_ERR_MALFORMED},
      {"image: 'a\\", "line 1, column 8: image: holds an escape that is none", "image",
       CDAM_ERR_MALFORMED},
      {"image: '\\q'", "line 1, column 8: image: holds an escape that is none", "image",
       CDAM_ERR_MALFORMED},
      {"image: '\\400'", "line 1, column 8: image: holds an escape that is none", "image",
       CDAM_ERR_MALFORMED},
      {"image: '\\x'", "line 1, column 8: image: holds an escape that is none", "image",
       CDAM_ERR_MALFORMED},
      {"image: '\\u00e9'", "line 1, column 8: image: holds an escape that is none", "image",
       CDAM_ERR_MALFORMED},
      {"image: '\\X41'", "line 1, column 8: image: holds an escape that is none", "image",
       CDAM_ERR_MALFORMED},
      {"image: '\\?'", "line 1, column 8: image: holds an escape that is none", "image",
       CDAM_ERR_MALFORMED},
      {"image: '\\U0001f512'", "line 1, column 8: image: holds an escape that is none", "image",
       CDAM_ERR_MALFORMED},
      {"image: 'a\\0'", "line 1, column 8: image: is not UTF-8, or holds a NUL", "image",
       CDAM_ERR_INVALID},
      {"image: '\\377'", "line 1, column 8: image: is not UTF-8, or holds a NUL", "image",
       CDAM_ERR_INVALID},
      {"image: '\\303' '(' ", "line 1, column 8: image: is not UTF-8, or holds a NUL", "image",
       CDAM_ERR_INVALID},
      {"exposed_ports: [1,]",
       "line 1, column 19: exposed_ports[1]: is not a whole number from 0 to 4294967295",
       "exposed_ports[1]", CDAM_ERR_INVALID},
      {"exposed_ports: [1 2]", "line 1, column 19: exposed_ports: a list goes on with , or ]",
       "exposed_ports", CDAM_ERR_MALFORMED},
      {"exposed_ports: [[1]]",
       "line 1, column 17: exposed_ports[0]: is not a whole number from 0 to 4294967295",
       "exposed_ports[0]", CDAM_ERR_INVALID},
      {"exposed_ports [1]", "line 1, column 15: exposed_ports: the name goes on with :",
       "exposed_ports", CDAM_ERR_MALFORMED},
      {"labels { key: 'a' key: 'b' }", "line 1, column 19: labels[0].key: the field is there twice",
       "labels[0].key", CDAM_ERR_MALFORMED},
      {"labels { key: 'a' >", "line 1, column 19: labels[0]: no name where one should stand",
       "labels[0]", CDAM_ERR_MALFORMED},
      {"labels { key: 'a'", "line 1, column 18: labels[0]: the text ends too early", "labels[0]",
       CDAM_ERR_MALFORMED},
      {"labels: 'a'", "line 1, column 9: labels[0]: is not a message in { }", "labels[0]",
       CDAM_ERR_INVALID},
      {"}", "line 1, column 1: no name where one should stand", "", CDAM_ERR_MALFORMED},
      {"image: 'a',,", "line 1, column 12: no name where one should stand", "", CDAM_ERR_MALFORMED},
      {"network_mode: NONE",
       "line 1, column 15: network_mode: is none of NETWORK_MODE_UNSET, NETWORK_MODE_NONE",
       "network_mode", CDAM_ERR_INVALID},
      {"network_mode: 2",
       "line 1, column 15: network_mode: is none of NETWORK_MODE_UNSET, NETWORK_MODE_NONE",
       "network_mode", CDAM_ERR_INVALID},
      {"network_mode: -1",
       "line 1, column 15: network_mode: is none of NETWORK_MODE_UNSET, NETWORK_MODE_NONE",
       "network_mode", CDAM_ERR_INVALID},
      {"network_mode: 4294967297",
       "line 1, column 15: network_mode: is none of NETWORK_MODE_UNSET, NETWORK_MODE_NONE",
       "network_mode", CDAM_ERR_INVALID},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    refuse_text(cases[i].text, cases[i].code, cases[i].message, cases[i].field);
}

static void numbers_that_are_none(void **unused) {
  (void)unused;
  static const char *const none[] = {"-1",
                                     "-0",
                                     "+1",
                                     "1.0",
                                     "1e3",
                                     "1f",
                                     "0x",
                                     "0x1g",
                                     "08",
                                     "4294967296",
                                     "0x100000000",
                                     "18446744073709551616",
                                     "'1'",
                                     "true",
                                     "",
                                     "0x10000000000000000",
                                     "1exposed_ports:2"};
  for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
    char text[64];
    snprintf(text, sizeof text, "exposed_ports: %s", none[i]);
    refuse_text(text, CDAM_ERR_INVALID,
                "line 1, column 16: exposed_ports[0]: is not a whole number from 0 to 4294967295",
                "exposed_ports[0]");
  }
}

static void whole_texts(void **unused) {
  (void)unused;
  cdam_options *options;
  cdam_state *state;
  cdam_error err;
  assert_int_equal(cdam_options_from_text("image: 'a' \0", 12, &options, &err), CDAM_ERR_MALFORMED);
  assert_int_equal(cdam_options_from_text("#\xff", 2, &options, &err), CDAM_ERR_MALFORMED);
  assert_int_equal(cdam_options_from_text("", 0, &options, &err), CDAM_ERR_INVALID);
  assert_string_equal(err.field, "image");
  assert_int_equal(cdam_state_from_text("", 0, NULL, &state, &err), CDAM_ERR_INVALID);
  assert_int_equal(cdam_options_from_text(NULL, 0, &options, &err), CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_options_from_text("", 0, NULL, &err), CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_options_to_text(NULL, NULL, &err), CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_state_from_text(NULL, 0, NULL, &state, &err), CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_state_to_text(NULL, NULL, &err), CDAM_ERR_ARGUMENT);
  size_t size = CDAM_TEXT_MAX_BYTES + 1;
  char *big = malloc(size);
  assert_non_null(big);
  memset(big, ' ', size);
  assert_int_equal(cdam_options_from_text(big, size, &options, &err), CDAM_ERR_MALFORMED);
  assert_non_null(strstr(err.message, "more than"));
  assert_int_equal(cdam_options_from_text(big, size - 1, &options, &err), CDAM_ERR_INVALID);
  free(big);
}

/* Five bytes each would otherwise take a hundred of memory. */
static void many_values(void **unused) {
  (void)unused;
  const size_t count = CDAM_WIRE_MAX_FIELDS + 1;
  char *text = malloc(count * 5 + 1);
  assert_non_null(text);
  for (size_t i = 0; i < count; i++)
    memcpy(text + i * 5, "env{}", 6);
  cdam_options *options;
  cdam_error err;
  assert_int_equal(cdam_options_from_text(text, count * 5, &options, &err), CDAM_ERR_MALFORMED);
  assert_non_null(strstr(err.message, "too many values"));
  assert_int_equal(cdam_options_from_text(text, 10, &options, &err), CDAM_ERR_MALFORMED);
  assert_non_null(strstr(err.message, "env[]: the key is there twice"));
  free(text);
}

/* Values that were not quoted rightly must not come out in a message. */
static void errors_hold_no_values(void **unused) {
  (void)unused;
  static const char *const wrong[] = {
      "image: 'a' env { key: 'K' value: s3cret }",
      "image: 'a' env { key: 'K' value: 's3cret }",
      "image: 'a' env { key: 'K' value: 's3cret\\q' }",
      "image: 'a' env { key: 'K' value: 's3cret\\0' }",
      "image: 'a' env { key: 'K' value: 'x's3cret: '1' }",
      "image: 'a' env { key: 'K' value: 'x'\ns3cret: '1' }",
      "image: 'a' env { key: 'K' value: 'x'} s3cret: '1' }",
      "image: 'a' env { key: 'K' value: 'x'}\ns3cret' }",
      "image: 'a' env { key: 'K' value: 's3cret' 's3cret' 7 }",
      "image: 'a' env { key: 'K' value: 's3cret' } env { key: 'K' }",
      "image: s3cret",
      "s3cret",
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    cdam_options *options;
    cdam_error err;
    assert_int_not_equal(cdam_options_from_text(wrong[i], strlen(wrong[i]), &options, &err), 0);
    if (strstr(err.message, "cret") || strstr(err.field, "cret"))
      fail_msg("%s: %s", wrong[i], err.message);
  }
}

/* ---- names to ignore ---- */

#define JSON_HEAD(features)                                                                        \
  "{\"schemaRevision\": 9, \"requiredFeatures\": [" features                                       \
  "], \"sessionId\": \"" TEST_SESSION_ID "\", \"imageId\": \"sha256:" TEST_HEX                     \
  "\", \"containerId\": \"" TEST_HEX "\", "
#define TEXT_HEAD(features)                                                                        \
  "schema_revision: 9 required_features: [" features "] session_id: '" TEST_SESSION_ID             \
  "' image_id: 'sha256:" TEST_HEX "' container_id: '" TEST_HEX "' "
#define NONE_JSON "\"options\": {\"image\": \"a\", \"networkMode\": 1}"
#define NONE_TEXT "options { image: 'a' network_mode: 1 }"

typedef struct heard {
  char names[512];
  size_t count;
} heard;

static void hear(void *user, const char *field) {
  heard *h = user;
  size_t used = strlen(h->names);
  snprintf(h->names + used, sizeof h->names - used, "%s%s", used ? " " : "", field);
  h->count++;
}

static cdam_status read_ignoring(cdam_form form, const char *text, heard *h, cdam_state **state,
                                 cdam_error *err) {
  *h = (heard){0};
  blob b = blob_of(text, strlen(text));
  cdam_status status =
      cdam_state_read_ignoring(form, (char *)b.bytes, b.length, NULL, hear, h, state, err);
  blob_free(&b);
  return status;
}

static void expect_ignored(cdam_form form, const char *text, const char *names) {
  heard h;
  cdam_state *state, *strict;
  cdam_error err;
  if (read_ignoring(form, text, &h, &state, &err)) fail_msg("%s: %s", text, err.message);
  assert_string_equal(h.names, names);
  assert_true(is_none(state));
  cdam_status status = form == CDAM_FORM_JSON
                           ? cdam_state_from_json(text, strlen(text), NULL, &strict, &err)
                           : cdam_state_from_text(text, strlen(text), NULL, &strict, &err);
  assert_int_equal(status, names[0] ? CDAM_ERR_MALFORMED : CDAM_OK);
  if (!names[0]) cdam_state_free(strict);
  cdam_state_free(state);
}

static void names_are_ignored_when_asked(void **unused) {
  (void)unused;
  expect_ignored(CDAM_FORM_JSON, JSON_HEAD("1") NONE_JSON "}", "");
  expect_ignored(CDAM_FORM_JSON,
                 JSON_HEAD("1") NONE_JSON ", \"later\": {\"a\": [1, null]}, \"engine\": {\"id\": "
                                          "\"E\", \"flavour\": \"x\"}}",
                 "later engine.flavour");
  expect_ignored(CDAM_FORM_TEXT, TEXT_HEAD("1") NONE_TEXT, "");
  expect_ignored(CDAM_FORM_TEXT,
                 TEXT_HEAD("1") NONE_TEXT "a: 1. b: .5f c: 1.5e3 d: 0x1F e: 017 f: -nan g: -08",
                 "a b c d e f g");
  expect_ignored(CDAM_FORM_TEXT,
                 TEXT_HEAD("1") NONE_TEXT
                 "later { a: [1, 'x' 'y', -2.5, {b: <c: [] d {} >}], e: inf; } engine { id: 'E' "
                 "flavour: 0x1f other: -nan, } more: ['a', \"b\"] last <>",
                 "later engine.flavour engine.other more last");
}

static void isolation_is_not_ignored(void **unused) {
  (void)unused;
  static const struct {
    const char *json, *text;
    cdam_status code;
    const char *message;
  } cases[] = {
      /* A feature of a later revision, and its option with it. */
      {JSON_HEAD("1, 200") NONE_JSON "}", TEXT_HEAD("1, 200") NONE_TEXT, CDAM_ERR_UNSUPPORTED,
       "is none of FEATURE_"},
      {JSON_HEAD("1, \"FEATURE_X\"") NONE_JSON "}", TEXT_HEAD("1, FEATURE_X") NONE_TEXT,
       CDAM_ERR_UNSUPPORTED, "is none of FEATURE_"},
      {JSON_HEAD("200") "\"options\": {\"image\": \"a\", \"walls\": 1}}",
       TEXT_HEAD("200") "options { image: 'a' walls: 1 }", CDAM_ERR_UNSUPPORTED, "FEATURE_"},
      /* An option that no feature speaks of. */
      {JSON_HEAD("1") "\"options\": {\"image\": \"a\", \"networkMode\": 1, \"walls\": 1}}",
       TEXT_HEAD("1") "options { image: 'a' network_mode: 1\nwalls: 1 }", CDAM_ERR_MALFORMED,
       "options.walls: there is no such field"},
      /* Known names in other spellings. */
      {JSON_HEAD("") "\"options\": {\"image\": \"a\"}, \"required__Features\": [1]}",
       TEXT_HEAD("") "options { image: 'a' }\nrequiredFeatures: 1", CDAM_ERR_MALFORMED,
       "there is no such field"},
      {JSON_HEAD("") "\"options\": {\"image\": \"a\"}, \"Seal\": {}}",
       TEXT_HEAD("") "options { image: 'a' }\nSEAL {}", CDAM_ERR_MALFORMED,
       "there is no such field"},
      {JSON_HEAD("1") "\"options\": {\"image\": \"a\", \"networkMode\": 2}}",
       TEXT_HEAD("1") "options { image: 'a' network_mode: 2 }", CDAM_ERR_INVALID,
       "is none of NETWORK_MODE_"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int form = CDAM_FORM_JSON; form <= CDAM_FORM_TEXT; form++) {
      const char *text = form == CDAM_FORM_JSON ? cases[i].json : cases[i].text;
      heard h;
      cdam_state *state;
      cdam_error err;
      cdam_status status = read_ignoring((cdam_form)form, text, &h, &state, &err);
      if (status != cases[i].code || !strstr(err.message, cases[i].message))
        fail_msg("%s: %s: %s", text, cdam_status_name(status), status ? err.message : "");
      assert_null(state);
      assert_int_equal(h.count, 0);
    }
}

static void a_seal_covers_what_is_ignored(void **unused) {
  (void)unused;
  blob text = golden_as("r2-none-full", "txtpb");
  heard h;
  cdam_state *state;
  blob_add(&text, "later: 1\n", 10);
  /* The seal is that of the rest: the name was added behind it. */
  assert_int_equal(read_ignoring(CDAM_FORM_TEXT, (char *)text.bytes, &h, &state, NULL), CDAM_OK);
  assert_string_equal(h.names, "later");
  cdam_state_free(state);
  char *port = strstr((char *)text.bytes, "8080");
  port[0] = '9';
  assert_int_equal(read_ignoring(CDAM_FORM_TEXT, (char *)text.bytes, &h, &state, NULL),
                   CDAM_ERR_SEAL);
  blob_free(&text);
}

static void odd_names_and_arguments(void **unused) {
  (void)unused;
  static const char *const odd[] = {"a.b: 1",           "later 1",       "later: [1",
                                    "later: [1,]",      "later:",        "later: [[1]]",
                                    "later: ['a",       "later { a 1 }", "later { 1: 2 }",
                                    "later { a: 1 >",   "9: 1",          "later { [x]: 1 }",
                                    "later { a.b: 1 }", "later: 1.2.3",  "later: x.y",
                                    "later: 1e",        "later: 0x",     "later: -abc",
                                    "later: ."};
  heard h;
  cdam_state *state;
  cdam_error err;
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    cdam_status status = read_ignoring(CDAM_FORM_TEXT, odd[i], &h, &state, &err);
    if (status != CDAM_ERR_MALFORMED && status != CDAM_ERR_INVALID) fail_msg("%s", odd[i]);
    if (!strstr(err.message, "line 1")) fail_msg("%s: %s", odd[i], err.message);
    assert_int_equal(h.count, 0);
  }
  char deep[3 * 200 + 8] = "a:";
  for (size_t i = 0; i < 200; i++)
    strncat(deep, "{a:", sizeof deep - strlen(deep) - 1);
  assert_int_equal(read_ignoring(CDAM_FORM_TEXT, deep, &h, &state, &err), CDAM_ERR_MALFORMED);
  assert_non_null(strstr(err.message, "too deep"));
  assert_int_equal(
      cdam_state_read_ignoring(CDAM_FORM_JSON, "{}", 2, NULL, NULL, NULL, &state, &err),
      CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_state_read_ignoring((cdam_form)7, "{}", 2, NULL, hear, &h, &state, &err),
                   CDAM_ERR_ARGUMENT);
}

/* ---- hiding ---- */

static void secrets_are_hidden(void **unused) {
  (void)unused;
  blob bytes = golden_as("r2-none-full", "binpb");
  cdam_state *state = parse_good(&bytes, NULL), *other;
  for (int form = CDAM_FORM_JSON; form <= CDAM_FORM_TEXT; form++) {
    char *text = NULL, *whole = NULL;
    size_t hidden = 0;
    cdam_error err;
    assert_int_equal(cdam_state_show(state, (cdam_form)form, &text, &hidden, &err), CDAM_OK);
    assert_int_equal(hidden, 5);
    assert_null(strstr(text, "usr"));
    assert_non_null(strstr(text, "PATH"));
    assert_non_null(strstr(text, "\"(hidden)\""));
    assert_non_null(strstr(text, "x=y")); /* a label's */
    /* It is well-formed, and not the state. */
    cdam_status status = form == CDAM_FORM_JSON
                             ? cdam_state_from_json(text, strlen(text), NULL, &other, &err)
                             : cdam_state_from_text(text, strlen(text), NULL, &other, &err);
    assert_int_equal(status, CDAM_ERR_SEAL);
    free(text);
    assert_int_equal(cdam_state_to_json(state, &whole, NULL), CDAM_OK);
    assert_non_null(strstr(whole, "/bin:/usr/bin")); /* the state is as it was */
    free(whole);
  }
  cdam_state_free(state);
  blob_free(&bytes);

  bytes = golden_as("r2-none-minimal", "binpb");
  state = parse_good(&bytes, NULL);
  char *text = NULL, *whole = NULL;
  size_t hidden = 9;
  assert_int_equal(cdam_state_show(state, CDAM_FORM_JSON, &text, &hidden, NULL), CDAM_OK);
  assert_int_equal(hidden, 0);
  assert_int_equal(cdam_state_to_json(state, &whole, NULL), CDAM_OK);
  assert_string_equal(text, whole);
  free(text);
  free(whole);
  assert_int_equal(cdam_state_show(state, (cdam_form)2, &text, &hidden, NULL), CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_state_show(NULL, CDAM_FORM_JSON, &text, NULL, NULL), CDAM_ERR_ARGUMENT);
  cdam_state_free(state);
  blob_free(&bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(written_as_python_writes_it),
      cmocka_unit_test(read_as_python_writes_it),
      cmocka_unit_test(a_seal_in_text_is_checked),
      cmocka_unit_test(spellings),
      cmocka_unit_test(strings),
      cmocka_unit_test(maps),
      cmocka_unit_test(bools_and_bytes),
      cmocka_unit_test(what_cannot_be_written),
      cmocka_unit_test(refused),
      cmocka_unit_test(numbers_that_are_none),
      cmocka_unit_test(whole_texts),
      cmocka_unit_test(many_values),
      cmocka_unit_test(errors_hold_no_values),
      cmocka_unit_test(names_are_ignored_when_asked),
      cmocka_unit_test(isolation_is_not_ignored),
      cmocka_unit_test(a_seal_covers_what_is_ignored),
      cmocka_unit_test(odd_names_and_arguments),
      cmocka_unit_test(secrets_are_hidden),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
