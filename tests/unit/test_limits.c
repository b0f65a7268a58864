/* SPDX-License-Identifier: Apache-2.0 */
/* Limits, hardening and what stands beside them: what is allowed, sent, compared and demanded. The
 * inspects are of real engines, of containers with all of it (tests/faults/inspects). */
#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include <cofferdam/message.h>

#include "option_fixtures.h"

static const char *const engines[] = {"docker-20.10", "docker-26.1", "podman-4.3"};
#define ENGINES (sizeof engines / sizeof *engines)

/* ---- what is allowed ---- */

static void check(cdam_status status) {
  assert_int_equal(status, CDAM_OK);
}

static const char nothing[] = "";

/* A setter of one text; the names of rows say which. */
static cdam_status set_text(cdam_options *o, const char *option, const char *text) {
  if (!strcmp(option, "user")) return cdam_options_set_user(o, text, NULL);
  if (!strcmp(option, "runtime")) return cdam_options_set_runtime(o, text, NULL);
  if (!strcmp(option, "hostname")) return cdam_options_set_hostname(o, text, NULL);
  if (!strcmp(option, "platform")) return cdam_options_set_platform(o, text, NULL);
  if (!strcmp(option, "workspace")) return cdam_options_set_workspace(o, text, NULL);
  if (!strcmp(option, "tmpfs")) return cdam_options_set_tmpfs_mount(o, "/x", text, NULL);
  if (!strcmp(option, "tmpfs key")) return cdam_options_set_tmpfs_mount(o, text, nothing, NULL);
  if (!strcmp(option, "ulimits")) return cdam_options_set_ulimit(o, "nofile", text, NULL);
  if (!strcmp(option, "ulimits key")) return cdam_options_set_ulimit(o, text, "1:1", NULL);
  fail_msg("%s", option);
  return CDAM_ERR_INVALID;
}

typedef struct text_row {
  const char *option;
  const char *good[16];
  const char *bad[40];
} text_row;

static const text_row texts[] = {
    {"user",
     {"0", "root", "65532", "65532:65532", "a_b.c-d:1", "_x", "2147483647"},
     {":", "a:", ":a", "-1", "01", "00", "2147483648", "a:b:c", "a b", "a/b", "+1", "1 ", "ä",
      "1\n", "-a", ".a", "a\t"}},
    {"runtime",
     {"runc", "runsc", "io.containerd.runsc.v1", "kata-fc_2"},
     {"/bin/sh", "a/b", ".a", "-a", "a b", "..", "a\n", "ä", "a:b"}},
    {"hostname",
     {"a", "box-1", "a.b.C3"},
     {"-a", "a-", "a..b", ".a", "a.", "a_b", "a b", "a/b", "a.-b", "ä"}},
    {"platform",
     {"linux/amd64", "linux/arm64/v8", "linux/riscv64"},
     {"linux", "linux/", "/amd64", "linux//v8", "linux/arm/v7/x", "Linux/amd64", "linux/a b",
      "linux/amd64&x=1", "linux/amd64?", "linux-amd64"}},
    {"workspace",
     {"/", "/w", "/a/b.c/..d", "/a b", "/ü"},
     {"w", "./w", "/w/", "//w", "/a//b", "/a/./b", "/a/../b", "/..", "/.", "/a\nb", "/a\x7f",
      "/\xc2\x85", "C:\\"}},
    {"tmpfs",
     {"", "size=64m", "rw", "ro,noexec,nosuid,nodev,noatime", "size=1,mode=700", "mode=01777",
      "size=2G,nr_inodes=10,uid=0,gid=65532"},
     {"dev",      "suid",        "size",        "size=",
      "size=0",   "size=50%",    "size=-1",     "size=1t",
      "mode=9",   "mode=77777",  "mode=rwx",    "uid=-1",
      "uid=a",    "exec,noexec", "ro,rw",       "size=1m,size=2m",
      "rw,rw",    ",",           "rw,",         ",rw",
      "rw,,ro",   "bind",        "remount",     "mpol=x",
      "size=1m ", "SIZE=1m",     "huge=always", "rw\n",
      "nosuid=1", "size=0x10",   "size=01"}},
    {"tmpfs key", {"/tmp", "/a/b"}, {"/", "tmp", "/tmp/", "/a:b", "/a/..", "", "/a\nb"}},
    {"tmpfs key",
     {"/dev/shm", "/devices", "/process", "/sysroot", "/.cofferdam2", "/x/proc", "/.coffer"},
     {"/.cofferdam", "/.cofferdam/x", "/proc", "/proc/sys/x", "/sys", "/sys/fs/cgroup", "/dev"}},
    {"ulimits",
     {"0:0", "1:2", "9223372036854775807:9223372036854775807"},
     {"1", "2:1", ":", "1:", ":1", "-1:-1", "1:2:3", "01:1", "1:9223372036854775808", "a:b", " 1:1",
      "1:1 ", "unlimited", "0x1:1"}},
    {"ulimits key",
     {"nofile", "core", "nproc", "stack"},
     {"nice", "rtprio", "rttime", "NOFILE", "RLIMIT_NOFILE", "x", " nofile", "as"}},
};

static void texts_have_their_formats(void **unused) {
  (void)unused;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    const text_row *row = &texts[i];
    for (int wrong = 0; wrong < 2; wrong++) {
      const char *const *list = wrong ? row->bad : row->good;
      for (size_t j = 0; list[j]; j++) {
        cdam_options *options = fixture_options();
        cdam_error err;
        cdam_status status = set_text(options, row->option, list[j]);
        if (status == CDAM_OK) status = cdam_options_validate(options, &err);
        if (status != (wrong ? CDAM_ERR_INVALID : CDAM_OK))
          fail_msg("%s \"%s\": %s", row->option, list[j], cdam_status_name(status));
        fixture_free_options(options);
      }
    }
  }
}

static void set_number(cdam_options *o, const char *option, uint64_t value) {
  if (!strcmp(option, "memory_bytes")) cdam_options_set_memory_bytes(o, value);
  if (!strcmp(option, "nano_cpus")) cdam_options_set_nano_cpus(o, value);
  if (!strcmp(option, "pids_limit")) cdam_options_set_pids_limit(o, (uint32_t)value);
  if (!strcmp(option, "deadline")) cdam_options_set_deadline(o, value);
}

static void numbers_have_their_bounds(void **unused) {
  (void)unused;
  static const struct {
    const char *option;
    uint64_t good[4], bad[4];
  } rows[] = {
      {"memory_bytes", {6 << 20, (uint64_t)1 << 50}, {1, (6 << 20) - 1, ((uint64_t)1 << 50) + 1}},
      {"nano_cpus", {10000000, 1500000000, 1024000000000}, {1, 9990000, 10000001, 1024000010000}},
      {"pids_limit", {8, 4194304}, {1, 7, 4194305, UINT32_MAX}},
      {"deadline", {1, 253402300799}, {253402300800, UINT64_MAX}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (int wrong = 0; wrong < 2; wrong++) {
      const uint64_t *list = wrong ? rows[i].bad : rows[i].good;
      for (size_t j = 0; j < 4 && list[j]; j++) {
        cdam_options *options = fixture_options();
        cdam_error err;
        set_number(options, rows[i].option, list[j]);
        cdam_status status = cdam_options_validate(options, &err);
        if (status != (wrong ? CDAM_ERR_INVALID : CDAM_OK))
          fail_msg("%s %llu", rows[i].option, (unsigned long long)list[j]);
        if (wrong) assert_string_equal(err.field, rows[i].option);
        fixture_free_options(options);
      }
    }
  }
}

/* Said of the options before any engine is asked; a state that was written so stays readable. */
static void a_taken_place_is_named(void **unused) {
  (void)unused;
  static const char text[] =
      "{\"schemaRevision\":3,\"sessionId\":\"01234567-89ab-4def-8123-456789abcdef\",\"imageId\":"
      "\"sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\",\"containerId\":"
      "\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\",\"options\":{\"image\":"
      "\"b\",\"tmpfs\":{\"/proc\":\"\"}}}";
  cdam_options *options = fixture_options();
  cdam_state *state;
  cdam_error err;
  check(cdam_options_set_tmpfs_mount(options, "/proc", "size=1m", NULL));
  assert_int_equal(cdam_options_validate(options, &err), CDAM_ERR_INVALID);
  assert_string_equal(err.field, "tmpfs[/proc]");
  fixture_free_options(options);
  check(cdam_state_from_json(text, strlen(text), NULL, &state, &err));
  cdam_state_free(state);
}

/* ---- what is sent and compared ---- */

/* As the recordings were made. */
static cdam_options *everything(void) {
  cdam_options *o = fixture_options();
  cdam_options_set_network_mode(o, CDAM_NETWORK_MODE_NONE);
  cdam_options_set_profile(o, CDAM_PROFILE_HARDENED);
  cdam_options_set_memory_bytes(o, 64 << 20);
  cdam_options_set_nano_cpus(o, 1500000000);
  cdam_options_set_pids_limit(o, 64);
  cdam_options_set_read_only_root(o, true);
  cdam_options_set_drop_all_capabilities(o, true);
  cdam_options_set_no_new_privileges(o, true);
  cdam_options_set_deadline(o, 4102444800);
  check(cdam_options_set_user(o, "65532:65532", NULL));
  check(cdam_options_set_hostname(o, "box", NULL));
  check(cdam_options_set_workspace(o, "/workspace", NULL));
  check(cdam_options_set_tmpfs_mount(o, "/workspace", "rw,exec,nosuid,nodev,size=1m,mode=1777",
                                     NULL));
  check(cdam_options_set_tmpfs_mount(o, "/tmp", "size=1m", NULL));
  check(cdam_options_set_ulimit(o, "nofile", "256:512", NULL));
  check(cdam_options_set_ulimit(o, "core", "0:0", NULL));
  return o;
}

static json_t *recorded(const char *engine) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s-limits.json", getenv("COFFERDAM_INSPECTS"), engine);
  json_error_t problem;
  json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, &problem);
  if (!json) fail_msg("%s: %s", path, problem.text);
  json_object_set_new(json, "Image", json_string(TEST_IMAGE_ID));
  return json;
}

static void every_engine_shows_what_was_asked(void **unused) {
  (void)unused;
  for (size_t i = 0; i < ENGINES; i++) {
    cdam_state *state = fixture_state(everything());
    json_t *inspect = recorded(engines[i]);
    cdam_error err;
    if (cdam_generated_compare(&state->message, inspect, &err)) fail_msg("%s", err.message);
    json_decref(inspect);
    fixture_free_state(state);
  }
}

/* Values at a place, each of which has to be drift there. NULL: the key is absent. */
typedef struct drift_row {
  const char *parent, *key;
  const char *values[14];
} drift_row;

#define MOST_OF_ALL                                                                                \
  "[\"AUDIT_WRITE\",\"CHOWN\",\"DAC_OVERRIDE\",\"FOWNER\",\"FSETID\",\"KILL\",\"MKNOD\","          \
  "\"NET_BIND_SERVICE\",\"NET_RAW\",\"SETFCAP\",\"SETGID\",\"SETPCAP\",\"SETUID\"]"

static const drift_row drifts[] = {
    {"HostConfig", "Memory", {"null", "0", "67108865", "-1", "\"67108864\"", "67108864.0"}},
    {"HostConfig", "MemorySwap", {"null", "0", "-1", "134217728"}},
    {"HostConfig", "NanoCpus", {"null", "0", "1500000001", "\"1500000000\""}},
    {"HostConfig", "PidsLimit", {"null", "0", "-1", "65", "[64]"}},
    {"HostConfig", "ReadonlyRootfs", {"null", "false", "\"true\"", "1"}},
    {"HostConfig",
     "CapDrop",
     {"null", "[]", "[\"NET_RAW\"]", "\"ALL\"", "[\"all but one\"]", "[[\"ALL\"]]", "{\"ALL\":1}",
      MOST_OF_ALL, "[\"ALL\\u0000\"]"}},
    {"HostConfig",
     "SecurityOpt",
     {"null", "[]", "[\"no-new-privileges:false\"]", "[\"no-new-privileges=false\"]",
      "\"no-new-privileges\"", "[\"no-new-privileges\",\"seccomp=unconfined\"]",
      "[\"apparmor=unconfined\"]", "[\"no-new-privileges:true\",\"no-new-privileges:false\"]",
      "[\"no-new-privileges \"]", "[\"no-new-privileges\",\"systempaths=unconfined\"]", "[null]",
      "[\"no-new-privileges\",1]"}},
    {"HostConfig",
     "Ulimits",
     {"null", "[]", "{}", "[{\"Name\":\"nofile\",\"Soft\":256,\"Hard\":512}]",
      "[{\"Name\":\"core\",\"Soft\":0,\"Hard\":0},{\"Name\":\"nofile\",\"Soft\":256,\"Hard\":513}]",
      "[{\"Name\":\"core\",\"Soft\":0,\"Hard\":0},{\"Name\":\"nofile\",\"Soft\":257,\"Hard\":512}]",
      "[{\"Name\":\"core\",\"Soft\":0,\"Hard\":0},{\"Name\":\"nofile\",\"Hard\":512}]",
      "[{\"Name\":\"core\",\"Soft\":0,\"Hard\":0},{\"Name\":\"nofile\",\"Soft\":256,\"Hard\":512},"
      "{\"Name\":\"RLIMIT_NOFILE\",\"Soft\":1,\"Hard\":-1}]"}},
    {"HostConfig",
     "Tmpfs",
     {"null", "{}", "[]", "{\"/workspace\":\"rw,exec,nosuid,nodev,size=1m,mode=1777\"}",
      "{\"/tmp\":\"size=1m\",\"/workspace\":\"\"}",
      "{\"/tmp\":\"size=2m\",\"/workspace\":\"rw,exec,nosuid,nodev,size=1m,mode=1777\"}",
      "{\"/tmp\":\"size=1m,size=9g\",\"/workspace\":\"rw,exec,nosuid,nodev,size=1m,mode=1777\"}",
      "{\"/tmp\":\"size=1m\",\"/workspace\":\"rw,exec,nosuid,nodev,size=1m,mode=1777,suid\"}",
      "{\"/tmp\":\"size=1m\",\"/workspace\":\"rw,exec,nosuid,nodev,size=1m,mode=1777,dev\"}",
      "{\"/tmp\":\"size=1m\",\"/workspace\":\"rw,noexec,nosuid,nodev,size=1m,mode=1777\"}",
      "{\"/tmp\":\"size=1m,suid\",\"/workspace\":\"rw,exec,nosuid,nodev,size=1m,mode=1777\"}",
      "{\"/tmp\":\"size=1m,dev,noexec\",\"/workspace\":\"rw,exec,nosuid,nodev,size=1m,mode=1777\"}",
      "{\"/tmp\":\"size=1m,exec\",\"/workspace\":\"rw,exec,nosuid,nodev,size=1m,mode=1777\"}",
      "{\"/tmp\":[\"size=1m\"],\"/workspace\":\"rw,exec,nosuid,nodev,size=1m,mode=1777\"}"}},
    {"Config", "User", {"null", "\"\"", "\"root\"", "\"65532\"", "65532"}},
    {"Config", "Hostname", {"null", "\"\"", "\"other\""}},
    {"Config", "WorkingDir", {"null", "\"\"", "\"/\"", "\"/workspace/\""}},
    {"Config",
     "Labels",
     {"null", "{}", "{\"io.cofferdam.profile\":\"hardened\"}",
      "{\"io.cofferdam.deadline\":\"4102444800\"}",
      "{\"io.cofferdam.profile\":\"hardened\",\"io.cofferdam.deadline\":\"4102444801\"}",
      "{\"io.cofferdam.profile\":\"hardened\",\"io.cofferdam.deadline\":4102444800}",
      "{\"io.cofferdam.profile\":\"soft\",\"io.cofferdam.deadline\":\"4102444800\"}"}},
};

static void expect_drift_with(const cdam_state *state, const char *engine, const drift_row *row,
                              const char *value) {
  json_t *inspect = recorded(engine);
  json_t *parent = json_object_get(inspect, row->parent);
  if (value)
    json_object_set_new(parent, row->key,
                        json_loads(value, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL));
  else
    json_object_del(parent, row->key);
  cdam_error err = {0};
  if (cdam_generated_compare(&state->message, inspect, &err) != CDAM_ERR_DRIFT)
    fail_msg("%s of %s as %s is no drift", row->key, engine, value ? value : "absent");
  if (!strstr(err.field, row->key)) fail_msg("%s: %s", row->key, err.field);
  json_decref(inspect);
}

static void what_an_engine_did_not_do_is_drift(void **unused) {
  (void)unused;
  cdam_state *state = fixture_state(everything());
  for (size_t i = 0; i < ENGINES; i++) {
    for (size_t j = 0; j < sizeof drifts / sizeof *drifts; j++) {
      expect_drift_with(state, engines[i], &drifts[j], NULL);
      for (size_t k = 0; k < 14 && drifts[j].values[k]; k++)
        expect_drift_with(state, engines[i], &drifts[j], drifts[j].values[k]);
    }
  }
  fixture_free_state(state);
}

static void a_capability_that_is_added_is_drift(void **unused) {
  (void)unused;
  static const drift_row added = {"HostConfig", "CapAdd", {0}};
  cdam_state *state = fixture_state(everything());
  for (size_t i = 0; i < ENGINES; i++) {
    expect_drift_with(state, engines[i], &added, "[\"SYS_ADMIN\"]");
    expect_drift_with(state, engines[i], &added, "\"SYS_ADMIN\"");
  }
  fixture_free_state(state);
}

/* In either spelling. */
static void no_new_privileges_is_told_in_several_ways(void **unused) {
  (void)unused;
  static const char *const values[] = {"[\"no-new-privileges\"]", "[\"no-new-privileges:true\"]",
                                       "[\"no-new-privileges=true\"]"};
  cdam_state *state = fixture_state(everything());
  for (size_t i = 0; i < 3; i++) {
    json_t *inspect = recorded(engines[0]);
    json_object_set_new(json_object_get(inspect, "HostConfig"), "SecurityOpt",
                        json_loads(values[i], 0, NULL));
    assert_int_equal(cdam_generated_compare(&state->message, inspect, NULL), CDAM_OK);
    json_decref(inspect);
  }
  fixture_free_state(state);
}

static void runtime_is_compared(void **unused) {
  (void)unused;
  static const drift_row runtime = {"HostConfig", "Runtime", {0}};
  cdam_options *options = everything();
  check(cdam_options_set_runtime(options, "runsc", NULL));
  cdam_state *state = fixture_state(options);
  /* Podman takes any runtime, runs its own, and says "oci". */
  for (size_t i = 0; i < ENGINES; i++) {
    expect_drift_with(state, engines[i], &runtime, NULL);
    expect_drift_with(state, engines[i], &runtime, "\"runc\"");
    expect_drift_with(state, engines[i], &runtime, "\"oci\"");
  }
  fixture_free_state(state);
}

static void the_body_says_all_of_it(void **unused) {
  (void)unused;
  static const char expected[] =
      "{\"HostConfig\":{\"CapDrop\":[\"ALL\"],\"Memory\":67108864,\"MemorySwap\":67108864,"
      "\"NanoCpus\":1500000000,\"NetworkMode\":\"none\",\"PidsLimit\":64,\"ReadonlyRootfs\":true,"
      "\"Runtime\":\"runsc\",\"SecurityOpt\":[\"no-new-privileges\"],\"Tmpfs\":{\"/tmp\":"
      "\"size=1m\",\"/workspace\":\"rw,exec,nosuid,nodev,size=1m,mode=1777\"},\"Ulimits\":["
      "{\"Hard\":0,\"Name\":\"core\",\"Soft\":0},{\"Hard\":512,\"Name\":\"nofile\",\"Soft\":256}]},"
      "\"Hostname\":\"box\",\"Image\":\"busybox:test\",\"Labels\":{\"io.cofferdam.deadline\":"
      "\"4102444800\",\"io.cofferdam.profile\":\"hardened\",\"team\":\"blue\"},\"User\":"
      "\"65532:65532\",\"WorkingDir\":\"/workspace\"}";
  cdam_options *options = everything();
  check(cdam_options_set_label(options, "team", "blue", NULL));
  check(cdam_options_set_runtime(options, "runsc", NULL));
  check(cdam_options_set_platform(options, "linux/arm64/v8", NULL));
  json_t *body = NULL;
  check(cdam_generated_create_body(&options->message, &body, NULL));
  char *text = json_dumps(body, JSON_COMPACT | JSON_SORT_KEYS);
  assert_string_equal(text, expected);
  free(text);
  json_decref(body);
  cdam_buffer query = {0};
  assert_true(cdam_generated_create_query(&options->message, &query));
  assert_string_equal(cdam_buffer_text(&query), "&platform=linux%2Farm64%2Fv8");
  cdam_buffer_clear(&query);
  fixture_free_options(options);
}

static void an_image_is_for_its_platform(void **unused) {
  (void)unused;
  static const struct {
    const char *platform, *image;
    bool good;
  } rows[] = {
      {"linux/amd64", "{\"Os\":\"linux\",\"Architecture\":\"amd64\"}", true},
      {"linux/amd64", "{\"Os\":\"linux\",\"Architecture\":\"amd64\",\"Variant\":\"v1\"}", true},
      {"linux/arm64/v8", "{\"Os\":\"linux\",\"Architecture\":\"arm64\",\"Variant\":\"v8\"}", true},
      {"linux/arm64/v8", "{\"Os\":\"linux\",\"Architecture\":\"arm64\"}", false},
      {"linux/arm64/v8", "{\"Os\":\"linux\",\"Architecture\":\"arm64\",\"Variant\":\"v7\"}", false},
      {"linux/amd64", "{\"Os\":\"linux\",\"Architecture\":\"arm64\"}", false},
      {"linux/amd64", "{\"Os\":\"windows\",\"Architecture\":\"amd64\"}", false},
      {"linux/amd64", "{\"Os\":\"linux\"}", false},
      {"linux/amd64", "{\"Os\":null,\"Architecture\":\"amd64\"}", false},
      {"linux/amd64", "{}", false},
      {"linux/amd64", "{\"Os\":[\"linux\"],\"Architecture\":[\"amd64\"]}", false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    cdam_options *options = fixture_options();
    check(cdam_options_set_platform(options, rows[i].platform, NULL));
    json_t *image = json_loads(rows[i].image, 0, NULL);
    cdam_error err;
    cdam_status status = cdam_generated_compare_image(&options->message, image, &err);
    if (status != (rows[i].good ? CDAM_OK : CDAM_ERR_DRIFT)) fail_msg("row %zu", i);
    if (!rows[i].good) assert_string_equal(err.field, "platform");
    json_decref(image);
    fixture_free_options(options);
  }
}

/* ---- what is demanded ---- */

static void a_limit_may_be_stricter_than_demanded(void **unused) {
  (void)unused;
  static const char *const options[] = {"memory_bytes", "nano_cpus", "pids_limit", "deadline"};
  static const uint64_t asked = 1000000000;
  for (size_t i = 0; i < 4; i++) {
    cdam_options *minimum = fixture_options(), *given = fixture_options();
    uint64_t value = i == 2 ? 1000 : asked;
    set_number(minimum, options[i], value);
    static const struct {
      int delta;
      cdam_status status;
    } rows[] = {{0, CDAM_OK}, {-1, CDAM_OK}, {1, CDAM_ERR_POLICY}};
    for (size_t j = 0; j < 3; j++) {
      set_number(given, options[i], value + (uint64_t)rows[j].delta);
      cdam_error err;
      assert_int_equal(cdam_generated_check_policy(&minimum->message, &given->message, &err),
                       rows[j].status);
      if (rows[j].status) assert_string_equal(err.field, options[i]);
    }
    set_number(given, options[i], 0); /* none at all */
    assert_int_equal(cdam_generated_check_policy(&minimum->message, &given->message, NULL),
                     CDAM_ERR_POLICY);
    fixture_free_options(minimum);
    fixture_free_options(given);
  }
}

static void what_has_no_order_must_be_the_same(void **unused) {
  (void)unused;
  cdam_options *minimum = fixture_options(), *given = fixture_options();
  check(cdam_options_set_user(minimum, "1:1", NULL));
  check(cdam_options_set_user(given, "2:2", NULL));
  assert_int_equal(cdam_generated_check_policy(&minimum->message, &given->message, NULL),
                   CDAM_ERR_POLICY);
  check(cdam_options_set_user(given, "1:1", NULL));
  check(cdam_generated_check_policy(&minimum->message, &given->message, NULL));
  fixture_free_options(minimum);
  fixture_free_options(given);
}

/* ---- profiles ---- */

static char *json_of(const cdam_options *options) {
  char *text = NULL;
  check(cdam_options_to_json(options, &text, NULL));
  json_t *json = json_loads(text, 0, NULL);
  free(text);
  text = json_dumps(json, JSON_INDENT(2) | JSON_SORT_KEYS);
  json_decref(json);
  return text;
}

static cdam_options *hardened(void) {
  cdam_options *options = fixture_options();
  cdam_options_set_profile(options, CDAM_PROFILE_HARDENED);
  return options;
}

/* What a profile stands for is written down, so that nobody changes it without noticing. */
static void a_profile_is_resolved_to_its_golden(void **unused) {
  (void)unused;
  char path[4096];
  snprintf(path, sizeof path, "%s/hardened.json", getenv("GOLDEN_PROFILES"));
  json_t *golden = json_load_file(path, 0, NULL);
  assert_non_null(golden);
  char *expected = json_dumps(golden, JSON_INDENT(2) | JSON_SORT_KEYS);
  json_decref(golden);
  cdam_options *options = hardened();
  for (int again = 0; again < 2; again++) {
    check(cdam_options_resolve_profile(options, NULL));
    check(cdam_options_validate(options, NULL));
    char *text = json_of(options);
    assert_string_equal(text, expected);
    free(text);
  }
  free(expected);
  fixture_free_options(options);
}

static void what_is_set_stays(void **unused) {
  (void)unused;
  cdam_options *options = hardened();
  cdam_options_set_memory_bytes(options, 1 << 30);
  check(cdam_options_set_user(options, "7:8", NULL));
  check(cdam_options_set_ulimit(options, "core", "1:1", NULL));
  check(cdam_options_set_tmpfs_mount(options, "/tmp", "size=1m", NULL));
  check(cdam_options_set_tmpfs_mount(options, "/var", "size=2m", NULL));
  check(cdam_options_resolve_profile(options, NULL));
  assert_int_equal(cdam_options_memory_bytes(options), 1 << 30);
  assert_string_equal(cdam_options_user(options), "7:8");
  assert_string_equal(cdam_options_ulimit(options, "core"), "1:1");
  assert_string_equal(cdam_options_ulimit(options, "nofile"), "1024:1024");
  assert_string_equal(cdam_options_tmpfs_mount(options, "/tmp"), "size=1m");
  assert_string_equal(cdam_options_tmpfs_mount(options, "/var"), "size=2m");
  /* Writable for the one who is there. */
  assert_non_null(strstr(cdam_options_tmpfs_mount(options, "/workspace"), ",uid=7,gid=8"));
  check(cdam_options_validate(options, NULL));
  fixture_free_options(options);
}

static void no_profile_has_root(void **unused) {
  (void)unused;
  static const char *const bad[] = {"root", "0", "0:0", "1:0", "0:1", "1", "nobody:1", "1:users"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    cdam_options *options = hardened();
    check(cdam_options_set_user(options, bad[i], NULL));
    cdam_error err;
    assert_int_equal(cdam_options_validate(options, &err), CDAM_ERR_INVALID);
    assert_string_equal(err.field, "user");
    cdam_options_set_profile(options, CDAM_PROFILE_UNSET);
    check(cdam_options_validate(options, NULL));
    fixture_free_options(options);
  }
}

static void without_a_profile_nothing_is_set(void **unused) {
  (void)unused;
  cdam_options *options = fixture_options();
  check(cdam_options_resolve_profile(options, NULL));
  char *text = json_of(options);
  assert_string_equal(text, "{\n  \"image\": \"busybox:test\"\n}");
  free(text);
  fixture_free_options(options);
  assert_int_equal(cdam_options_resolve_profile(NULL, NULL), CDAM_ERR_ARGUMENT);
}

/* A state of a profile, from whoever wrote it, has what the profile stands for. */
static void a_state_of_a_profile_is_resolved(void **unused) {
  (void)unused;
  cdam_options *options = hardened();
  cdam_error err;
  cdam_state *state = fixture_state(options);
  assert_int_equal(cdam_generated_validate_state(&state->message, &err), CDAM_ERR_INVALID);
  assert_string_equal(err.field, "options.network_mode");
  check(cdam_options_resolve_profile(options, NULL));
  check(cdam_generated_derive_features(&state->message, NULL));
  check(cdam_generated_validate_state(&state->message, &err));
  /* An older number makes nothing of it optional. */
  state->message.schema_revision = 1;
  cdam_options_set_memory_bytes(options, 0);
  check(cdam_generated_derive_features(&state->message, NULL));
  assert_int_equal(cdam_generated_validate_state(&state->message, &err), CDAM_ERR_INVALID);
  assert_string_equal(err.field, "options.memory_bytes");
  fixture_free_state(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(texts_have_their_formats),
      cmocka_unit_test(numbers_have_their_bounds),
      cmocka_unit_test(a_taken_place_is_named),
      cmocka_unit_test(every_engine_shows_what_was_asked),
      cmocka_unit_test(what_an_engine_did_not_do_is_drift),
      cmocka_unit_test(a_capability_that_is_added_is_drift),
      cmocka_unit_test(no_new_privileges_is_told_in_several_ways),
      cmocka_unit_test(runtime_is_compared),
      cmocka_unit_test(the_body_says_all_of_it),
      cmocka_unit_test(an_image_is_for_its_platform),
      cmocka_unit_test(a_limit_may_be_stricter_than_demanded),
      cmocka_unit_test(what_has_no_order_must_be_the_same),
      cmocka_unit_test(a_profile_is_resolved_to_its_golden),
      cmocka_unit_test(what_is_set_stays),
      cmocka_unit_test(no_profile_has_root),
      cmocka_unit_test(without_a_profile_nothing_is_set),
      cmocka_unit_test(a_state_of_a_profile_is_resolved),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
