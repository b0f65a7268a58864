/* SPDX-License-Identifier: Apache-2.0 */
/* Limits and hardening on a real engine: in force inside, and missed when somebody takes them away.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "real_engine.h"

static int make_client(void **state) {
  *state = engine_client();
  return 0;
}

static int free_client(void **state) {
  cdam_client_free(*state);
  return 0;
}

static const char *id_of(const cdam_session *session) {
  return cdam_state_container_id(cdam_session_state(session));
}

static void check(cdam_status status) {
  assert_int_equal(status, CDAM_OK);
}

static cdam_session *create(cdam_client *client, cdam_options *options) {
  cdam_session *session;
  cdam_error err;
  assert_ok(cdam_create(client, options, &session, &err), &err);
  cdam_options_free(options);
  return session;
}

static cdam_session *hardened(cdam_client *client) {
  cdam_options *options = options_with(CDAM_NETWORK_MODE_UNSET);
  cdam_options_set_profile(options, CDAM_PROFILE_HARDENED);
  return create(client, options);
}

/* The stdout of a script that need not succeed; lives until the next call. */
static const char *sh(cdam_session *session, const char *script) {
  static char text[65536];
  cdam_exec_result *result;
  cdam_error err;
  const char *const argv[] = {"sh", "-c", script, NULL};
  assert_ok(
      cdam_exec(session, &(cdam_exec_command){.argv = argv, .timeout_ms = 60000}, &result, &err),
      &err);
  snprintf(text, sizeof text, "%s", cdam_exec_result_stdout(result, NULL));
  cdam_exec_result_free(result);
  return text;
}

static void expect(cdam_session *session, const char *script, const char *wanted) {
  const char *found = sh(session, script);
  if (strcmp(found, wanted) != 0) fail_msg("%s: \"%s\", not \"%s\"", script, found, wanted);
}

static void expect_line(cdam_session *session, const char *script, const char *line) {
  const char *found = sh(session, script);
  if (!strstr(found, line)) fail_msg("%s: no \"%s\" in\n%s", script, line, found);
}

/* ---- in force ---- */

static void hardened_is_in_force(void **state) {
  cdam_session *session = hardened(*state);
  expect(session, "id -u; id -g", "65532\n65532\n");
  expect(session, "ls /sys/class/net", "lo\n");
  static const char status[] = "cat /proc/self/status";
  static const char *const lines[] = {"CapInh:\t0000000000000000", "CapPrm:\t0000000000000000",
                                      "CapEff:\t0000000000000000", "CapBnd:\t0000000000000000",
                                      "CapAmb:\t0000000000000000", "NoNewPrivs:\t1"};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    expect_line(session, status, lines[i]);
  expect(session, "ulimit -Sn; ulimit -Hn; ulimit -Sc; ulimit -Hc", "1024\n1024\n0\n0\n");
  expect(session, "touch /x 2>/dev/null && echo written; mkdir /etc/x 2>/dev/null && echo made",
         "");
  /* Both can be written by who runs there, and only one has programs. */
  expect(session,
         "for d in /workspace /tmp; do cp /bin/busybox $d/echo && $d/echo $d 2>/dev/null; done; "
         "true",
         "/workspace\n");
  expect_line(session, "cat /proc/mounts", " /workspace tmpfs rw,nosuid,nodev,");
  expect_line(session, "cat /proc/mounts", " /tmp tmpfs rw,nosuid,nodev,noexec,");
  expect(session, "df -k /workspace /tmp | awk '/tmpfs/ {print $2}'", "262144\n65536\n");
  /* The state says what it was resolved to, and is found so again. */
  const cdam_options *options = cdam_state_options(cdam_session_state(session));
  assert_int_equal(cdam_options_memory_bytes(options), 512 << 20);
  assert_int_equal(cdam_options_network_mode(options), CDAM_NETWORK_MODE_NONE);
  assert_int_equal(cdam_state_required_feature_count(cdam_session_state(session)), 9);
  cdam_session *again;
  cdam_error err;
  assert_ok(cdam_resume(*state, cdam_session_state(session), NULL, &again, &err), &err);
  cdam_session_free(again);
  docker("rm -f %s", id_of(session));
  assert_ok(cdam_resume(*state, cdam_session_state(session), NULL, &again, &err), &err);
  assert_true(cdam_session_was_recreated(again));
  expect(again, "id -u; touch /x 2>/dev/null; ulimit -Hn; ls /sys/class/net", "65532\n1024\nlo\n");
  cdam_session_free(session);
  end_session(*state, again);
}

/* Of cgroup v1 or v2. */
static void expect_limit(cdam_session *session, const char *v1, const char *v2,
                         const char *wanted) {
  char script[256];
  snprintf(script, sizeof script, "cat /sys/fs/cgroup/%s 2>/dev/null || cat /sys/fs/cgroup/%s", v1,
           v2);
  expect(session, script, wanted);
}

static void memory_is_limited(void **state) {
  cdam_options *options = options_with(CDAM_NETWORK_MODE_NONE);
  cdam_options_set_memory_bytes(options, 32 << 20);
  cdam_session *session = create(*state, options);
  expect_limit(session, "memory/memory.limit_in_bytes", "memory.max", "33554432\n");
  /* Twice that, and no swap to go to. */
  expect_line(session, "dd if=/dev/zero of=/dev/null bs=64M count=1 2>/dev/null; echo status $?",
              "status 137");
  expect(session, "echo alive", "alive\n");
  end_session(*state, session);
}

static void processors_are_limited(void **state) {
  cdam_options *options = options_with(CDAM_NETWORK_MODE_NONE);
  cdam_options_set_nano_cpus(options, 500000000);
  cdam_session *session = create(*state, options);
  const char *quota =
      sh(session, "cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us /sys/fs/cgroup/cpu.max 2>/dev/null");
  if (strcmp(quota, "50000\n") != 0 && strcmp(quota, "50000 100000\n") != 0) fail_msg("%s", quota);
  end_session(*state, session);
}

static void processes_are_limited(void **state) {
  cdam_options *options = options_with(CDAM_NETWORK_MODE_NONE);
  cdam_options_set_pids_limit(options, 32);
  cdam_session *session = create(*state, options);
  expect_limit(session, "pids/pids.max", "pids.max", "32\n");
  long count = strtol(sh(session, "i=0; while [ $i -lt 64 ]; do sleep 5 & i=$((i+1)); done "
                                  "2>/dev/null; ls -d /proc/[0-9]* | wc -l; kill $(jobs -p)"),
                      NULL, 10);
  assert_in_range(count, 0, 33);
  end_session(*state, session);
}

static void names_and_places(void **state) {
  cdam_options *options = options_with(CDAM_NETWORK_MODE_NONE);
  check(cdam_options_set_hostname(options, "box-7", NULL));
  check(cdam_options_set_workspace(options, "/srv/work", NULL));
  check(cdam_options_set_user(options, "1234:4321", NULL));
  check(cdam_options_set_ulimit(options, "nofile", "100:200", NULL));
  check(cdam_options_set_tmpfs_mount(options, "/srv/work", "size=1m,uid=1234,gid=4321,noatime",
                                     NULL));
  cdam_session *session = create(*state, options);
  expect(session, "hostname; pwd; id -u; id -g; ulimit -Sn; ulimit -Hn",
         "box-7\n/srv/work\n1234\n4321\n100\n200\n");
  expect_line(session, "dd if=/dev/zero of=/srv/work/x bs=64k count=32 2>&1; ls -s /srv/work/x",
              "No space left");
  end_session(*state, session);
}

/* The image's architecture is that of the machine. */
static void an_image_of_another_platform_is_refused(void **state) {
  const char *own = docker("image inspect -f '{{.Os}}/{{.Architecture}}' " TEST_IMAGE);
  cdam_options *options = options_with(CDAM_NETWORK_MODE_NONE);
  check(cdam_options_set_platform(options, own, NULL));
  cdam_session *session;
  cdam_error err;
  assert_ok(cdam_create(*state, options, &session, &err), &err);
  end_session(*state, session);
  check(cdam_options_set_platform(options, "linux/s390x", NULL));
  cdam_status status = cdam_create(*state, options, &session, &err);
  assert_true(status == CDAM_ERR_NOT_FOUND || status == CDAM_ERR_PULL);
  assert_non_null(strstr(err.message, "for the platform asked for"));
  cdam_options_free(options);
}

static void a_runtime_that_is_not_there_is_an_error(void **state) {
  cdam_options *options = options_with(CDAM_NETWORK_MODE_NONE);
  check(cdam_options_set_runtime(options, "no-such-runtime", NULL));
  cdam_session *session;
  cdam_error err;
  assert_int_equal(cdam_create(*state, options, &session, &err), CDAM_ERR_ENGINE);
  cdam_options_free(options);
  options = options_with(CDAM_NETWORK_MODE_NONE);
  check(cdam_options_set_runtime(options, "runc", NULL));
  end_session(*state, create(*state, options));
}

/* ---- missed ---- */

static void assert_drift(cdam_client *client, const cdam_state *state, const char *field) {
  cdam_session *again;
  cdam_error err = {0};
  cdam_status status = cdam_resume(client, state, NULL, &again, &err);
  if (status != CDAM_ERR_DRIFT || strcmp(err.field, field) != 0)
    fail_msg("%s: %s %s", field, cdam_status_name(status), err.message);
}

static void limits_that_were_updated_are_drift(void **state) {
  cdam_session *session = hardened(*state), *again;
  const cdam_state *saved = cdam_session_state(session);
  static const struct {
    const char *there, *back, *field;
  } rows[] = {
      {"--memory 256m --memory-swap 512m", "--memory 512m --memory-swap 512m", "HostConfig.Memory"},
      {"--memory-swap 1g", "--memory-swap 512m", "HostConfig.MemorySwap"},
      {"--cpus 2", "--cpus 1", "HostConfig.NanoCpus"},
      {"--pids-limit 300", "--pids-limit 256", "HostConfig.PidsLimit"},
      {"--pids-limit -1", "--pids-limit 256", "HostConfig.PidsLimit"},
      {"--restart unless-stopped", "--restart no", "HostConfig.RestartPolicy.Name"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    docker("update %s %s", rows[i].there, id_of(session));
    assert_drift(*state, saved, rows[i].field);
    docker("update %s %s", rows[i].back, id_of(session));
    cdam_error err;
    assert_ok(cdam_resume(*state, saved, NULL, &again, &err), &err);
    cdam_session_free(again);
  }
  /* The kernel gets the quota; NanoCpus stays what it was, and no update leads back. */
  docker("update --cpu-quota -1 %s", id_of(session));
  assert_drift(*state, saved, "HostConfig.CpuQuota");
  end_session(*state, session);
}

/* A state with less than its container, as anybody can make one without a key. */
static cdam_state *without(const cdam_state *state, const char *const *pieces) {
  char *json;
  cdam_state *less;
  cdam_error err;
  check(cdam_state_to_json(state, &json, NULL));
  for (; *pieces; pieces++) {
    char *piece = strstr(json, *pieces), *rest = piece + strlen(*pieces);
    assert_non_null(piece);
    memmove(piece, rest, strlen(rest) + 1);
  }
  assert_ok(cdam_state_from_json(json, strlen(json), NULL, &less, &err), &err);
  free(json);
  return less;
}

static void a_state_that_lost_a_limit_is_drift(void **state) {
  cdam_session *session = hardened(*state);
#define PROFILE "\"profile\": \"PROFILE_HARDENED\", "
  static const char *const lost[][4] = {
      {"\"core\": \"0:0\", "},
      {PROFILE, "\"FEATURE_MEMORY\", ", "\"memoryBytes\": \"536870912\", "},
      {PROFILE, "\"FEATURE_NETWORK_ISOLATION\", ", "\"networkMode\": \"NETWORK_MODE_NONE\", "}};
  for (size_t i = 0; i < sizeof lost / sizeof *lost; i++) {
    cdam_state *less = without(cdam_session_state(session), lost[i]);
    assert_drift(*state, less, "Config.Labels[io.cofferdam.isolation]");
    cdam_state_free(less);
  }
  end_session(*state, session);
}

/* With our names and labels, but one thing less. */
static void a_forged_container_without_one_of_them_is_drift(void **state) {
  cdam_options *options = options_with(CDAM_NETWORK_MODE_NONE);
  cdam_options_set_profile(options, CDAM_PROFILE_HARDENED);
  check(cdam_options_set_hostname(options, "box", NULL));
  cdam_options_set_deadline(options, 4102444800);
  cdam_session *session = create(*state, options), *again;
  const cdam_state *saved = cdam_session_state(session);
  const char *sid = cdam_state_session_id(saved);
  docker("rm -f %s", id_of(session));
  static const struct {
    const char *flags, *instead, *field;
  } parts[] = {
      {"--memory 512m --memory-swap 512m", "", "HostConfig.Memory"},
      {"--cpus 1", "", "HostConfig.NanoCpus"},
      {"--pids-limit 256", "", "HostConfig.PidsLimit"},
      {"--read-only", "", "HostConfig.ReadonlyRootfs"},
      {"--user 65532:65532", "", "Config.User"},
      {"--cap-drop ALL", "--cap-drop NET_RAW", "HostConfig.CapDrop"},
      {"--security-opt no-new-privileges", "--security-opt no-new-privileges=false",
       "HostConfig.SecurityOpt"},
      {"--ulimit nofile=1024:1024 --ulimit core=0:0", "--ulimit core=0:0",
       "HostConfig.Ulimits[nofile]"},
      {"", "--volume /data", "Mounts"},
      {"--hostname box", "", "Config.Hostname"},
      {"--workdir /workspace", "", "Config.WorkingDir"},
      {"--label io.cofferdam.deadline=4102444800", "--label io.cofferdam.deadline=4102444801",
       "Config.Labels[io.cofferdam.deadline]"},
      {"--label io.cofferdam.profile=hardened", "", "Config.Labels[io.cofferdam.profile]"},
      {"--tmpfs /tmp:rw,noexec,nosuid,nodev,size=64m,mode=1777,uid=65532,gid=65532",
       "--tmpfs /tmp:rw,exec,nosuid,nodev,size=64m,mode=1777,uid=65532,gid=65532",
       "HostConfig.Tmpfs[/tmp]"},
      {"--tmpfs /workspace:rw,exec,nosuid,nodev,size=256m,mode=1777,uid=65532,gid=65532", "",
       "HostConfig.Tmpfs[/workspace]"},
  };
  enum { PARTS = sizeof parts / sizeof *parts };
  for (size_t missing = 0; missing <= PARTS; missing++) {
    char flags[4096] = "";
    for (size_t i = 0; i < PARTS; i++) {
      size_t used = strlen(flags);
      snprintf(flags + used, sizeof flags - used, " %s",
               i == missing ? parts[i].instead : parts[i].flags);
    }
    docker("create --init --name cofferdam-%s --label io.cofferdam.session-id=%s --network none %s "
           "--entrypoint tail " TEST_IMAGE " -f /dev/null",
           sid, sid, flags);
    cdam_error err;
    if (missing < PARTS)
      assert_drift(*state, saved, parts[missing].field);
    else { /* nothing is missing: it is taken, so the rows above show what they should */
      assert_ok(cdam_resume(*state, saved, NULL, &again, &err), &err);
      cdam_session_free(again);
    }
    docker("rm -f cofferdam-%s", sid);
  }
  end_session(*state, session);
}

/* ---- a deadline ---- */

static cdam_session *until(cdam_client *client, int64_t deadline) {
  cdam_options *options = options_with(CDAM_NETWORK_MODE_NONE);
  cdam_options_set_deadline(options, (uint64_t)deadline);
  return create(client, options);
}

static size_t reap(cdam_client *client, int64_t now, bool dry_run, const char *session_id,
                   bool *found) {
  cdam_reap_flags flags = {.now = now, .dry_run = dry_run};
  cdam_reap_report *report;
  cdam_error err;
  assert_ok(cdam_reap(client, &flags, &report, &err), &err);
  size_t count = cdam_reap_count(report);
  *found = false;
  for (size_t i = 0; i < count; i++) {
    assert_null(cdam_reap_failure(report, i));
    *found = *found || !strcmp(cdam_reap_session_id(report, i), session_id);
  }
  cdam_reap_report_free(report);
  return count;
}

/* Real reaping meets every sandbox of the engine that is over: this is for an engine of tests. */
static void what_is_over_is_reaped(void **state) {
  int64_t now = (int64_t)time(NULL);
  cdam_session *session = until(*state, now + 8);
  const cdam_state *saved = cdam_session_state(session);
  const char *sid = cdam_state_session_id(saved);
  bool found;
  /* By a clock of long ago nothing is over. */
  reap(*state, 1000, false, sid, &found);
  assert_false(found);
  /* Recreating keeps the moment. */
  docker("rm -f %s", id_of(session));
  cdam_session *again;
  cdam_error err;
  assert_ok(cdam_resume(*state, saved, NULL, &again, &err), &err);
  char label[32];
  snprintf(label, sizeof label, "%lld", (long long)now + 8);
  assert_string_equal(
      docker("inspect -f '{{index .Config.Labels \"io.cofferdam.deadline\"}}' %s", id_of(again)),
      label);
  cdam_session_free(again);
  while ((int64_t)time(NULL) < now + 8)
    usleep(100000);
  assert_int_equal(cdam_resume(*state, saved, NULL, &again, &err), CDAM_ERR_EXPIRED);
  assert_int_equal(containers_of(sid), 1);
  reap(*state, now + 8, true, sid, &found);
  assert_true(found);
  assert_int_equal(containers_of(sid), 1);
  reap(*state, now + 8, false, sid, &found);
  assert_true(found);
  assert_int_equal(containers_of(sid), 0);
  reap(*state, now + 8, false, sid, &found);
  assert_false(found);
  cdam_session_free(session);
}

static void what_only_looks_like_it_is_not_reaped(void **state) {
  static const char sid[] = "01234567-89ab-4def-8123-456789abcdef";
  docker("create --name cofferdam-test-decoy --label io.cofferdam.session-id=%s "
         "--label io.cofferdam.deadline=1 " TEST_IMAGE " true",
         sid);
  bool found;
  reap(*state, 1000, false, sid, &found);
  assert_false(found);
  docker("rename cofferdam-test-decoy cofferdam-%s", sid);
  reap(*state, 0, true, sid, &found);
  assert_true(found);
  reap(*state, 1000, false, sid, &found);
  assert_true(found);
  assert_int_equal(containers_of(sid), 0);
}

int main(void) {
#define TEST(name) cmocka_unit_test(name)
  const struct CMUnitTest tests[] = {
      TEST(hardened_is_in_force),
      TEST(memory_is_limited),
      TEST(processors_are_limited),
      TEST(processes_are_limited),
      TEST(names_and_places),
      TEST(an_image_of_another_platform_is_refused),
      TEST(a_runtime_that_is_not_there_is_an_error),
      TEST(limits_that_were_updated_are_drift),
      TEST(a_state_that_lost_a_limit_is_drift),
      TEST(a_forged_container_without_one_of_them_is_drift),
      TEST(what_is_over_is_reaped),
      TEST(what_only_looks_like_it_is_not_reaped),
  };
  require_engine();
  return cmocka_run_group_tests(tests, make_client, free_client);
}
