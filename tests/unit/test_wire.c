/* SPDX-License-Identifier: Apache-2.0 */
/* The strict walk: what must never reach an unpacker, each refusal by itself. */
#include "state_support.h"

#include "state/schema.h"
#include "state/wire.h"

/* One refusal: bytes that are put behind a good state, or into its options. */
typedef struct refusal {
  const char *what;
  const char *bytes;
  size_t length;
  const char *text;  /* in the message */
  const char *field; /* err.field */
} refusal;

#define BYTES(text) text, sizeof(text) - 1

static void expect_refusals_in_options(const refusal *rows, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const refusal *row = &rows[i];
    blob b = state_with(true, row->bytes, row->length, NULL, 0);
    refuse(row->what, &b, NULL, CDAM_ERR_MALFORMED, row->text);
    cdam_error err;
    cdam_status status =
        cdam_wire_check(&cofferdam__v1__session_state__descriptor, b.bytes, b.length, &err);
    assert_int_equal(status, CDAM_ERR_MALFORMED);
    if (strcmp(err.field, row->field) != 0)
      fail_msg("%s: field \"%s\", not \"%s\"", row->what, err.field, row->field);
    assert_non_null(strstr(err.message, "byte "));
    blob_free(&b);
  }
}

static const refusal at_top[] = {
    {"half a tag", BYTES("\x9f"), "end within a number", ""},
    {"tag 0", BYTES("\0"), "field number 0", ""},
    {"tag 0 and more", BYTES("\0garbage"), "field number 0", ""},
    {"field 0, other wire types", BYTES("\x02\0"), "field number 0", ""},
    {"field number 2^29", BYTES("\x80\x80\x80\x80\x10\0"), "above 2^29-1", ""},
    {"tag of 64 bits", BYTES("\xa8\x80\x80\x80\x80\x80\x80\x80\x80\x01\0"), "above 2^29-1", ""},
    {"tag that is too long", BYTES("\xc0\x80\0"), "longer than it must be", ""},
    {"tag of a known field, too long", BYTES("\xc0\0\x01"), "longer than it must be", ""},
    {"tag of eleven bytes", BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "64 bits", ""},
    {"group", BYTES("\xc3\x3e\xc4\x3e"), "a group", ""},
    {"group of a known field", BYTES("\x3b\x3c"), "not the field's", "engine"},
    {"end of a group", BYTES("\xc4\x3e"), "a group", ""},
    {"wire type 6", BYTES("\xc6\x3e\0"), "does not exist", ""},
    {"wire type 7", BYTES("\xc7\x3e\0"), "does not exist", ""},
    {"unknown varint that is cut", BYTES("\xc0\x3e\x80"), "end within a number", ""},
    {"unknown varint that is not there", BYTES("\xc0\x3e"), "end within a number", ""},
    {"unknown varint, too long", BYTES("\xc0\x3e\x81\0"), "longer than it must be", ""},
    {"unknown varint of 65 bits", BYTES("\xc0\x3e\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"),
     "64 bits", ""},
    {"unknown 64 bits, 7 bytes there",
     BYTES("\xc1\x3e"
           "1234567"),
     "within a value", ""},
    {"unknown 32 bits, 3 bytes there",
     BYTES("\xc5\x3e"
           "123"),
     "within a value", ""},
    {"unknown length beyond the end",
     BYTES("\xc2\x3e\x05"
           "1234"),
     "beyond the end", ""},
    {"length 2^31-1 and no data", BYTES("\xc2\x3e\xff\xff\xff\xff\x07"), "beyond the end", ""},
    {"length 2^32", BYTES("\xc2\x3e\x80\x80\x80\x80\x10"), "beyond the end", ""},
    {"length 2^64-1", BYTES("\xc2\x3e\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "beyond the end",
     ""},
    {"revision again", BYTES("\x08\x02"), "there twice", "schema_revision"},
    {"revision as a text", BYTES("\x0a\x01\x02"), "twice", "schema_revision"},
    {"revision as 32 bits", BYTES("\x0d\x02\0\0\0"), "twice", "schema_revision"},
    {"session id again",
     BYTES("\x1a\x01"
           "a"),
     "there twice", "session_id"},
    {"options again", BYTES("\x22\x02\x28\0"), "there twice", "options"},
    {"empty options again", BYTES("\x22\0"), "there twice", "options"},
    {"features as 64 bits", BYTES("\x11\x01\0\0\0\0\0\0\0"), "not the field's",
     "required_features"},
    {"a packed feature that is cut", BYTES("\x12\x01\x81"), "end within a number",
     "required_features"},
    {"a feature of 2^32+1", BYTES("\x10\x81\x80\x80\x80\x10"), "negative or above",
     "required_features"},
    {"a packed feature of 2^32+1", BYTES("\x12\x05\x81\x80\x80\x80\x10"), "negative or above",
     "required_features"},
    {"a feature that is too long", BYTES("\x10\x81\0"), "longer than", "required_features"},
    {"ready is 2", BYTES("\x40\x02"), "neither 0 nor 1", "workspace_ready"},
    {"ready is 2^64-1", BYTES("\x40\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "neither 0 nor 1",
     "workspace_ready"},
    {"ready is packed", BYTES("\x42\x01\x01"), "not the field's", "workspace_ready"},
    {"ready is there twice", BYTES("\x40\x01\x40\x01"), "there twice", "workspace_ready"},
    {"engine as a number", BYTES("\x38\x01"), "not the field's", "engine"},
    {"engine id not UTF-8", BYTES("\x3a\x04\x0a\x02\xc3\x28"), "not UTF-8", "engine.id"},
    {"engine id twice",
     BYTES("\x3a\x06\x0a\x01"
           "a\x0a\x01"
           "b"),
     "there twice", "engine.id"},
    {"unknown in engine, cut", BYTES("\x3a\x03\xc0\x3e\x80"), "end within a number", "engine"},
    {"engine length one too many",
     BYTES("\x3a\x04\x0a\x01"
           "a"),
     "beyond the end", "engine"},
    {"inner length beyond its message", BYTES("\x3a\x02\x0a\x01\x40\x01"), "beyond the end",
     "engine.id"},
};

/* These are refused on the way to the seal, with no field path: the walk comes after it. */
static void refuses_at_the_top(void **unused) {
  (void)unused;
  for (size_t i = 0; i < sizeof at_top / sizeof *at_top; i++) {
    blob b = state_with(true, NULL, 0, at_top[i].bytes, at_top[i].length);
    cdam_error err;
    assert_int_equal(
        cdam_wire_check(&cofferdam__v1__session_state__descriptor, b.bytes, b.length, &err),
        CDAM_ERR_MALFORMED);
    if (strcmp(err.field, at_top[i].field) != 0 || !strstr(err.message, at_top[i].text))
      fail_msg("%s: field \"%s\": %s", at_top[i].what, err.field, err.message);
    refuse(at_top[i].what, &b, NULL, CDAM_ERR_MALFORMED, "byte ");
    blob_free(&b);
  }
}

static const refusal in_options[] = {
    {"mode again, NONE", BYTES("\x28\x01"), "there twice", "options.network_mode"},
    {"mode again, UNSET", BYTES("\x28\0"), "there twice", "options.network_mode"},
    {"image again", BYTES("\x0a\x01x"), "there twice", "options.image"},
    {"half a tag", BYTES("\x80"), "end within a number", "options"},
    {"tag 0", BYTES("\0"), "field number 0", "options"},
    {"group around a mode", BYTES("\xc3\x3e\x28\0\xc4\x3e"), "a group", "options"},
    {"unknown length beyond the options", BYTES("\xc2\x3e\x01"), "beyond the end", "options"},
    {"port of 2^32+80", BYTES("\x10\xd0\x80\x80\x80\x10"), "above 2^32-1", "options.exposed_ports"},
    {"packed port of 2^32+80", BYTES("\x12\x06\x50\xd0\x80\x80\x80\x10"), "above 2^32-1",
     "options.exposed_ports"},
    {"port that is too long", BYTES("\x10\xd0\0"), "longer than", "options.exposed_ports"},
    {"packed ports that are cut", BYTES("\x12\x02\x50\xd0"), "end within a number",
     "options.exposed_ports"},
    {"packed length 2^31-1 and no data", BYTES("\x12\xff\xff\xff\xff\x07"), "beyond the end",
     "options.exposed_ports"},
    {"port as 32 bits", BYTES("\x15\x50\0\0\0"), "not the field's", "options.exposed_ports"},
    {"label entry with a third field",
     BYTES("\x1a\x08\x0a\x01"
           "a\x12\x01"
           "b\x18\x01"),
     "neither key nor value", "options.labels"},
    {"label key twice in the entry",
     BYTES("\x1a\x06\x0a\x01"
           "a\x0a\x01"
           "b"),
     "there twice", "options.labels.key"},
    {"label value twice in the entry",
     BYTES("\x1a\x06\x12\x01"
           "a\x12\x01"
           "b"),
     "there twice", "options.labels.value"},
    {"env key is a number", BYTES("\x22\x02\x08\x01"), "not the field's", "options.env.key"},
    {"env as a number", BYTES("\x20\x01"), "not the field's", "options.env"},
    {"env value not UTF-8",
     BYTES("\x22\x07\x0a\x01"
           "A\x12\x02\xe9\x20"),
     "not UTF-8", "options.env.value"},
    {"env value with a NUL",
     BYTES("\x22\x08\x0a\x01"
           "A\x12\x03"
           "a\0b"),
     "a NUL", "options.env.value"},
    {"env key with a NUL",
     BYTES("\x22\x08\x0a\x03"
           "A\0B\x12\x01"
           "x"),
     "a NUL", "options.env.key"},
    {"label key not UTF-8", BYTES("\x1a\x06\x0a\x04\xed\xa0\x80 "), "not UTF-8",
     "options.labels.key"},
};

static void refuses_in_options(void **unused) {
  (void)unused;
  expect_refusals_in_options(in_options, sizeof in_options / sizeof *in_options);
}

/* The options alone carry the mode: here it is not what it should be. */
static void refuses_a_mode_that_would_be_narrowed(void **unused) {
  (void)unused;
  static const struct {
    const char *bytes;
    size_t length;
    cdam_status code;
    const char *text;
  } rows[] = {
      {BYTES("\x28\x81\x80\x80\x80\x10"), CDAM_ERR_MALFORMED, "negative or above"}, /* 2^32+1 */
      {BYTES("\x28\x80\x80\x80\x80\x10"), CDAM_ERR_MALFORMED, "negative or above"}, /* 2^32 */
      {BYTES("\x28\x80\x80\x80\x80\x08"), CDAM_ERR_MALFORMED, "negative or above"}, /* 2^31 */
      {BYTES("\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), CDAM_ERR_MALFORMED, "negative"},
      {BYTES("\x28\xff\xff\xff\xff\x0f"), CDAM_ERR_MALFORMED,
       "negative or above"}, /* -1, 5 bytes */
      {BYTES("\x28\x81\0"), CDAM_ERR_MALFORMED, "longer than"},
      {BYTES("\x28\x80\0"), CDAM_ERR_MALFORMED, "longer than"},
      {BYTES("\x2a\x01\x01"), CDAM_ERR_MALFORMED, "not the field's"}, /* as if it were packed */
      {BYTES("\x29\x01\0\0\0\0\0\0\0"), CDAM_ERR_MALFORMED, "not the field's"},
      {BYTES("\x2d\x01\0\0\0"), CDAM_ERR_MALFORMED, "not the field's"},
      {BYTES("\x2b\x2c"), CDAM_ERR_MALFORMED, "not the field's"},
      {BYTES("\x28\x02"), CDAM_ERR_INVALID, "options.network_mode"},
      {BYTES("\x28\x0f"), CDAM_ERR_INVALID, "options.network_mode"},
      {BYTES("\x28\xff\xff\xff\xff\x07"), CDAM_ERR_INVALID, "options.network_mode"}, /* 2^31-1 */
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    /* With the feature and without: neither makes it acceptable. */
    blob b = state_with(false, rows[i].bytes, rows[i].length, NULL, 0);
    refuse("mode", &b, NULL, rows[i].code, rows[i].text);
    blob_insert(&b, 2, "\x12\x01\x01", 3);
    refuse("mode with feature", &b, NULL, rows[i].code, rows[i].text);
    blob_free(&b);
  }
}

static void refuses_texts_with_nul_or_bad_utf8_in_ids(void **unused) {
  (void)unused;
  blob b = {0};
  blob_add(&b, "\x08\x02", 2);
  blob_add_text(&b, 3, TEST_SESSION_ID);
  blob_add(&b,
           "\x22\x09\x0a\x07"
           "busybox",
           11);
  blob_add_text(&b, 5, "sha256:" TEST_HEX);
  blob_add_field(&b, 6, TEST_HEX "\0evil", 64 + 5);
  refuse("container id", &b, NULL, CDAM_ERR_MALFORMED, "container_id: a NUL");
  blob_free(&b);
  b = state_with(true, NULL, 0, NULL, 0);
  memcpy(b.bytes + 7, "\xf0\x80", 2);
  refuse("session id", &b, NULL, CDAM_ERR_MALFORMED, "session_id: a text that is not UTF-8");
  blob_free(&b);
}

static void refuses_nothing_and_too_much(void **unused) {
  (void)unused;
  blob b = blob_of("", 0);
  refuse("no bytes", &b, NULL, CDAM_ERR_MALFORMED, "no bytes");
  blob_free(&b);
  b = state_with(true, NULL, 0, NULL, 0);
  size_t fill = CDAM_STATE_MAX_BYTES - b.length - 5;
  unsigned char *bytes = calloc(1, fill);
  assert_non_null(bytes);
  blob_add_field(&b, 1000, bytes, fill);
  assert_int_equal(b.length, CDAM_STATE_MAX_BYTES);
  cdam_state_free(parse_good(&b, NULL)); /* the largest there is */
  blob_free(&b);
  b = state_with(true, NULL, 0, NULL, 0);
  blob_add_field(&b, 10000, bytes, fill);
  assert_int_equal(b.length, CDAM_STATE_MAX_BYTES + 1);
  refuse("one too many", &b, NULL, CDAM_ERR_MALFORMED, "more than 1048576 bytes");
  free(bytes);
  blob_free(&b);
}

static void refuses_zeros(void **unused) {
  (void)unused;
  for (size_t length = 1; length < 700; length += 233) {
    blob b = {calloc(1, length), length};
    refuse("zeros", &b, NULL, CDAM_ERR_MALFORMED, "byte 0: field number 0");
    blob_free(&b);
  }
}

/* A million fields of two bytes would take a hundred times their size to unpack. */
static void bounds_the_number_of_fields(void **unused) {
  (void)unused;
  size_t most = CDAM_WIRE_MAX_FIELDS + 1;
  unsigned char *many = malloc(3 * most);
  assert_non_null(many);
  for (size_t i = 0; i < most; i++)
    memcpy(many + 3 * i, "\xc8\x3e\x01", 3);
  blob b = state_with(true, many, 3 * 500, many, 3 * 1000);
  cdam_state_free(parse_good(&b, NULL));
  blob_free(&b);
  b = state_with(true, NULL, 0, many, 3 * most);
  refuse("at the top", &b, NULL, CDAM_ERR_MALFORMED, "too many fields");
  blob_free(&b);
  b = state_with(true, many, 3 * most, NULL, 0);
  refuse("in options", &b, NULL, CDAM_ERR_MALFORMED, "options: too many fields");
  blob_free(&b);
  free(many);
}

static void refuses_a_map_key_twice(void **unused) {
  (void)unused;
  static const char twice[] = "\x22\x06\x0a\x01"
                              "B\x12\x01"
                              "1"
                              "\x22\x06\x0a\x01"
                              "A\x12\x01"
                              "1"
                              "\x22\x06\x0a\x01"
                              "B\x12\x01"
                              "2";
  blob b = state_with(true, twice, sizeof twice - 1, NULL, 0);
  refuse("twice", &b, NULL, CDAM_ERR_MALFORMED, "options.env[B]: the key is there twice");
  blob_free(&b);
  /* Not next to each other, and among very many: still found, and in no time. */
  unsigned char *entries = malloc(20000 * 10);
  assert_non_null(entries);
  for (unsigned i = 0; i < 20000; i++)
    snprintf((char *)entries + i * 9, 10, "\x1a\x07\x0a\x05%05x", i == 19999 ? 7 : 20000 - i);
  b = state_with(true, entries, 20000 * 9, NULL, 0);
  refuse("among many", &b, NULL, CDAM_ERR_MALFORMED,
         "options.labels[00007]: the key is there twice");
  free(entries);
  blob_free(&b);
}

/* ---- what must be accepted ---- */

static void accepts_packed_and_unpacked(void **unused) {
  (void)unused;
  static const struct {
    const char *bytes;
    size_t length;
  } rows[] = {
      {BYTES("\x12\x03\x50\xbb\x03")},     /* packed, as we write it */
      {BYTES("\x10\x50\x10\xbb\x03")},     /* unpacked */
      {BYTES("\x12\x01\x50\x10\xbb\x03")}, /* both */
      {BYTES("\x10\x50\x12\0\x12\x02\xbb\x03")},
  };
  blob first = {0};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    blob b = state_with(true, rows[i].bytes, rows[i].length, NULL, 0);
    cdam_state *state = parse_good(&b, NULL);
    assert_int_equal(state->message.options->n_exposed_ports, 2);
    assert_int_equal(state->message.options->exposed_ports[0], 80);
    assert_int_equal(state->message.options->exposed_ports[1], 443);
    blob written = serialize(state, NULL);
    if (i == 0)
      first = blob_of(written.bytes, written.length);
    else
      assert_same_bytes(&first, &written);
    cdam_state_free(state);
    blob_free(&written);
    blob_free(&b);
  }
  blob_free(&first);
}

static void accepts_features_unpacked(void **unused) {
  (void)unused;
  blob b = state_with(false, BYTES("\x28\x01"), BYTES("\x10\x01"));
  cdam_state *state = parse_good(&b, NULL);
  assert_true(is_none(state));
  cdam_state_free(state);
  blob_free(&b);
}

static void accepts_other_orders_and_written_defaults(void **unused) {
  (void)unused;
  /* Explicit zeros, a map entry with only a key and one in another order. */
  static const char options[] = "\x28\0\x22\x03\x0a\x01"
                                "A"
                                "\x22\x06\x12\x01"
                                "1\x0a\x01"
                                "B";
  blob b = state_with(false, options, sizeof options - 1, BYTES("\x12\0\x3a\0\x40\0"));
  cdam_state *state = parse_good(&b, NULL);
  assert_false(is_none(state));
  assert_int_equal(state->message.options->n_env, 2);
  assert_string_equal(state->message.options->env[0]->value, "");
  assert_string_equal(state->message.options->env[1]->value, "1");
  assert_non_null(state->message.engine);
  cdam_state_free(state);
  blob_free(&b);
}

/* The schema is not recursive and has no such types; a later one that is, or has, must not find the
 * walk unprepared. */
static const ProtobufCMessageDescriptor odd;
static const ProtobufCFieldDescriptor odd_fields[] = {
    {.name = "self",
     .id = 1,
     .label = PROTOBUF_C_LABEL_NONE,
     .type = PROTOBUF_C_TYPE_MESSAGE,
     .descriptor = &odd},
    {.name = "real", .id = 2, .label = PROTOBUF_C_LABEL_NONE, .type = PROTOBUF_C_TYPE_DOUBLE},
    {.name = "reals", .id = 3, .label = PROTOBUF_C_LABEL_REPEATED, .type = PROTOBUF_C_TYPE_DOUBLE},
};
static const ProtobufCIntRange odd_ranges[] = {{1, 0}, {0, 3}};
static const ProtobufCMessageDescriptor odd = {.magic = PROTOBUF_C__MESSAGE_DESCRIPTOR_MAGIC,
                                               .name = "Odd",
                                               .n_fields = 3,
                                               .fields = odd_fields,
                                               .n_field_ranges = 1,
                                               .field_ranges = odd_ranges};

static void is_not_led_deep(void **unused) {
  (void)unused;
  cdam_error err;
  blob b = blob_of("", 0);
  for (size_t depth = 1; depth < 100; depth++) {
    blob outer = {0};
    blob_add_field(&outer, 1, b.bytes, b.length);
    blob_free(&b);
    b = outer;
    cdam_status status = cdam_wire_check(&odd, b.bytes, b.length, &err);
    assert_int_equal(status, depth <= CDAM_MAX_DEPTH ? CDAM_OK : CDAM_ERR_MALFORMED);
    if (status) assert_non_null(strstr(err.message, "nested too deep"));
  }
  blob_free(&b);
}

static void refuses_types_that_it_has_no_rule_for(void **unused) {
  (void)unused;
  cdam_error err;
  static const unsigned char as_64_bits[] = "\x11"
                                            "12345678",
                             as_bytes[] = "\x12\x08"
                                          "12345678",
                             packed[] = "\x1a\x08"
                                        "12345678";
  assert_int_equal(cdam_wire_check(&odd, as_64_bits, sizeof as_64_bits - 1, &err),
                   CDAM_ERR_MALFORMED);
  assert_int_equal(cdam_wire_check(&odd, as_bytes, sizeof as_bytes - 1, &err), CDAM_ERR_MALFORMED);
  assert_int_equal(cdam_wire_check(&odd, packed, sizeof packed - 1, &err), CDAM_ERR_MALFORMED);
  assert_non_null(strstr(err.message, "not in use"));
}

/* The walk fails closed for a type that it has no rule for, so the schema must have none. */
static void knows_every_type_of_the_schema(void **unused) {
  (void)unused;
  for (size_t i = 0; i < cdam_generated_message_count; i++) {
    const ProtobufCMessageDescriptor *message = cdam_generated_messages[i].descriptor;
    assert_true(message->n_fields <= 256);
    for (unsigned f = 0; f < message->n_fields; f++) {
      assert_int_not_equal(cdam_element_size(message->fields[f].type), 0);
      assert_int_not_equal(message->fields[f].label, PROTOBUF_C_LABEL_OPTIONAL);
      assert_int_equal(message->fields[f].flags & PROTOBUF_C_FIELD_FLAG_ONEOF, 0);
    }
  }
  const ProtobufCFieldDescriptor *seal = protobuf_c_message_descriptor_get_field_by_name(
      &cofferdam__v1__session_state__descriptor, "seal");
  assert_non_null(seal);
  assert_int_equal(seal->id, CDAM_SEAL_FIELD);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refuses_at_the_top),
      cmocka_unit_test(refuses_in_options),
      cmocka_unit_test(refuses_a_mode_that_would_be_narrowed),
      cmocka_unit_test(refuses_texts_with_nul_or_bad_utf8_in_ids),
      cmocka_unit_test(refuses_nothing_and_too_much),
      cmocka_unit_test(refuses_zeros),
      cmocka_unit_test(bounds_the_number_of_fields),
      cmocka_unit_test(refuses_a_map_key_twice),
      cmocka_unit_test(accepts_packed_and_unpacked),
      cmocka_unit_test(accepts_features_unpacked),
      cmocka_unit_test(accepts_other_orders_and_written_defaults),
      cmocka_unit_test(is_not_led_deep),
      cmocka_unit_test(refuses_types_that_it_has_no_rule_for),
      cmocka_unit_test(knows_every_type_of_the_schema),
  };
  return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
