/* SPDX-License-Identifier: Apache-2.0 */
/* States as values: what is read is what was written, features, revisions, unknown fields. */
#include "state_support.h"

#include <cofferdam/options.h>
#include <cofferdam/state.h>
#include <cofferdam/version.h>

#include "state/pack.h"

static const char *const goldens[] = {"r1-minimal",      "r1-full",      "r2-unset",
                                      "r2-none-minimal", "r2-none-full", "r2-none-ports",
                                      "r2-none-unknown", "r2-none-hmac", "r1-hmac"};

static void goldens_come_out_as_they_went_in(void **unused) {
  (void)unused;
  cdam_key *key = golden_key();
  for (size_t i = 0; i < sizeof goldens / sizeof *goldens; i++) {
    char name[64];
    snprintf(name, sizeof name, "%s.binpb", goldens[i]);
    const cdam_key *used = strstr(name, "hmac") ? key : NULL;
    blob b = golden(name);
    cdam_state *state = parse_good(&b, used), *copy = NULL;
    blob written = serialize(state, used);
    assert_same_bytes(&b, &written);
    blob_free(&written);
    assert_int_equal(cdam_state_copy(state, &copy, NULL), CDAM_OK);
    cdam_state_free(state);
    written = serialize(copy, used);
    assert_same_bytes(&b, &written);
    assert_int_equal(cdam_state_validate(copy, NULL), CDAM_OK);
    cdam_state_free(copy);
    blob_free(&written);
    blob_free(&b);
  }
  cdam_key_free(key);
}

static void goldens_have_their_values(void **unused) {
  (void)unused;
  blob b = golden("r2-none-full.binpb");
  cdam_state *state = parse_good(&b, NULL);
  const cdam_options *options = cdam_state_options(state);
  assert_int_equal(cdam_state_schema_revision(state), 2);
  assert_int_equal(cdam_options_network_mode(options), CDAM_NETWORK_MODE_NONE);
  assert_string_equal(cdam_options_image(options), "registry.example:5000/team/tool:1.2");
  assert_int_equal(cdam_options_exposed_port_count(options), 3);
  assert_int_equal(cdam_options_exposed_port(options, 0), 8080);
  assert_int_equal(cdam_options_env_count(options), 5);
  assert_string_equal(cdam_options_env(options, "_"), "a\"b\\c\n\t\x01");
  assert_string_equal(cdam_options_env(options, "EMPTY"), "");
  assert_string_equal(cdam_options_label(options, "owner"), "\xc3\xbcmlaut");
  assert_string_equal(cdam_state_engine_id(state), "ABCD:EFGH:2345");
  assert_true(cdam_state_workspace_ready(state));
  assert_false(cdam_state_has_unknown_fields(state));
  assert_int_equal(cdam_state_seal_algorithm(state), CDAM_SEAL_ALGORITHM_SHA256);
  cdam_state_free(state);
  blob_free(&b);
}

static void states_of_r1_load_as_unset(void **unused) {
  (void)unused;
  static const char *const names[] = {"r1-minimal.binpb", "r1-full.binpb"};
  for (size_t i = 0; i < 2; i++) {
    blob b = golden(names[i]);
    cdam_state *state = parse_good(&b, NULL);
    assert_int_equal(cdam_state_schema_revision(state), 1);
    assert_int_equal(cdam_state_required_feature_count(state), 0);
    assert_int_equal(cdam_options_network_mode(cdam_state_options(state)), CDAM_NETWORK_MODE_UNSET);
    cdam_state_free(state);
    blob_free(&b);
  }
}

/* A newer writer's revision is kept: nobody here knows what it stands for. */
static void a_newer_revision_is_kept(void **unused) {
  (void)unused;
  blob b = state_with(true, NULL, 0, NULL, 0);
  b.bytes[1] = 0x63;
  cdam_state *state = parse_good(&b, NULL);
  assert_int_equal(cdam_state_schema_revision(state), 99);
  blob written = serialize(state, NULL);
  assert_memory_equal(b.bytes, written.bytes, b.length);
  cdam_state_free(state);
  blob_free(&written);
  blob_free(&b);
}

/* ---- features ---- */

static void features_must_agree(void **unused) {
  (void)unused;
  static const struct {
    bool none;
    const char *bytes; /* put behind the revision */
    size_t length;
    cdam_status code;
  } rows[] = {
      {true, "", 0, CDAM_ERR_INVALID},              /* the feature was stripped */
      {false, "\x12\x01\x01", 3, CDAM_ERR_INVALID}, /* the mode was */
      {false, "\x10\x01", 2, CDAM_ERR_INVALID},
      {true, "\x12\x02\x01\x01", 4, CDAM_ERR_INVALID}, /* twice */
      {true, "\x12\x01\x64", 3, CDAM_ERR_UNSUPPORTED},
      {true, "\x12\x02\x01\x64", 4, CDAM_ERR_UNSUPPORTED},
      {false, "\x12\x01\x64", 3, CDAM_ERR_UNSUPPORTED},
      {false, "\x10\x77", 2, CDAM_ERR_UNSUPPORTED},
      {false, "\x12\x05\xff\xff\xff\xff\x07", 7, CDAM_ERR_UNSUPPORTED},
      {false, "\x12\x01\0", 3, CDAM_ERR_INVALID}, /* UNSPECIFIED asks for nothing */
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    blob b = rows[i].none ? state_with(false, "\x28\x01", 2, NULL, 0)
                          : state_with(false, NULL, 0, NULL, 0);
    blob_insert(&b, 2, rows[i].bytes, rows[i].length);
    char what[32];
    snprintf(what, sizeof what, "row %zu", i);
    refuse(what, &b, NULL, rows[i].code, "");
    blob_free(&b);
  }
}

/* What a library of r1 is: here the reader of a feature that is not known yet. */
static void an_unknown_feature_is_named_before_all_else(void **unused) {
  (void)unused;
  blob b = {0};
  blob_add(&b, "\x08\x03\x12\x01\x79", 5); /* nothing else is right with it */
  refuse("unknown feature", &b, NULL, CDAM_ERR_UNSUPPORTED, "121");
  blob_free(&b);
}

/* An r1 writer has no mode to list a feature for; the number of the revision changes nothing. */
static void an_r1_revision_with_r2_content(void **unused) {
  (void)unused;
  blob b = state_with(true, NULL, 0, NULL, 0);
  b.bytes[1] = 1;
  cdam_state *state = parse_good(&b, NULL);
  assert_true(is_none(state));
  cdam_state_free(state);
  blob_free(&b);
  b = golden("r1-full.binpb");
  b.length -= 39; /* its seal */
  blob_insert(&b, 2, "\x12\x01\x01", 3);
  refuse("r1 bytes with the feature", &b, NULL, CDAM_ERR_INVALID, "required_features");
  blob_free(&b);
}

static void serialize_validates(void **unused) {
  (void)unused;
  blob b = state_with(true, NULL, 0, NULL, 0);
  cdam_state *state = parse_good(&b, NULL);
  unsigned char *bytes = (unsigned char *)(uintptr_t)1;
  size_t length = 7;
  cdam_error err;
  state->message.options->network_mode = COFFERDAM__V1__NETWORK_MODE__NETWORK_MODE_UNSET;
  assert_int_equal(cdam_state_serialize(state, NULL, &bytes, &length, &err), CDAM_ERR_INVALID);
  assert_null(bytes);
  assert_int_equal(length, 0);
  assert_non_null(strstr(err.field, "required_features"));
  state->message.options->network_mode = (Cofferdam__V1__NetworkMode)2;
  assert_int_equal(cdam_state_serialize(state, NULL, &bytes, &length, &err), CDAM_ERR_INVALID);
  assert_string_equal(err.field, "options.network_mode");
  cdam_state_free(state);
  blob_free(&b);
}

/* Validation stands before it; still the packer itself writes nothing that the walk refuses. */
static void the_packer_writes_only_what_the_walk_reads(void **unused) {
  (void)unused;
  blob b = golden("r2-none-full.binpb");
  cdam_state *state = parse_good(&b, NULL);
  Cofferdam__V1__SandboxOptions *options = state->message.options;
  unsigned char *bytes = NULL;
  size_t length = 0;
  cdam_error err;
  char *const texts[] = {options->image, options->env[1]->key, options->env[1]->value,
                         options->labels[0]->key, state->message.engine->id};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    char kept = texts[i][0];
    if (!kept) continue;
    texts[i][0] = '\xff';
    assert_int_equal(cdam_pack(&state->message.base, 0, 0, &bytes, &length, &err),
                     CDAM_ERR_INVALID);
    assert_non_null(strstr(err.message, "not UTF-8"));
    texts[i][0] = kept;
  }
  state->message.required_features[0] = (Cofferdam__V1__Feature)-1;
  assert_int_equal(cdam_pack(&state->message.base, 0, 0, &bytes, &length, &err), CDAM_ERR_INVALID);
  assert_string_equal(err.field, "required_features");
  state->message.required_features[0] = (Cofferdam__V1__Feature)1;
  options->network_mode = (Cofferdam__V1__NetworkMode)-1;
  assert_int_equal(cdam_pack(&state->message.base, 0, 0, &bytes, &length, &err), CDAM_ERR_INVALID);
  assert_string_equal(err.field, "network_mode");
  options->network_mode = (Cofferdam__V1__NetworkMode)1;
  char *key = options->env[0]->key;
  options->env[0]->key = options->env[3]->key;
  assert_int_equal(cdam_pack(&state->message.base, 0, 0, &bytes, &length, &err), CDAM_ERR_INVALID);
  assert_non_null(strstr(err.message, "the key is there twice"));
  options->env[0]->key = key;
  state->message.workspace_ready = 7; /* any true value is 1 */
  assert_int_equal(cdam_pack(&state->message.base, 0, 0, &bytes, &length, &err), CDAM_OK);
  assert_int_equal(length, b.length);
  assert_memory_equal(bytes, b.bytes, length);
  free(bytes);
  cdam_state_free(state);
  blob_free(&b);
}

static void serialize_caps_the_size(void **unused) {
  (void)unused;
  blob b = state_with(true, NULL, 0, NULL, 0);
  unsigned char *bytes = calloc(1, CDAM_STATE_MAX_BYTES);
  assert_non_null(bytes);
  /* Read unsealed and as large as can be: the seal takes it over the cap. One that leaves room for
   * the seal is written, and read again. */
  unsigned char *out = NULL;
  size_t length, before = b.length;
  cdam_error err;
  blob_add_field(&b, 1000, bytes, CDAM_STATE_MAX_BYTES - before - 5);
  assert_int_equal(b.length, CDAM_STATE_MAX_BYTES);
  cdam_state *state = parse_good(&b, NULL);
  assert_int_equal(cdam_state_serialize(state, NULL, &out, &length, &err), CDAM_ERR_INVALID);
  assert_non_null(strstr(err.message, "1048576"));
  cdam_state_free(state);
  b.length = before;
  blob_add_field(&b, 1000, bytes, CDAM_STATE_MAX_BYTES - before - 5 - 39);
  state = parse_good(&b, NULL);
  blob written = serialize(state, NULL);
  assert_int_equal(written.length, CDAM_STATE_MAX_BYTES);
  cdam_state_free(parse_good(&written, NULL));
  blob_free(&written);
  cdam_state_free(state);
  free(bytes);
  blob_free(&b);
}

/* ---- unknown fields ---- */

static void unknown_fields_are_kept(void **unused) {
  (void)unused;
  static const char unknown[] = "\xc0\x3e\x2a\xc0\x3e\x2b\xc1\x3e"
                                "12345678"
                                "\xca\x3e\x03\0\xff\x01"
                                "\xcd\x3e"
                                "abcd";
  for (int where = 0; where < 3; where++) {
    size_t in_options = where == 1 ? 0 : sizeof unknown - 1;
    size_t at_top = where == 0 ? 0 : sizeof unknown - 1;
    blob b = state_with(true, unknown, in_options, unknown, at_top);
    cdam_state *state = parse_good(&b, NULL), *copy = NULL;
    assert_true(cdam_state_has_unknown_fields(state));
    blob written = serialize(state, NULL);
    assert_memory_equal(b.bytes, written.bytes, b.length);
    assert_int_equal(written.length, b.length + 39);
    assert_int_equal(cdam_state_copy(state, &copy, NULL), CDAM_OK);
    assert_true(cdam_state_has_unknown_fields(copy));
    blob again = serialize(copy, NULL);
    assert_same_bytes(&written, &again);
    cdam_state_free(copy);
    cdam_state_free(state);
    blob_free(&again);
    blob_free(&written);
    blob_free(&b);
  }
}

static void unknown_fields_deep_inside_are_found(void **unused) {
  (void)unused;
  blob b = state_with(true, NULL, 0, "\x3a\x06\x0a\x01x\xc0\x3e\x01", 8);
  cdam_state *state = parse_good(&b, NULL);
  assert_true(cdam_state_has_unknown_fields(state));
  cdam_state_free(state);
  blob_free(&b);
  assert_false(cdam_state_has_unknown_fields(NULL));
}

/* ---- one form for equal content ---- */

static void maps_are_sorted_whatever_the_order(void **unused) {
  (void)unused;
  static const char first_entry[] = "\x22\x06\x0a\x01"
                                    "A\x12\x01"
                                    "1";
  static const char second_entry[] = "\x22\x06\x0a\x01"
                                     "B\x12\x01"
                                     "2";
  static const char third_entry[] = "\x22\x07\x0a\x02"
                                    "AB\x12\x01"
                                    "3";
  static const char fourth_entry[] = "\x22\x08\x0a\x02\xc3\xa9\x12\x02"
                                     "45";
  static const char *const entries[] = {first_entry, second_entry, third_entry, fourth_entry};
  static const int orders[][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}, {2, 0, 3, 1}};
  static const char *const sorted[] = {"A", "AB", "B", "\xc3\xa9"};
  blob first = {0};
  for (size_t i = 0; i < 4; i++) {
    blob options = {0};
    for (size_t j = 0; j < 4; j++) {
      const char *entry = entries[orders[i][j]];
      blob_add(&options, entry, strlen(entry));
    }
    blob b = state_with(true, options.bytes, options.length, NULL, 0);
    cdam_state *state = parse_good(&b, NULL);
    for (size_t j = 0; j < 4; j++)
      assert_string_equal(state->message.options->env[j]->key, sorted[j]);
    /* In memory it may be in any order, too. */
    Cofferdam__V1__SandboxOptions__EnvEntry *swapped = state->message.options->env[0];
    state->message.options->env[0] = state->message.options->env[i];
    state->message.options->env[i] = swapped;
    blob written = serialize(state, NULL);
    if (i == 0) first = blob_of(written.bytes, written.length);
    assert_same_bytes(&first, &written);
    cdam_state_free(state);
    blob_free(&written);
    blob_free(&b);
    blob_free(&options);
  }
  blob_free(&first);
}

static void a_map_with_a_key_twice_is_not_written(void **unused) {
  (void)unused;
  blob b = golden("r2-none-full.binpb");
  cdam_state *state = parse_good(&b, NULL);
  unsigned char *bytes;
  size_t length;
  cdam_error err;
  char *json;
  char *key = state->message.options->env[0]->key;
  state->message.options->env[0]->key = state->message.options->env[3]->key;
  assert_int_equal(cdam_state_serialize(state, NULL, &bytes, &length, &err), CDAM_ERR_INVALID);
  assert_int_equal(cdam_state_to_json(state, &json, &err), CDAM_ERR_INVALID);
  assert_non_null(strstr(err.message, "twice"));
  state->message.options->env[0]->key = key;
  cdam_state_free(state);
  blob_free(&b);
}

/* ---- options as values, arguments ---- */

static void options_are_copied_whole(void **unused) {
  (void)unused;
  blob b = golden("r2-none-unknown.binpb");
  cdam_state *state = parse_good(&b, NULL);
  cdam_options *copy = NULL;
  char *json = NULL, *other = NULL;
  assert_int_equal(cdam_options_copy(cdam_state_options(state), &copy, NULL), CDAM_OK);
  assert_int_equal(cdam_options_validate(copy, NULL), CDAM_OK);
  assert_int_equal(cdam_options_to_json(copy, &json, NULL), CDAM_OK);
  assert_int_equal(cdam_options_to_json(cdam_state_options(state), &other, NULL), CDAM_OK);
  assert_string_equal(json, other);
  assert_int_equal(copy->message.base.n_unknown_fields,
                   state->message.options->base.n_unknown_fields);
  assert_int_not_equal(copy->message.base.n_unknown_fields, 0);
  free(json);
  free(other);
  cdam_options_free(copy);
  cdam_state_free(state);
  blob_free(&b);
}

static void new_options_are_empty(void **unused) {
  (void)unused;
  cdam_options *options = NULL, *copy = NULL;
  cdam_error err;
  char *json = NULL;
  assert_int_equal(cdam_options_new(&options, &err), CDAM_OK);
  assert_int_equal(cdam_options_network_mode(options), CDAM_NETWORK_MODE_UNSET);
  assert_int_equal(cdam_options_validate(options, &err), CDAM_ERR_INVALID);
  assert_string_equal(err.field, "image");
  assert_int_equal(cdam_options_to_json(options, &json, &err), CDAM_OK);
  assert_string_equal(json, "{}");
  assert_int_equal(cdam_options_copy(options, &copy, &err), CDAM_OK);
  cdam_options_free(copy);
  cdam_options_free(options);
  free(json);
}

static void null_arguments_are_errors(void **unused) {
  (void)unused;
  cdam_error err;
  cdam_state *state = NULL;
  cdam_options *options = NULL;
  char *json = NULL;
  unsigned char *bytes = NULL;
  size_t length = 0;
  const cdam_status expected = CDAM_ERR_ARGUMENT;
  assert_int_equal(cdam_options_new(NULL, &err), expected);
  assert_int_equal(cdam_options_copy(NULL, &options, &err), expected);
  assert_int_equal(cdam_options_validate(NULL, &err), expected);
  assert_int_equal(cdam_options_to_json(NULL, &json, &err), expected);
  assert_int_equal(cdam_options_from_json(NULL, 0, &options, &err), expected);
  assert_int_equal(cdam_options_from_json("{}", 2, NULL, &err), expected);
  assert_int_equal(cdam_state_copy(NULL, &state, &err), expected);
  assert_int_equal(cdam_state_validate(NULL, &err), expected);
  assert_int_equal(cdam_state_serialize(NULL, NULL, &bytes, &length, &err), expected);
  assert_int_equal(cdam_state_parse(NULL, 1, NULL, &state, &err), expected);
  assert_int_equal(cdam_state_parse("x", 1, NULL, NULL, &err), expected);
  assert_int_equal(cdam_state_parse(NULL, 0, NULL, &state, &err), CDAM_ERR_MALFORMED);
  assert_int_equal(cdam_state_save(NULL, "/nowhere/x", NULL, &err), expected);
  assert_int_equal(cdam_state_load(NULL, NULL, &state, &err), expected);
  assert_int_equal(cdam_state_to_json(NULL, &json, &err), expected);
  assert_int_equal(cdam_state_from_json(NULL, 0, NULL, &state, &err), expected);
  assert_int_equal(err.code, expected);
  cdam_options_free(NULL);
  cdam_state_free(NULL);
  cdam_key_free(NULL);
}

static void the_version_is_the_headers(void **unused) {
  (void)unused;
  assert_string_equal(cdam_version(), CDAM_VERSION);
  assert_int_equal(cdam_schema_revision(), cdam_generated_revision);
  assert_true(cdam_schema_revision() >= 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(goldens_come_out_as_they_went_in),
      cmocka_unit_test(goldens_have_their_values),
      cmocka_unit_test(states_of_r1_load_as_unset),
      cmocka_unit_test(a_newer_revision_is_kept),
      cmocka_unit_test(features_must_agree),
      cmocka_unit_test(an_unknown_feature_is_named_before_all_else),
      cmocka_unit_test(an_r1_revision_with_r2_content),
      cmocka_unit_test(serialize_validates),
      cmocka_unit_test(the_packer_writes_only_what_the_walk_reads),
      cmocka_unit_test(serialize_caps_the_size),
      cmocka_unit_test(unknown_fields_are_kept),
      cmocka_unit_test(unknown_fields_deep_inside_are_found),
      cmocka_unit_test(maps_are_sorted_whatever_the_order),
      cmocka_unit_test(a_map_with_a_key_twice_is_not_written),
      cmocka_unit_test(options_are_copied_whole),
      cmocka_unit_test(new_options_are_empty),
      cmocka_unit_test(null_arguments_are_errors),
      cmocka_unit_test(the_version_is_the_headers),
  };
  return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
