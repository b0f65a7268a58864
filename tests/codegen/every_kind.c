/* SPDX-License-Identifier: Apache-2.0 */
/* Options of every kind, from tests/codegen/schema/: set, sent, compared, demanded, listed, and
 * read from the command line. Prints what is wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cofferdam/options.h>
#include <cofferdam/state.h>

#include "options/flags.h"
#include "options/generated.h"

static int failures;

static void expect(bool good, const char *what) {
  if (good) return;
  fprintf(stderr, "wrong: %s\n", what);
  failures++;
}

#define EXPECT(condition) expect((condition), #condition)

static cdam_options *new_options(void) {
  cdam_options *options = malloc(sizeof *options);
  if (!options) abort();
  cofferdam__v1__sandbox_options__init(&options->message);
  return options;
}

static void free_options(cdam_options *options) {
  cofferdam__v1__sandbox_options__free_unpacked(&options->message, NULL);
}

static const cdam_option_flag *flag(const char *name) {
  for (size_t i = 0; i < cdam_option_flag_count; i++) {
    if (strcmp(cdam_option_flags[i].name, name) == 0) return &cdam_option_flags[i];
  }
  return NULL;
}

static cdam_status set(cdam_options *options, const char *name, const char *text) {
  cdam_error err;
  cdam_status status = flag(name)->set(options, text, &err);
  if (status != CDAM_OK) EXPECT(err.code == status && err.message[0] && err.field[0]);
  return status;
}

static cdam_options *everything(void) {
  static const char *const flags[][2] = {
      {"image", "busybox"},
      {"port", "80"},
      {"env", "A=b=c"},
      {"network", "none"},
      {"read-only", NULL},
      {"memory", "8388608"},
      {"pids", "64"},
      {"user", "1000"},
      {"drop", "ALL"},
      {"drop", "X"},
      {"group", "7"},
      {"tmpfs", "/tmp=size=1m"},
      {"until", "1000000000"},
      {"name", "n"},
      {"no-new", NULL},
      {"limit", "core=0:1"},
      {"platform", "linux/arm64"},
      {"cpus", "1.5"},
      {"store", "2k"},
      {"scratch", "/s=ro"},
  };
  cdam_options *options = new_options();
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
    expect(set(options, flags[i][0], flags[i][1]) == CDAM_OK, flags[i][0]);
  }
  return options;
}

static const char body_text[] =
    "{\"Env\":[\"A=b=c\"],\"ExposedPorts\":{\"80/tcp\":{}},\"HostConfig\":{\"CapDrop\":[\"ALL\","
    "\"X\"],\"GroupAdd\":[7],\"Memory\":8388608,\"NanoCpus\":1500000000,\"NetworkMode\":\"none\","
    "\"PidsLimit\":64,\"PortBindings\":{\"80/tcp\":[{\"HostIp\":\"127.0.0.1\",\"HostPort\":\"\"}]},"
    "\"ReadonlyRootfs\":true,\"Scratch\":{\"/s\":\"ro\"},\"SecurityOpt\":[\"no-new-privileges\"],"
    "\"ShmSize\":2048,\"Tmpfs\":{\"/tmp\":\"size=1m\"},\"Ulimits\":[{\"Hard\":1,\"Name\":\"core\","
    "\"Soft\":0}]},\"Image\":\"busybox\",\"Labels\":{\"io.cofferdam.name\":\"n\","
    "\"io.cofferdam.until\":\"1000000000\"},\"User\":\"1000\"}";

static void test_body(const cdam_options *options) {
  json_t *body = NULL;
  EXPECT(cdam_generated_create_body(&options->message, &body, NULL) == CDAM_OK);
  char *text = json_dumps(body, JSON_COMPACT | JSON_SORT_KEYS);
  expect(text && strcmp(text, body_text) == 0, text ? text : "no text");
  free(text);
  json_decref(body);
  cdam_buffer query = {0};
  EXPECT(cdam_generated_create_query(&options->message, &query));
  EXPECT(strcmp(cdam_buffer_text(&query), "&platform=linux%2Farm64") == 0);
  cdam_buffer_clear(&query);
}

static void test_image(const cdam_options *options) {
  cdam_error err;
  json_t *image = json_pack("{ss ss}", "Os", "linux", "Architecture", "arm64");
  EXPECT(cdam_generated_compare_image(&options->message, image, &err) == CDAM_OK);
  json_object_del(image, "Os");
  EXPECT(cdam_generated_compare_image(&options->message, image, &err) == CDAM_ERR_DRIFT);
  EXPECT(strcmp(err.field, "platform") == 0);
  json_decref(image);
}

#define IMAGE_ID "sha256:0000000000000000000000000000000000000000000000000000000000000000"

static const char inspect_text[] =
    "{\"Image\":\"" IMAGE_ID "\",\"Config\":{\"Env\":[\"A=b=c\"],\"ExposedPorts\":{\"80/tcp\":{}},"
    "\"Labels\":{\"io.cofferdam.name\":\"n\",\"io.cofferdam.until\":\"1000000000\"},"
    "\"User\":\"1000\"},\"NetworkSettings\":{\"Networks\":{}},\"HostConfig\":{\"CapDrop\":[\"ALL\","
    "\"X\"],\"GroupAdd\":[7,8],\"Memory\":8388608,\"NetworkMode\":\"none\",\"PidsLimit\":null,"
    "\"PortBindings\":{\"80/tcp\":[{\"HostIp\":\"127.0.0.1\",\"HostPort\":\"\"}]},"
    "\"NanoCpus\":1500000000,\"ReadonlyRootfs\":true,\"Scratch\":{\"/"
    "s\":\"ro,rprivate\"},\"SecurityOpt\":"
    "[\"no-new-privileges:true\"],\"ShmSize\":2048,\"Tmpfs\":{\"/tmp\":\"size=1m\"},\"Ulimits\":"
    "[{\"Name\":\"RLIMIT_CORE\",\"Soft\":0,\"Hard\":1}]}}";

static cdam_status compare_with(cdam_options *options, const char *where, const char *key,
                                json_t *value, cdam_error *err) {
  char image_id[] = IMAGE_ID;
  Cofferdam__V1__SessionState state = COFFERDAM__V1__SESSION_STATE__INIT;
  state.options = &options->message;
  state.image_id = image_id;
  json_t *inspect = json_loads(inspect_text, 0, NULL);
  json_t *object = json_object_get(inspect, where);
  if (value) {
    json_object_set_new(object, key, value);
  } else if (object) {
    json_object_del(object, key);
  }
  cdam_status status = cdam_generated_compare(&state, inspect, err);
  json_decref(inspect);
  return status;
}

static void test_compare(cdam_options *options) {
  static const char *const exact[] = {"CapDrop", "GroupAdd",    "Memory",   "ReadonlyRootfs",
                                      "Tmpfs",   "NetworkMode", "NanoCpus", "Scratch",
                                      "Ulimits", "SecurityOpt", "ShmSize"};
  cdam_error err;
  EXPECT(compare_with(options, "None", "x", NULL, &err) == CDAM_OK);
  for (size_t i = 0; i < sizeof exact / sizeof *exact; i++) {
    expect(compare_with(options, "HostConfig", exact[i], NULL, &err) == CDAM_ERR_DRIFT, exact[i]);
    expect(strstr(err.field, exact[i]) != NULL, err.field);
    expect(compare_with(options, "HostConfig", exact[i], json_null(), &err) == CDAM_ERR_DRIFT,
           exact[i]);
  }
  EXPECT(compare_with(options, "HostConfig", "PidsLimit", NULL, &err) == CDAM_OK);
  EXPECT(compare_with(options, "HostConfig", "PidsLimit", json_integer(64), &err) == CDAM_OK);
  EXPECT(compare_with(options, "HostConfig", "PidsLimit", json_integer(0), &err) == CDAM_ERR_DRIFT);
  EXPECT(compare_with(options, "HostConfig", "ReadonlyRootfs", json_false(), &err) ==
         CDAM_ERR_DRIFT);
  EXPECT(compare_with(options, "HostConfig", "Memory", json_integer(0), &err) == CDAM_ERR_DRIFT);
  EXPECT(compare_with(options, "Config", "User", json_string("0"), &err) == CDAM_ERR_DRIFT);
  EXPECT(compare_with(options, "Config", "User", NULL, &err) == CDAM_ERR_DRIFT);
  EXPECT(compare_with(options, "Config", "Labels", NULL, &err) == CDAM_ERR_DRIFT);
  EXPECT(strcmp(err.field, "Config.Labels[io.cofferdam.until]") == 0);
  EXPECT(compare_with(options, "HostConfig", "Scratch", json_pack("{ss}", "/s", "rw"), &err) ==
         CDAM_ERR_DRIFT);
  EXPECT(compare_with(options, "HostConfig", "SecurityOpt", json_pack("[s]", "x"), &err) ==
         CDAM_ERR_DRIFT);
}

static void test_validation(void) {
  static const char *const wrong[][3] = {
      {"memory", "1", "memory"},
      {"user", "a b", "user"},
      {"drop", "", "drops[0]"},
      {"tmpfs", "=x", "tmpfs[]"},
      {"cpus", "1.500001", "cpus"},
      {"name", "a/b", "name"},
      {"limit", "core=1", "limits[core]"},
      {"limit", "nice=1:1", "limits[nice]"},
      {"platform", "linux", "platform"},
      {"scratch", "/s=dev", "scratch[/s]"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    cdam_options *options = new_options();
    cdam_error err;
    EXPECT(set(options, "image", "busybox") == CDAM_OK);
    EXPECT(cdam_generated_validate_options(&options->message, "", &err) == CDAM_OK);
    EXPECT(set(options, wrong[i][0], wrong[i][1]) == CDAM_OK);
    EXPECT(cdam_generated_validate_options(&options->message, "", &err) == CDAM_ERR_INVALID);
    expect(strcmp(err.field, wrong[i][2]) == 0, err.field);
    free_options(options);
  }
}

static void test_flags(void) {
  static const char *const wrong[][2] = {
      {"port", "-1"},
      {"port", "+1"},
      {"port", " 1"},
      {"port", "1 "},
      {"port", ""},
      {"port", "65536"},
      {"port", "0x50"},
      {"pids", "4294967296"},
      {"pids", "99999999999999999999999"},
      {"memory", "9007199254740993"},
      {"memory", "8m"},
      {"cpus", "1,5"},
      {"store", "2kb"},
      {"until", "1h"},
      {"env", "KEY"},
      {"env", ""},
      {"network", "bridge"},
      {"network", ""},
      {"network", "NETWORK_MODE_NONE"},
  };
  cdam_options *options = new_options();
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    expect(set(options, wrong[i][0], wrong[i][1]) == CDAM_ERR_INVALID, wrong[i][1]);
  }
  EXPECT(cdam_options_port_count(options) == 0 && cdam_options_env_count(options) == 0);
  EXPECT(cdam_options_network_mode(options) == CDAM_NETWORK_MODE_UNSET);
  EXPECT(set(options, "pids", "4294967295") == CDAM_OK);
  EXPECT(cdam_options_pids(options) == 4294967295u);
  EXPECT(set(options, "env", "K=") == CDAM_OK && strcmp(cdam_options_env(options, "K"), "") == 0);
  EXPECT(flag("read-only")->metavar == NULL && flag("read-only")->isolates);
  EXPECT(flag("image")->required && !flag("image")->repeatable && flag("drop")->repeatable);
  free_options(options);
}

static void test_features(const cdam_options *options) {
  Cofferdam__V1__SessionState state = COFFERDAM__V1__SESSION_STATE__INIT;
  state.options = (Cofferdam__V1__SandboxOptions *)&options->message;
  EXPECT(cdam_generated_derive_features(&state, NULL) == CDAM_OK);
  EXPECT(state.n_required_features == 10);
  for (size_t i = 0; i < state.n_required_features; i++) {
    EXPECT(state.required_features[i] == (Cofferdam__V1__Feature)(i + 1));
  }
  free(state.required_features);
}

static void test_policy(const cdam_options *minimum) {
  cdam_options *options = everything();
  cdam_error err;
#define POLICY cdam_generated_check_policy(&minimum->message, &options->message, &err)
  EXPECT(POLICY == CDAM_OK);
  cdam_options_set_pids(options, 1);
  EXPECT(POLICY == CDAM_OK);
  cdam_options_set_read_only(options, false);
  EXPECT(POLICY == CDAM_ERR_POLICY && strcmp(err.field, "read_only") == 0);
  cdam_options_set_read_only(options, true);
  cdam_options_set_memory(options, 9388608);
  EXPECT(POLICY == CDAM_ERR_POLICY);
  cdam_options_set_memory(options, 8388608);
  EXPECT(set(options, "user", "0") == CDAM_OK && POLICY == CDAM_ERR_POLICY);
  EXPECT(set(options, "user", "1000") == CDAM_OK && POLICY == CDAM_OK);
  EXPECT(set(options, "until", "999999999") == CDAM_OK && POLICY == CDAM_OK);
  EXPECT(set(options, "until", "1000000001") == CDAM_OK && POLICY == CDAM_ERR_POLICY);
  cdam_options_set_until(options, 0);
  EXPECT(POLICY == CDAM_ERR_POLICY && strcmp(err.field, "until") == 0);
  EXPECT(set(options, "until", "1000000000") == CDAM_OK && POLICY == CDAM_OK);
  EXPECT(set(options, "tmpfs", "/x=") == CDAM_OK && POLICY == CDAM_ERR_POLICY);
  EXPECT(cdam_options_remove_tmpfs(options, "/x") && POLICY == CDAM_OK);
  EXPECT(set(options, "group", "8") == CDAM_OK && POLICY == CDAM_ERR_POLICY);
  cdam_options_clear_groups(options);
  EXPECT(POLICY == CDAM_ERR_POLICY && set(options, "group", "7") == CDAM_OK && POLICY == CDAM_OK);
  cdam_options_clear_drops(options);
  EXPECT(POLICY == CDAM_ERR_POLICY && strcmp(err.field, "drops") == 0);
#undef POLICY
  free_options(options);
}

int main(void) {
  cdam_options *options = everything();
  test_body(options);
  test_image(options);
  test_compare(options);
  test_validation();
  test_flags();
  test_features(options);
  test_policy(options);
  free_options(options);
  return failures ? 1 : 0;
}
