/* SPDX-License-Identifier: Apache-2.0 */
/* Where the agent's program comes from, and which file is not taken for one. */
#include "agent_fixture.h"

#include "session/agent_binary.h"
#include "session/engine_time.h"

static void use(agent_fixture *this, const char *architecture) {
  this->model->architecture = architecture;
  model_use_agent(this->model, this->directory, CDAM_AGENT_REQUIRED);
}

static void refused(agent_fixture *this, const char *architecture, const char *why) {
  cdam_error err = {0};
  use(this, architecture);
  assert_int_equal(agent_create(this, NULL, &err), CDAM_ERR_NO_AGENT);
  assert_non_null(strstr(err.message, why));
  assert_int_equal(volume_requests(this), 0);
  assert_false(model_has_container(this->model));
  /* And nothing keeps a sandbox from being made without it, which is told. */
  cdam_session *session;
  model_use_agent(this->model, this->directory, CDAM_AGENT_AUTO);
  assert_int_equal(agent_create(this, &session, &err), CDAM_OK);
  assert_false(cdam_session_has_agent(session));
  assert_int_equal(cdam_session_warning_count(session), 2);
  assert_non_null(strstr(cdam_session_warning(session, 0), why));
  assert_non_null(strstr(cdam_session_warning(session, 0), "has no agent"));
  cdam_session_free(session);
  this->model->id[0] = '\0';
  assert_int_equal(volume_requests(this), 0);
}

static void what_is_no_program(void **state) {
  agent_fixture *this = *state;
  char elsewhere[160];
  snprintf(elsewhere, sizeof elsewhere, "%s-elsewhere", this->path);

  assert_int_equal(rename(this->path, elsewhere), 0);
  refused(this, "x86_64", "No such file");
  assert_int_equal(symlink(elsewhere, this->path), 0);
  refused(this, "x86_64", "a link");
  unlink(this->path);
  assert_int_equal(mkfifo(this->path, 0600), 0);
  refused(this, "x86_64", "is not a file");
  unlink(this->path);
  assert_int_equal(mkdir(this->path, 0700), 0);
  refused(this, "x86_64", "is not a file");
  rmdir(this->path);

  write_file(this->path, "", 0);
  refused(this, "x86_64", "is empty");
  write_file(this->path, "#!/bin/sh\nexec evil\n", 20);
  refused(this, "x86_64", "is no program");
  write_program(this->path, EM_X86_64, sizeof(Elf64_Ehdr) - 1, 'x');
  refused(this, "x86_64", "is no program");
  write_program(this->path, EM_AARCH64, AGENT_SIZE, 'x');
  refused(this, "x86_64", "is no program");
  write_program(this->path, EM_X86_64, 1024 * 1024 + 1, 'x');
  refused(this, "x86_64", "1 MiB");
  unlink(elsewhere);
}

static void architectures(void **state) {
  agent_fixture *this = *state;
  char arm[128];
  refused(this, "riscv64", "architecture riscv64");
  refused(this, NULL, "tells none");
  refused(this, "aarch64", "cofferdam-agent-arm64: No such file");
  refused(this, "amd64/../../etc", "architecture amd64/../../etc");
  snprintf(arm, sizeof arm, "%s/cofferdam-agent-arm64", this->directory);
  write_program(arm, EM_AARCH64, AGENT_SIZE, 'x');
  const char *const words[] = {"x86_64", "amd64", "aarch64", "arm64"};
  for (size_t i = 0; i < 4; i++) {
    use(this, words[i]);
    this->model->volumes.marker = false; /* the model has one volume for both */
    size_t puts = model_requests(this->model, "PUT", "*");
    assert_created(this);
    assert_int_equal(model_requests(this->model, "PUT", "*") - puts, i % 2 == 0);
  }
}

/* As large as it may be; and read once, whatever becomes of the file. */
static void read_once(void **state) {
  agent_fixture *this = *state;
  write_program(this->path, EM_X86_64, 1024 * 1024, 'x');
  assert_created(this);
  const cdam_agent_binary *first, *second;
  assert_int_equal(cdam_agent_binary_get(this->model->client, &first, NULL), CDAM_OK);
  assert_int_equal(first->size, 1024 * 1024);
  unlink(this->path);
  assert_created(this);
  assert_int_equal(cdam_agent_binary_get(this->model->client, &second, NULL), CDAM_OK);
  assert_ptr_equal(first, second);
}

static void its_digest(void **state) {
  agent_fixture *this = *state;
  char command[256], line[80];
  assert_created(this);
  const cdam_agent_binary *binary;
  assert_int_equal(cdam_agent_binary_get(this->model->client, &binary, NULL), CDAM_OK);
  snprintf(command, sizeof command, "sha256sum %s", this->path);
  FILE *sum = popen(command, "r");
  assert_non_null(fgets(line, sizeof line, sum));
  pclose(sum);
  assert_memory_equal(line, binary->digest, 64);
  assert_int_equal(strlen(binary->digest), 64);
}

static void off_asks_for_nothing(void **state) {
  agent_fixture *this = *state;
  unlink(this->path);
  model_use_agent(this->model, this->directory, CDAM_AGENT_OFF);
  cdam_session *session;
  assert_int_equal(agent_create(this, &session, NULL), CDAM_OK);
  assert_int_equal(cdam_session_warning_count(session), 1); /* the model's */
  assert_int_equal(volume_requests(this), 0);
  cdam_session_free(session);
}

static void times(void **state) {
  (void)state;
  const struct {
    const char *text;
    int64_t seconds;
  } cases[] = {
      {"2026-02-03T04:05:06Z", 1770091506},
      {"2026-02-03T04:05:06.123456789Z", 1770091506},
      {"2026-02-03T05:05:06+01:00", 1770091506},
      {"2026-02-02T22:35:06.5-05:30", 1770091506},
      {"1970-01-01T00:00:00Z", 0},
      {"0001-01-01T00:00:00Z", 0},
      {"2026-02-03T04:05:06", 0},
      {"2026-02-03T04:05:06z", 0},
      {"2026-02-03T04:05:06+0100", 0},
      {"2026-02-03T04:05:06+1:00", 0},
      {"2026-02-03T04:05:06+01:00 ", 0},
      {"2026-02-03 04:05:06Z", 0},
      {"2026-02-03T04:05Z", 0},
      {"2026-13-03T04:05:06Z", 0},
      {" 2026-02-03T04:05:06Z", 0},
      {"22026-02-03T04:05:06Z", 0},
      {"", 0},
      {NULL, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (cdam_engine_time(cases[i].text) != cases[i].seconds)
      fail_msg("%s: %lld", cases[i].text, (long long)cdam_engine_time(cases[i].text));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      AGENT_TEST(what_is_no_program), AGENT_TEST(architectures),        AGENT_TEST(read_once),
      AGENT_TEST(its_digest),         AGENT_TEST(off_asks_for_nothing), cmocka_unit_test(times),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
