/* SPDX-License-Identifier: Apache-2.0 */
/* ProtoJSON: what Python's printer says, and nothing that is odd. */
#include "state_goldens.h"

#include <cofferdam/options.h>
#include <cofferdam/state.h>

#include "base/json_parse.h"
#include "state/base64.h"
#include "state/message.h"
#include "state/protojson.h"

/* ---- goldens ---- */

static void compare_json(const char *name, const cdam_state *state, const blob *expected) {
  char *json = NULL;
  cdam_error err;
  if (cdam_state_to_json(state, &json, &err)) fail_msg("%s", err.message);
  assert_null(strchr(json, '\n'));
  json_t *ours = json_loads(json, JSON_REJECT_DUPLICATES, NULL);
  json_t *theirs =
      json_loadb((char *)expected->bytes, expected->length, JSON_REJECT_DUPLICATES, NULL);
  assert_non_null(ours);
  assert_non_null(theirs);
  if (!json_equal(ours, theirs)) fail_msg("%s: %s", name, json);
  json_decref(ours);
  json_decref(theirs);
  free(json);
}

static void written_as_python_writes_it(void **unused) {
  (void)unused;
  write_goldens("json", compare_json);
}

static void read_as_python_writes_it(void **unused) {
  (void)unused;
  read_goldens("json", cdam_state_from_json);
}

static void exact_text(void **unused) {
  (void)unused;
  cdam_options *options;
  char *json;
  assert_int_equal(cdam_options_new(&options, NULL), CDAM_OK);
  assert_int_equal(cdam_options_set_image(options, "busybox", NULL), CDAM_OK);
  assert_int_equal(cdam_options_add_exposed_port(options, 80, NULL), CDAM_OK);
  assert_int_equal(cdam_options_set_env(options, "B", "\xc3\xa9\n\"\x7f", NULL), CDAM_OK);
  assert_int_equal(cdam_options_set_env(options, "A", "", NULL), CDAM_OK);
  cdam_options_set_network_mode(options, CDAM_NETWORK_MODE_NONE);
  assert_int_equal(cdam_options_to_json(options, &json, NULL), CDAM_OK);
  assert_string_equal(json, "{\"image\": \"busybox\", \"exposedPorts\": [80], \"env\": {\"A\": "
                            "\"\", \"B\": \"\xc3\xa9\\n\\\"\x7f\"}, \"networkMode\": "
                            "\"NETWORK_MODE_NONE\"}");
  free(json);
  /* Whatever is in there is shown, or it is an error; an undefined enum value by its number. */
  cdam_options_set_network_mode(options, (cdam_network_mode)7);
  cdam_options_clear_env(options);
  assert_int_equal(cdam_options_to_json(options, &json, NULL), CDAM_OK);
  assert_string_equal(json, "{\"image\": \"busybox\", \"exposedPorts\": [80], \"networkMode\": 7}");
  free(json);
  options->message.image[3] = '\xff';
  cdam_error err;
  assert_int_equal(cdam_options_to_json(options, &json, &err), CDAM_ERR_INVALID);
  assert_string_equal(err.field, "image");
  assert_null(json);
  cdam_options_free(options);
}

/* ---- reading options ---- */

static cdam_options *read_good(const char *json) {
  cdam_options *options = NULL;
  cdam_error err;
  if (cdam_options_from_json(json, strlen(json), &options, &err))
    fail_msg("%s: %s", json, err.message);
  return options;
}

static void names_and_spellings(void **unused) {
  (void)unused;
  static const char *const same[] = {
      "{\"image\":\"a\",\"exposedPorts\":[80,443],\"networkMode\":\"NETWORK_MODE_NONE\"}",
      "{\"image\":\"a\",\"exposed_ports\":[80,443],\"network_mode\":\"NETWORK_MODE_NONE\"}",
      "{\"networkMode\":1,\"exposedPorts\":[\"80\",\"443\"],\"image\":\"a\"}",
      "{\"networkMode\":1.0,\"exposedPorts\":[80.0,4.43e2],\"image\":\"\\u0061\"}",
      " {\"image\":\"a\",\"exposedPorts\":[80,443],\"networkMode\":1,\"env\":null,\"labels\":{}} ",
  };
  char *first = NULL;
  for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
    cdam_options *options = read_good(same[i]);
    char *json = NULL;
    assert_int_equal(cdam_options_to_json(options, &json, NULL), CDAM_OK);
    if (i == 0) first = strdup(json);
    assert_string_equal(first, json);
    free(json);
    cdam_options_free(options);
  }
  free(first);
}

/* As whatever else makes options does: see cdam_options_set_label. */
static void maps_are_in_the_order_of_their_keys(void **unused) {
  (void)unused;
  static const char json[] = "{\"image\": \"a\", \"labels\": {\"z\": \"1\", \"Z\": \"2\", \"a\": "
                             "\"3\"}, \"env\": {\"b\": \"\", \"a\": \"\"}}";
  cdam_options *options;
  const char *key;
  assert_int_equal(cdam_options_from_json(json, strlen(json), &options, NULL), CDAM_OK);
  for (size_t i = 0; i < 3; i++) {
    assert_true(cdam_options_label_at(options, i, &key, NULL));
    assert_string_equal(key, ((const char *const[]){"Z", "a", "z"})[i]);
  }
  assert_true(cdam_options_env_at(options, 0, &key, NULL));
  assert_string_equal(key, "a");
  cdam_options_free(options);
}

static void null_is_the_default(void **unused) {
  (void)unused;
  cdam_options *options =
      read_good("{\"image\":\"a\",\"networkMode\":null,\"env\":null,\"exposedPorts\":null}");
  assert_int_equal(cdam_options_network_mode(options), CDAM_NETWORK_MODE_UNSET);
  cdam_options_free(options);
}

typedef struct refusal {
  const char *json;
  cdam_status code;
  const char *field;
  const char *text;
} refusal;

static void expect_refusals(const refusal *rows, size_t count) {
  for (size_t i = 0; i < count; i++) {
    cdam_options *options = (cdam_options *)(uintptr_t)1;
    cdam_error err;
    blob exact = blob_of(rows[i].json, strlen(rows[i].json));
    cdam_status status = cdam_options_from_json((char *)exact.bytes, exact.length, &options, &err);
    if (status != rows[i].code || strcmp(err.field, rows[i].field) != 0 ||
        !strstr(err.message, rows[i].text))
      fail_msg("%s: %s \"%s\" %s", rows[i].json, cdam_status_name(status), err.field,
               status ? err.message : "");
    assert_null(options);
    blob_free(&exact);
  }
}

#define MODE(value) "{\"image\":\"a\",\"networkMode\":" value "}"
#define BAD_MODE                                                                                   \
  CDAM_ERR_INVALID, "network_mode", "is none of NETWORK_MODE_UNSET, NETWORK_MODE_NONE"

static void modes_that_are_none(void **unused) {
  (void)unused;
  static const refusal rows[] = {
      {MODE("2"), BAD_MODE},
      {MODE("-1"), BAD_MODE},
      {MODE("4294967297"), BAD_MODE},
      {MODE("4294967296"), BAD_MODE},
      {MODE("1.5"), BAD_MODE},
      {MODE("1e40"), BAD_MODE},
      {MODE("-1.0"), BAD_MODE},
      {MODE("\"none\""), BAD_MODE},
      {MODE("\"NONE\""), BAD_MODE},
      {MODE("\"bridge\""), BAD_MODE},
      {MODE("\"network_mode_none\""), BAD_MODE},
      {MODE("\"NETWORK_MODE_NONE \""), BAD_MODE},
      {MODE("\"1\""), BAD_MODE},
      {MODE("\"\""), BAD_MODE},
      {MODE("true"), BAD_MODE},
      {MODE("[]"), BAD_MODE},
      {MODE("[1]"), BAD_MODE},
      {MODE("{}"), BAD_MODE},
  };
  expect_refusals(rows, sizeof rows / sizeof *rows);
}

#define PORTS(value) "{\"image\":\"a\",\"exposedPorts\":" value "}"
#define BAD_PORT CDAM_ERR_INVALID, "exposed_ports[0]", "is not a whole number from 0 to 4294967295"

static void numbers_that_are_none(void **unused) {
  (void)unused;
  static const refusal rows[] = {
      {PORTS("[-1]"), BAD_PORT},
      {PORTS("[4294967296]"), BAD_PORT},
      {PORTS("[80.5]"), BAD_PORT},
      {PORTS("[\"80 \"]"), BAD_PORT},
      {PORTS("[\"\"]"), BAD_PORT},
      {PORTS("[\"080\"]"), BAD_PORT},
      {PORTS("[\"+80\"]"), BAD_PORT},
      {PORTS("[\"0x50\"]"), BAD_PORT},
      {PORTS("[\"8e1\"]"), BAD_PORT},
      {PORTS("[\"80/tcp\"]"), BAD_PORT},
      {PORTS("[true]"), BAD_PORT},
      {PORTS("[null]"), BAD_PORT},
      {PORTS("[[80]]"), BAD_PORT},
      {PORTS("[\"4294967296\"]"), BAD_PORT},
      {PORTS("[1e300]"), BAD_PORT},
      {PORTS("[\"99999999999999999999\"]"), BAD_PORT},
      {PORTS("[\"18446744073709551696\"]"), BAD_PORT}, /* 2^64+80 */
      {PORTS("80"), CDAM_ERR_INVALID, "exposed_ports", "is not an array"},
      {PORTS("{}"), CDAM_ERR_INVALID, "exposed_ports", "is not an array"},
      {PORTS("[80,\"x\"]"), CDAM_ERR_INVALID, "exposed_ports[1]", "whole number"},
      {PORTS("[0]"), CDAM_ERR_INVALID, "exposed_ports[0]", ""}, /* the schema's own rule */
      {PORTS("[80,80]"), CDAM_ERR_INVALID, "exposed_ports[1]", ""},
      {PORTS("[99999999999999999999]"), CDAM_ERR_MALFORMED, "", "a number is too large"},
  };
  expect_refusals(rows, sizeof rows / sizeof *rows);
}

static void texts_and_maps_that_are_none(void **unused) {
  (void)unused;
  static const refusal rows[] = {
      {"{\"image\":1}", CDAM_ERR_INVALID, "image", "is not a string"},
      {"{\"image\":[\"a\"]}", CDAM_ERR_INVALID, "image", "is not a string"},
      {"{\"image\":\"a\",\"env\":[]}", CDAM_ERR_INVALID, "env", "is not an object"},
      {"{\"image\":\"a\",\"env\":{\"A\":1}}", CDAM_ERR_INVALID, "env[A]", "is not a string"},
      {"{\"image\":\"a\",\"env\":{\"A\":null}}", CDAM_ERR_INVALID, "env[A]", "is not a string"},
      {"{\"image\":\"a\",\"env\":{\"A\":\"1\",\"A\":\"2\"}}", CDAM_ERR_MALFORMED, "",
       "a name is there twice"},
      {"{\"image\":\"a\",\"env\":{\"A\":\"1\",\"\\u0041\":\"2\"}}", CDAM_ERR_MALFORMED, "",
       "a name is there twice"},
      {"{\"image\":\"a\\u0000b\"}", CDAM_ERR_MALFORMED, "", "a NUL in a text"},
      {"{\"image\":\"a\",\"env\":{\"A\\u0000\":\"\"}}", CDAM_ERR_MALFORMED, "", "a NUL in a text"},
      {"{\"image\":\"a\xff\"}", CDAM_ERR_MALFORMED, "", "not UTF-8"},
      {"{\"image\":\"a\\ud800\"}", CDAM_ERR_MALFORMED, "", "not JSON"},
      {"{\"image\":\"\"}", CDAM_ERR_INVALID, "image", "required"},
      {"{\"image\":null}", CDAM_ERR_INVALID, "image", "required"},
      {"{}", CDAM_ERR_INVALID, "image", "required"},
  };
  expect_refusals(rows, sizeof rows / sizeof *rows);
}

static void documents_that_are_none(void **unused) {
  (void)unused;
  static const refusal rows[] = {
      {"", CDAM_ERR_MALFORMED, "", "ends too early"},
      {"{", CDAM_ERR_MALFORMED, "", "ends too early"},
      {"[]", CDAM_ERR_MALFORMED, "", "not an object"},
      {"null", CDAM_ERR_MALFORMED, "", "not JSON"},
      {"\"a\"", CDAM_ERR_MALFORMED, "", "not JSON"},
      {"{\"image\":\"a\"} x", CDAM_ERR_MALFORMED, "", "something behind"},
      {"{\"image\":\"a\"}{}", CDAM_ERR_MALFORMED, "", "something behind"},
      {"{\"image\":\"a\",}", CDAM_ERR_MALFORMED, "", "not JSON"},
      {"{image:\"a\"}", CDAM_ERR_MALFORMED, "", "not JSON"},
      {"{'image':'a'}", CDAM_ERR_MALFORMED, "", "not JSON"},
      {"{\"image\":\"a\"} // x", CDAM_ERR_MALFORMED, "", "something behind"},
      {"\xef\xbb\xbf{\"image\":\"a\"}", CDAM_ERR_MALFORMED, "", "not JSON"},
      {"{\"image\":NaN}", CDAM_ERR_MALFORMED, "", "not JSON"},
      {"{\"image\":\"a\",\"bridge\":true}", CDAM_ERR_MALFORMED, "bridge", "no such field"},
      {"{\"image\":\"a\",\"NetworkMode\":1}", CDAM_ERR_MALFORMED, "NetworkMode", "no such field"},
      {"{\"image\":\"a\",\"5\":1}", CDAM_ERR_MALFORMED, "5", "no such field"},
      {"{\"image\":\"a\",\"\":1}", CDAM_ERR_MALFORMED, "", "no such field"},
      {"{\"image\":\"a\",\"networkMode\":1,\"networkMode\":0}", CDAM_ERR_MALFORMED, "", "twice"},
      {"{\"image\":\"a\",\"networkMode\":1,\"network_mode\":0}", CDAM_ERR_MALFORMED, "network_mode",
       "there twice"},
      {"{\"image\":\"a\",\"networkMode\":1,\"network_mode\":null}", CDAM_ERR_MALFORMED,
       "network_mode", "there twice"},
  };
  expect_refusals(rows, sizeof rows / sizeof *rows);
}

/* Found by fuzzing: jansson reads 80 and goes on. */
static void a_nul_behind_a_number(void **unused) {
  (void)unused;
  static const char json[] = "{\"image\": \"a\", \"exposedPorts\": [80\0]}";
  cdam_options *options;
  cdam_error err;
  assert_int_equal(cdam_options_from_json(json, sizeof json - 1, &options, &err),
                   CDAM_ERR_MALFORMED);
  assert_string_equal(err.message, "a NUL in the JSON");
}

static void depth_and_size_are_bounded(void **unused) {
  (void)unused;
  size_t deep = 1000000;
  char *json = malloc(CDAM_JSON_MAX_BYTES + 1);
  assert_non_null(json);
  memset(json, '[', deep);
  cdam_options *options;
  cdam_error err;
  assert_int_equal(cdam_options_from_json(json, deep, &options, &err), CDAM_ERR_MALFORMED);
  assert_non_null(strstr(err.message, "nested too deep"));
  for (size_t depth = 60; depth < 70; depth++) {
    memset(json, '[', depth);
    memset(json + depth, ']', depth);
    assert_int_equal(cdam_options_from_json(json, 2 * depth, &options, &err), CDAM_ERR_MALFORMED);
    const char *text = depth <= CDAM_JSON_MAX_DEPTH ? "not an object" : "nested too deep";
    if (!strstr(err.message, text)) fail_msg("%zu: %s", depth, err.message);
  }
  /* Brackets in texts do not nest, nor do those that are closed. */
  char brackets[101] = {0};
  memset(brackets, '[', 100);
  snprintf(json, 1000, "{\"image\":\"a\",\"env\":{\"A\":\"\\\"%s\",\"B\":\"%s\\\\\"}}", brackets,
           brackets);
  cdam_options_free(read_good(json));
  memset(json, ' ', CDAM_JSON_MAX_BYTES + 1);
  assert_int_equal(cdam_options_from_json(json, CDAM_JSON_MAX_BYTES + 1, &options, &err),
                   CDAM_ERR_MALFORMED);
  assert_non_null(strstr(err.message, "more than 8388608 bytes"));
  free(json);
}

/* Messages go to logs, and env values may be secrets. */
static void messages_hold_no_values(void **unused) {
  (void)unused;
  static const char *const rows[] = {
      "{\"image\":\"a\",\"env\":{\"KEY\":\"hunter2\"",
      "{\"image\":\"a\",\"env\":{\"KEY\":\"hunter2\" \"x\"}}",
      "{\"image\":\"a\",\"env\":{\"KEY\":hunter2}}",
      "{\"image\":\"a\",\"env\":{\"KEY\":\"hunter2\\ud800\"}}",
      "{\"image\":\"a\",\"env\":{\"KEY\":[\"hunter2\"]}}",
      "{\"image\":\"a\",\"env\":\"hunter2\"}",
      "{\"image\":\"a\",\"env\":[\"KEY=hunter2\"]}",
      "{\"image\":\"a\",\"env\":{\"KEY\":\"hunter2\\u0000\"}}",
      "{\"image\":\"a\",\"env\":{\"KEY\":\"hunter2\xff\"}}",
      "{\"image\":\"a\",\"env\":{\"KEY\":\"hunter2\"},\"networkMode\":\"hunter2\"}",
      "{\"image\":\"a\",\"env\":{\"KEY\":\"hunter2\"},\"exposedPorts\":[\"hunter2\"]}",
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    cdam_options *options;
    cdam_error err;
    assert_int_not_equal(cdam_options_from_json(rows[i], strlen(rows[i]), &options, &err), CDAM_OK);
    for (size_t at = 0; at + 7 <= sizeof err; at++)
      if (memcmp((char *)&err + at, "hunter2", 7) == 0) fail_msg("%s: %s", rows[i], err.message);
  }
}

/* ---- reading states ---- */

#define STATE(more, features, options)                                                             \
  "{\"schemaRevision\":2," features "\"sessionId\":\"" TEST_SESSION_ID                             \
  "\",\"options\":{\"image\":\"a\"" options "},\"imageId\":\"sha256:" TEST_HEX                     \
  "\",\"containerId\":\"" TEST_HEX "\"" more "}"
#define LISTED "\"requiredFeatures\":[\"FEATURE_NETWORK_ISOLATION\"],"
#define NONE ",\"networkMode\":\"NETWORK_MODE_NONE\""

static cdam_status read_state(const char *json, const cdam_key *key, cdam_state **state,
                              cdam_error *err) {
  return cdam_state_from_json(json, strlen(json), key, state, err);
}

static void states_are_checked(void **unused) {
  (void)unused;
  static const refusal rows[] = {
      {STATE("", LISTED, NONE), CDAM_OK, "", ""},
      {STATE("", "\"requiredFeatures\":[1],", NONE), CDAM_OK, "", ""},
      {STATE("", "", NONE), CDAM_ERR_INVALID, "required_features", ""},
      {STATE("", LISTED, ""), CDAM_ERR_INVALID, "required_features", ""},
      {STATE("", "\"requiredFeatures\":[\"FEATURE_OF_TOMORROW\"],", NONE), CDAM_ERR_UNSUPPORTED,
       "required_features[0]", "FEATURE_NETWORK_ISOLATION"},
      {STATE("", "\"requiredFeatures\":[1,100],", NONE), CDAM_ERR_UNSUPPORTED,
       "required_features[1]", ""},
      {STATE("", "\"requiredFeatures\":[4294967297],", NONE), CDAM_ERR_UNSUPPORTED,
       "required_features[0]", ""},
      {STATE("", LISTED, ",\"networkMode\":2"), CDAM_ERR_INVALID, "options.network_mode", ""},
      {STATE("", LISTED, ",\"networkMode\":\"none\""), CDAM_ERR_INVALID, "options.network_mode",
       ""},
      {STATE("", LISTED, NONE ",\"x\":1"), CDAM_ERR_MALFORMED, "options.x", ""},
      {STATE(",\"workspaceReady\":1", LISTED, NONE), CDAM_ERR_INVALID, "workspace_ready", ""},
      {STATE(",\"workspaceReady\":\"true\"", LISTED, NONE), CDAM_ERR_INVALID, "workspace_ready",
       ""},
      {STATE(",\"engine\":[]", LISTED, NONE), CDAM_ERR_INVALID, "engine", "not an object"},
      {STATE(",\"engine\":{\"id\":\"a b\"}", LISTED, NONE), CDAM_ERR_INVALID, "engine.id", ""},
      {STATE(",\"engine\":{\"id\":\"a\",\"name\":\"b\"}", LISTED, NONE), CDAM_ERR_MALFORMED,
       "engine.name", "no such field"},
      {"{}", CDAM_ERR_INVALID, "schema_revision", "required"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    cdam_state *state = NULL;
    cdam_error err;
    cdam_status status = read_state(rows[i].json, NULL, &state, &err);
    if (status != rows[i].code || strcmp(err.field, rows[i].field) != 0 ||
        !strstr(err.message, rows[i].text))
      fail_msg("%s: %s \"%s\" %s", rows[i].json, cdam_status_name(status), err.field,
               status ? err.message : "");
    assert_int_equal(state != NULL, status == CDAM_OK);
    cdam_state_free(state);
  }
}

static void seals_in_json(void **unused) {
  (void)unused;
  cdam_key *key = golden_key();
  cdam_key *other = make_key("test-key", TEST_HEX, 64);
  blob sha = golden_as("r2-none-full", "json"), hmac = golden_as("r2-none-hmac", "json");
  blob bare = golden_as("r2-none-unsealed", "json");
  const struct {
    const blob *json;
    const cdam_key *key;
    cdam_status code;
  } rows[] = {
      {&bare, NULL, CDAM_OK},        {&bare, key, CDAM_ERR_SEAL}, {&sha, NULL, CDAM_OK},
      {&sha, key, CDAM_ERR_SEAL},    {&hmac, key, CDAM_OK},       {&hmac, NULL, CDAM_ERR_SEAL},
      {&hmac, other, CDAM_ERR_SEAL},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    cdam_state *state = NULL;
    assert_int_equal(cdam_state_from_json((char *)rows[i].json->bytes, rows[i].json->length,
                                          rows[i].key, &state, NULL),
                     rows[i].code);
    cdam_state_free(state);
  }
  /* Any other content under the same seal. */
  char *text = strndup((char *)sha.bytes, sha.length);
  strstr(text, "8080")[3] = '1';
  cdam_state *state = NULL;
  assert_int_equal(read_state(text, NULL, &state, NULL), CDAM_ERR_SEAL);
  free(text);
  blob_free(&sha);
  blob_free(&hmac);
  blob_free(&bare);
  cdam_key_free(key);
  cdam_key_free(other);
}

/* A state that was changed has no seal to show until it is written again. */
static void a_seal_is_forgotten(void **unused) {
  (void)unused;
  blob b = golden("r2-none-full.binpb");
  cdam_state *state = parse_good(&b, NULL), *again = NULL;
  char *json = NULL;
  state->message.workspace_ready = 0;
  assert_int_equal(cdam_state_to_json(state, &json, NULL), CDAM_OK);
  assert_int_equal(read_state(json, NULL, &again, NULL), CDAM_ERR_SEAL);
  free(json);
  cdam_state_forget_seal(state);
  cdam_state_forget_seal(state);
  assert_int_equal(cdam_state_to_json(state, &json, NULL), CDAM_OK);
  assert_int_equal(read_state(json, NULL, &again, NULL), CDAM_OK);
  free(json);
  cdam_state_free(again);
  cdam_state_free(state);
  blob_free(&b);
}

static void seals_that_are_none(void **unused) {
  (void)unused;
  static const refusal rows[] = {
      {STATE(",\"seal\":{}", LISTED, NONE), CDAM_ERR_SEAL, "", ""},
      {STATE(",\"seal\":{\"algorithm\":1,\"digest\":\"AAAA\"}", LISTED, NONE), CDAM_ERR_SEAL, "",
       ""},
      {STATE(",\"seal\":{\"algorithm\":9}", LISTED, NONE), CDAM_ERR_INVALID, "seal.algorithm", ""},
      {STATE(",\"seal\":{\"digest\":\"?\"}", LISTED, NONE), CDAM_ERR_INVALID, "seal.digest",
       "not base64"},
      {STATE(",\"seal\":{\"digest\":7}", LISTED, NONE), CDAM_ERR_INVALID, "seal.digest",
       "not a string"},
      {STATE(",\"seal\":null", LISTED, NONE), CDAM_OK, "", ""},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    cdam_state *state = NULL;
    cdam_error err;
    cdam_status status = read_state(rows[i].json, NULL, &state, &err);
    if (status != rows[i].code || strcmp(err.field, rows[i].field) != 0)
      fail_msg("%s: %s \"%s\"", rows[i].json, cdam_status_name(status), err.field);
    cdam_state_free(state);
  }
}

/* ---- base64 ---- */

static void base64_both_ways(void **unused) {
  (void)unused;
  unsigned char bytes[64], back[CDAM_BASE64_BYTES_SIZE(100)];
  char text[CDAM_BASE64_TEXT_SIZE(64)];
  for (size_t i = 0; i < sizeof bytes; i++)
    bytes[i] = (unsigned char)(i * 37 + 251);
  for (size_t length = 0; length <= sizeof bytes; length++) {
    size_t count, size = cdam_base64_encode(bytes, length, text);
    assert_int_equal(size, strlen(text));
    assert_int_equal(size % 4, 0);
    assert_true(cdam_base64_decode(text, size, back, &count));
    assert_int_equal(count, length);
    assert_memory_equal(bytes, back, length);
    while (size && text[size - 1] == '=')
      size--; /* without padding, for URLs */
    for (size_t i = 0; i < size; i++)
      text[i] = text[i] == '+' ? '-' : text[i] == '/' ? '_' : text[i];
    assert_true(cdam_base64_decode(text, size, back, &count));
    assert_int_equal(count, length);
    assert_memory_equal(bytes, back, length);
  }
}

static void base64_that_is_none(void **unused) {
  (void)unused;
  static const char *const rows[] = {
      "A",     "AAAAA",   "=",     "==",   "===",      "====",  "A===", "AB==",
      "AAB=",  "AA=",     "AA===", "A A=", "AA==AA==", "AAA\n", "AA*A", "\xff\xff\xff\xff",
      "AAAA=", "AAAA===="};
  unsigned char back[100];
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    size_t count;
    blob exact = blob_of(rows[i], strlen(rows[i]));
    if (cdam_base64_decode((char *)exact.bytes, exact.length, back, &count))
      fail_msg("accepted \"%s\"", rows[i]);
    blob_free(&exact);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(written_as_python_writes_it),
      cmocka_unit_test(read_as_python_writes_it),
      cmocka_unit_test(exact_text),
      cmocka_unit_test(names_and_spellings),
      cmocka_unit_test(maps_are_in_the_order_of_their_keys),
      cmocka_unit_test(null_is_the_default),
      cmocka_unit_test(modes_that_are_none),
      cmocka_unit_test(numbers_that_are_none),
      cmocka_unit_test(texts_and_maps_that_are_none),
      cmocka_unit_test(documents_that_are_none),
      cmocka_unit_test(a_nul_behind_a_number),
      cmocka_unit_test(depth_and_size_are_bounded),
      cmocka_unit_test(messages_hold_no_values),
      cmocka_unit_test(states_are_checked),
      cmocka_unit_test(seals_in_json),
      cmocka_unit_test(a_seal_is_forgotten),
      cmocka_unit_test(seals_that_are_none),
      cmocka_unit_test(base64_both_ways),
      cmocka_unit_test(base64_that_is_none),
  };
  return cmocka_run_group_tests_name("protojson", tests, NULL, NULL);
}
