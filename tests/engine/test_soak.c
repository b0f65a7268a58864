/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same thing very often, without growth: of this process's memory and descriptors, of the
 * agent's memory, of the sandbox's processes, and of the engine's containers. A short run here;
 * docs/testing.md says how to make it a long one by COFFERDAM_SOAK_COMMANDS and
 * COFFERDAM_SOAK_CYCLES.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "real_engine.h"

static long count_of(const char *variable, long otherwise) {
  const char *text = getenv(variable);
  long count = text ? strtol(text, NULL, 10) : otherwise;
  assert_true(count >= 10);
  return count;
}

static long descriptors(void) {
  long count = 0;
  DIR *directory = opendir("/proc/self/fd");
  assert_non_null(directory);
  while (readdir(directory))
    count++;
  closedir(directory);
  return count;
}

static long field_of(const char *status, const char *name) {
  const char *at = strstr(status, name);
  return at ? strtol(at + strlen(name), NULL, 10) : -1;
}

static long own_memory_kib(void) {
  char text[4096] = "";
  FILE *file = fopen("/proc/self/status", "r");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  return field_of(text, "VmRSS:");
}

static long agent_memory_kib(cdam_session *session) {
  char *status = output_of(session, (const char *const[]){"cat", "/proc/1/status", NULL});
  long memory = field_of(status, "VmRSS:");
  free(status);
  return memory;
}

/* The agent, and what `ls` itself needs. */
static long processes(cdam_session *session) {
  char *names = output_of(session, (const char *const[]){"ls", "/proc", NULL});
  long count = 0;
  for (const char *at = names; (at = strchr(at, '\n')); at++)
    if (at[1] >= '0' && at[1] <= '9') count++;
  free(names);
  return count;
}

/* Sanitizers keep freed memory for a while, so theirs says less. */
static void assert_no_growth(const char *what, long before, long after, long allowed) {
  print_message("# %s: %ld before, %ld after\n", what, before, after);
  if (after > before + allowed) fail_msg("%s grew from %ld to %ld", what, before, after);
}

#if defined(__SANITIZE_ADDRESS__)
#define MEMORY_ALLOWED_KIB 65536
#else
#define MEMORY_ALLOWED_KIB 512
#endif

static void run_true(cdam_session *session) {
  cdam_exec_result *result;
  cdam_error err;
  const cdam_exec_command command = {.argv = (const char *const[]){"true", NULL}};
  assert_ok(cdam_exec(session, &command, &result, &err), &err);
  assert_int_equal(cdam_exec_result_exit_code(result), 0);
  cdam_exec_result_free(result);
}

static void many_commands_leave_nothing(void **state) {
  (void)state;
  long count = count_of("COFFERDAM_SOAK_COMMANDS", 3000);
  cdam_client *client = engine_client();
  cdam_session *session = create_with(client, CDAM_NETWORK_MODE_NONE);
  assert_true(cdam_session_has_agent(session));
  for (int i = 0; i < 500; i++)
    run_true(session);
  long open = descriptors(), memory = own_memory_kib();
  long agent = agent_memory_kib(session), running = processes(session);
  int64_t begun = cdam_now_ms();
  for (long i = 0; i < count; i++)
    run_true(session);
  print_message("# %ld commands, %.3f ms each\n", count,
                (double)(cdam_now_ms() - begun) / (double)count);
  assert_no_growth("descriptors", open, descriptors(), 0);
  assert_no_growth("memory of this process in KiB", memory, own_memory_kib(), MEMORY_ALLOWED_KIB);
  assert_no_growth("memory of the agent in KiB", agent, agent_memory_kib(session), 128);
  assert_no_growth("processes in the sandbox", running, processes(session), 0);
  end_session(client, session);
  cdam_client_free(client);
}

/* Ours alone: others may use the engine too. */
static long containers(void) {
  return strtol(docker("ps -aq --filter label=soak=%d | wc -l", (int)getpid()), NULL, 10);
}

static void cycle(cdam_client *client) {
  cdam_options *options = options_with(CDAM_NETWORK_MODE_NONE);
  cdam_session *session;
  cdam_error err;
  char mark[16];
  snprintf(mark, sizeof mark, "%d", (int)getpid());
  assert_ok(cdam_options_set_label(options, "soak", mark, &err), &err);
  assert_ok(cdam_create(client, options, &session, &err), &err);
  cdam_options_free(options);
  run_true(session);
  assert_ok(cdam_delete(client, cdam_session_state(session), &err), &err);
  cdam_session_free(session);
}

static void many_sandboxes_leave_nothing(void **state) {
  (void)state;
  long count = count_of("COFFERDAM_SOAK_CYCLES", 10);
  cdam_client *client = engine_client();
  for (int i = 0; i < 5; i++)
    cycle(client);
  long open = descriptors(), memory = own_memory_kib(), made = containers();
  for (long i = 0; i < count; i++)
    cycle(client);
  assert_no_growth("descriptors", open, descriptors(), 0);
  assert_no_growth("memory of this process in KiB", memory, own_memory_kib(), MEMORY_ALLOWED_KIB);
  assert_no_growth("containers", made, containers(), 0);
  print_message("# %ld sandboxes\n", count);
  cdam_client_free(client);
}

int main(void) {
  require_engine();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(many_commands_leave_nothing),
      cmocka_unit_test(many_sandboxes_leave_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
