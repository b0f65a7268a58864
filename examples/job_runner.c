/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a script that is not trusted, and prints what it wrote to the file "result": in a sandbox
 * without network, root or capabilities, with limits, for ten seconds at most, which is deleted
 * whatever happens: job_runner IMAGE [SCRIPT]
 *
 *   cc job_runner.c $(pkg-config --cflags --libs cofferdam)
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cofferdam/cofferdam.h>

#define JOB_MS 10000
#define RESULT_LIMIT ((size_t)1024 * 1024)

static const char sample[] = "echo working\n"
                             "echo \"the answer is $((6 * 7))\" >result\n";

static int fail(const char *what, const cdam_error *err) {
  fprintf(stderr, "%s: %s\n", what, err->message);
  return 1;
}

/* The script comes from a file of any size, or from memory. */
static cdam_status upload(cdam_session *session, const char *path, cdam_error *err) {
  cdam_source source = {.bytes = sample, .length = strlen(sample)};
  int fd = -1;
  if (path) {
    fd = open(path, O_RDONLY | O_CLOEXEC);
    source = (cdam_source){.from_fd = true, .fd = fd}; /* one that is not open is CDAM_ERR_IO */
  }
  cdam_status status = cdam_file_write(session, "job.sh", &source, NULL, err);
  if (fd >= 0) close(fd);
  return status;
}

/* That the script fails is no failure of this program: 0 as long as it could be run. */
static int run(cdam_session *session) {
  static const char *const argv[] = {"sh", "job.sh", NULL};
  const cdam_exec_command command = {.argv = argv, .timeout_ms = JOB_MS, .output_cap = 64 * 1024};
  cdam_exec_result *result = NULL;
  cdam_error err;
  if (cdam_exec(session, &command, &result, &err) != CDAM_OK) return fail("the job", &err);
  if (cdam_exec_result_timed_out(result))
    printf("the job took too long, and was ended with all that it had started\n");
  else
    printf("the job ended with status %d\n", cdam_exec_result_exit_code(result));
  printf("it printed %llu bytes, of which these are the first:\n%s",
         (unsigned long long)cdam_exec_result_stdout_total(result),
         cdam_exec_result_stdout(result, NULL));
  cdam_exec_result_free(result);
  return 0;
}

/* What it left is not trusted either: it may be missing, too large, or no text. */
static int show_result(cdam_session *session) {
  char *bytes = NULL;
  size_t length = 0;
  cdam_error err;
  if (cdam_file_read(session, "result", RESULT_LIMIT, &bytes, &length, &err) != CDAM_OK)
    return fail("the result", &err);
  printf("its result has %zu bytes:\n", length);
  int code = fwrite(bytes, 1, length, stdout) == length && fflush(stdout) == 0 ? 0 : 1;
  free(bytes);
  return code;
}

static int use_sandbox(cdam_session *session, const char *script) {
  cdam_error err;
  if (upload(session, script, &err) != CDAM_OK) return fail("the script", &err);
  int code = run(session);
  return code ? code : show_result(session);
}

static cdam_status configure(cdam_options *options, const char *image, cdam_error *err) {
  cdam_options_set_profile(options, CDAM_PROFILE_HARDENED);
  cdam_options_set_memory_bytes(options, 128ULL * 1024 * 1024); /* instead of the profile's */
  /* Should this program be killed, the sandbox ends by itself, and 'cofferdam reap' removes it. */
  cdam_options_set_deadline(options, (uint64_t)time(NULL) + 300);
  return cdam_options_set_image(options, image, err);
}

static int work(cdam_client *client, cdam_options *options, const char *image, const char *script) {
  cdam_session *session = NULL;
  cdam_error err;
  if (configure(options, image, &err) != CDAM_OK) return fail("the options", &err);
  if (cdam_create(client, options, &session, &err) != CDAM_OK) return fail("the sandbox", &err);
  int code = use_sandbox(session, script);
  if (cdam_delete(client, cdam_session_state(session), &err) != CDAM_OK)
    code = fail("the sandbox is still there", &err);
  cdam_session_free(session);
  return code;
}

/* Only sandboxes with an agent: without one there are no files. */
static cdam_status connect_to_engine(cdam_client **client, cdam_error *err) {
  cdam_client_config *config = NULL;
  cdam_status status = cdam_client_config_new(&config, err);
  if (status != CDAM_OK) return status;
  cdam_client_config_set_agent(config, CDAM_AGENT_REQUIRED);
  status = cdam_client_new(config, client, err);
  cdam_client_config_free(config);
  return status;
}

int main(int argc, char **argv) {
  cdam_client *client = NULL;
  cdam_options *options = NULL;
  cdam_error err;
  int code;
  if (connect_to_engine(&client, &err) != CDAM_OK || cdam_options_new(&options, &err) != CDAM_OK)
    code = fail("the engine", &err);
  else
    code = work(client, options, argc > 1 ? argv[1] : "alpine:3.20", argc > 2 ? argv[2] : NULL);
  cdam_options_free(options);
  cdam_client_free(client);
  return code;
}
