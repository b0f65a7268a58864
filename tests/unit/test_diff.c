/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between two states, and that nothing which differs is passed over. */
#include "state_support.h"

#include <cofferdam/options.h>
#include <cofferdam/state.h>

typedef struct told {
  char lines[4096];
  size_t count, isolates, loses, sensitive;
  size_t most; /* end the comparison after that many; 0: go on */
} told;

static bool note(void *user, const cdam_difference *d) {
  told *t = user;
  size_t used = strlen(t->lines);
  snprintf(t->lines + used, sizeof t->lines - used, "%s: %s -> %s\n", d->field,
           d->before ? d->before : "nothing", d->after ? d->after : "nothing");
  t->isolates += d->isolates;
  t->loses += d->loses;
  t->sensitive += d->sensitive;
  return ++t->count != t->most;
}

static told diff(const cdam_state *first, const cdam_state *second) {
  told t = {0};
  size_t count = 99;
  cdam_error err;
  if (cdam_state_diff(first, second, note, &t, &count, &err)) fail_msg("%s", err.message);
  assert_int_equal(count, t.count);
  return t;
}

static cdam_state *from_golden(const char *name) {
  blob bytes = golden(name);
  cdam_state *state = parse_good(&bytes, NULL);
  blob_free(&bytes);
  return state;
}

static void expect(const char *change, const char *lines, told t) {
  if (strcmp(t.lines, lines) != 0) fail_msg("%s: %s", change, t.lines);
}

static void equal_states(void **unused) {
  (void)unused;
  static const char *const names[] = {"r1-full.binpb", "r2-none-full.binpb",
                                      "r2-none-unknown.binpb"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    cdam_state *first = from_golden(names[i]), *second = from_golden(names[i]);
    expect(names[i], "", diff(first, second));
    cdam_state_free(first);
    cdam_state_free(second);
  }
}

static void isolation(void **unused) {
  (void)unused;
  cdam_state *none = from_golden("r2-none-full.binpb"), *unset = from_golden("r2-unset.binpb");
  told lost = diff(none, unset), won = diff(unset, none);
  expect("lost",
         "required_features: [NETWORK_ISOLATION] -> nothing\n"
         "options.network_mode: NONE -> UNSET\n",
         lost);
  assert_int_equal(lost.isolates, 1);
  assert_int_equal(lost.loses, 1);
  expect("won",
         "required_features: nothing -> [NETWORK_ISOLATION]\n"
         "options.network_mode: UNSET -> NONE\n",
         won);
  assert_int_equal(won.isolates, 1);
  assert_int_equal(won.loses, 0);
  cdam_state_free(none);
  cdam_state_free(unset);
}

static void maps_and_lists(void **unused) {
  (void)unused;
  cdam_state *first = from_golden("r2-none-full.binpb"),
             *second = from_golden("r2-none-full.binpb");
  cdam_options *options = (cdam_options *)second->message.options;
  assert_int_equal(cdam_options_set_env(options, "PATH", "/s3cret", NULL), CDAM_OK);
  assert_int_equal(cdam_options_set_env(options, "NEW", "", NULL), CDAM_OK);
  assert_true(cdam_options_remove_env(options, "A"));
  assert_int_equal(
      cdam_options_set_label(options, "owner", "\xc3\xa9\n\xc2\x9b\xe2\x80\xae\x7f", NULL),
      CDAM_OK);
  assert_int_equal(cdam_options_set_label(options, "zz", "1", NULL), CDAM_OK);
  assert_true(cdam_options_remove_label(options, "b"));
  cdam_options_clear_exposed_ports(options);
  assert_int_equal(cdam_options_add_exposed_port(options, 80, NULL), CDAM_OK);
  told t = diff(first, second);
  expect(
      "all",
      "options.exposed_ports: [8080, 80, 65535] -> [80]\n"
      "options.labels[b]: \"\" -> nothing\n"
      "options.labels[owner]: \"\xc3\xbcmlaut\" -> \"\xc3\xa9\\n\\302\\233\\342\\200\\256\\177\"\n"
      "options.labels[zz]: nothing -> \"1\"\n"
      "options.env[A]: \"x=y==\" -> nothing\n"
      "options.env[NEW]: nothing -> \"\"\n"
      "options.env[PATH]: \"/bin:/usr/bin\" -> \"/s3cret\"\n",
      t);
  assert_int_equal(t.sensitive, 3);
  assert_int_equal(t.isolates, 0);
  assert_int_equal(t.loses, 0);
  cdam_options_clear_exposed_ports(options);
  told none = diff(first, second);
  assert_non_null(strstr(none.lines, "options.exposed_ports: [8080, 80, 65535] -> nothing\n"));
  cdam_state_free(first);
  cdam_state_free(second);
}

/* Another order makes other bytes. */
static void order_counts_in_lists_alone(void **unused) {
  (void)unused;
  cdam_state *first = from_golden("r2-none-full.binpb"),
             *second = from_golden("r2-none-full.binpb");
  Cofferdam__V1__SandboxOptions *options = second->message.options;
  void *entry = options->env[0];
  options->env[0] = options->env[3];
  options->env[3] = entry;
  expect("a map", "", diff(first, second));
  uint32_t port = options->exposed_ports[0];
  options->exposed_ports[0] = options->exposed_ports[1];
  options->exposed_ports[1] = port;
  expect("a list", "options.exposed_ports: [8080, 80, 65535] -> [80, 8080, 65535]\n",
         diff(first, second));
  cdam_state_free(first);
  cdam_state_free(second);
}

static void identity(void **unused) {
  (void)unused;
  cdam_state *first = from_golden("r2-none-full.binpb"),
             *second = from_golden("r2-none-full.binpb");
  Cofferdam__V1__SessionState *state = &second->message;
  state->container_id[0] = 'f';
  state->session_id[0] = '7';
  state->workspace_ready = false;
  state->engine->id[0] = 'X';
  state->schema_revision = 3;
  told t = diff(first, second);
  static const char *const fields[] = {
      "schema_revision: 2 -> 3\n", "session_id: \"6f1c", "container_id: \"a42d",
      "engine.id: \"ABCD:EFGH:2345\" -> \"XBCD:EFGH:2345\"\n", "workspace_ready: true -> false\n"};
  assert_int_equal(t.count, 5);
  for (size_t i = 0; i < 5; i++)
    if (!strstr(t.lines, fields[i])) fail_msg("%s", t.lines);
  cofferdam__v1__engine_identity__free_unpacked(state->engine, NULL);
  state->engine = NULL;
  assert_non_null(strstr(diff(first, second).lines, "engine.id: \"ABCD:EFGH:2345\" -> nothing\n"));
  assert_non_null(strstr(diff(second, first).lines, "engine.id: nothing -> \"ABCD:EFGH:2345\"\n"));
  free(first->message.engine->id);
  first->message.engine->id = (char *)(uintptr_t)protobuf_c_empty_string;
  assert_non_null(strstr(diff(first, second).lines, "engine: { } -> nothing\n"));
  cdam_state_free(first);
  cdam_state_free(second);
}

static void seals(void **unused) {
  (void)unused;
  cdam_state *plain = from_golden("r2-none-unsealed.binpb");
  cdam_state *sealed = from_golden("r2-none-minimal.binpb");
  expect("sealed", "seal.algorithm: UNSPECIFIED -> SHA256\n", diff(plain, sealed));
  sealed->message.seal->digest.data[0] ^= 1;
  cdam_state *other = from_golden("r2-none-minimal.binpb");
  expect("a digest", "", diff(sealed, other));
  cdam_state_free(plain);
  cdam_state_free(sealed);
  cdam_state_free(other);
}

static void unknown_fields(void **unused) {
  (void)unused;
  cdam_state *known = from_golden("r2-none-full.binpb");
  cdam_state *unknown = from_golden("r2-none-unknown.binpb");
  expect("more",
         "options.(unknown fields): nothing -> 3 unknown\n"
         "engine.(unknown fields): nothing -> 1 unknown\n"
         "(unknown fields): nothing -> 2 unknown\n",
         diff(known, unknown));
  cdam_state *other = from_golden("r2-none-unknown.binpb");
  other->message.options->base.unknown_fields[0].data[2] ^= 1;
  expect("others", "options.(unknown fields): 3 unknown -> 3 others\n", diff(unknown, other));
  cdam_state_free(known);
  cdam_state_free(unknown);
  cdam_state_free(other);
}

static void the_caller_ends_it(void **unused) {
  (void)unused;
  cdam_state *first = from_golden("r1-full.binpb"), *second = from_golden("r2-none-minimal.binpb");
  told t = {.most = 2};
  size_t count;
  assert_int_equal(cdam_state_diff(first, second, note, &t, &count, NULL), CDAM_OK);
  assert_int_equal(t.count, 2);
  assert_int_equal(count, 2);
  assert_true(diff(first, second).count > 10);
  cdam_state *later = from_golden("r2-none-unknown.binpb");
  t = (told){.most = 1};
  assert_int_equal(cdam_state_diff(first, later, note, &t, &count, NULL), CDAM_OK);
  assert_int_equal(t.count, 1);
  cdam_state_free(later);
  assert_int_equal(cdam_state_diff(NULL, second, note, &t, &count, NULL), CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_state_diff(first, NULL, note, &t, &count, NULL), CDAM_ERR_ARGUMENT);
  assert_int_equal(cdam_state_diff(first, second, NULL, &t, NULL, NULL), CDAM_ERR_ARGUMENT);
  cdam_state_free(first);
  cdam_state_free(second);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_states),   cmocka_unit_test(isolation),
      cmocka_unit_test(maps_and_lists), cmocka_unit_test(order_counts_in_lists_alone),
      cmocka_unit_test(identity),       cmocka_unit_test(seals),
      cmocka_unit_test(unknown_fields), cmocka_unit_test(the_caller_ends_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
