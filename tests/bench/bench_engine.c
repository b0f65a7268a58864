/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One client doing one thing a number of times: bench_engine CLIENT SCENARIO COUNT IMAGE.
 * Clients: cofferdam, curl, raw. Scenarios: exec, resume, cycle. The bare clients make the same
 * calls as the library, look for nothing but the ids they need, and check nothing. Prints "wall_ns
 * cpu_ns peak_kib" of the repetitions, set-up and clean-up left out of the times.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cofferdam/cofferdam.h>

#include "http_client.h"

static const char *image;

static void die(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

/* ---- the library ---- */

static cdam_client *client;
static cdam_session *session;
static cdam_error err;

static void must(cdam_status status) {
  if (status != CDAM_OK) die(cdam_status_name(status), err.message);
}

static void library_create(void) {
  cdam_options *options;
  must(cdam_options_new(&options, &err));
  must(cdam_options_set_image(options, image, &err));
  cdam_options_set_network_mode(options, CDAM_NETWORK_MODE_NONE);
  must(cdam_create(client, options, &session, &err));
  cdam_options_free(options);
}

static void library_exec(void) {
  const char *const argv[] = {"true", NULL};
  cdam_exec_result *result;
  must(cdam_exec(session, &(cdam_exec_command){.argv = argv}, &result, &err));
  if (cdam_exec_result_exit_code(result) != 0) die("exec", "status is not 0");
  cdam_exec_result_free(result);
}

static void library_resume(void) {
  cdam_session *again;
  must(cdam_resume(client, cdam_session_state(session), NULL, &again, &err));
  cdam_session_free(again);
}

static void library_delete(void) {
  must(cdam_delete(client, cdam_session_state(session), &err));
  cdam_session_free(session);
}

/* ---- a bare client ---- */

static http_client http;
static char container[65], name[64], body[1 << 18];

static int call(const char *method, const char *path, const char *request, bool upgrade) {
  int status = http.call(method, path, request, upgrade, body, sizeof body);
  if (status >= 400 && status != 404) die(path, body);
  return status;
}

static void copy_id(char *id, size_t size) {
  char *at = strstr(body, "\"Id\":\"");
  if (!at) die("no Id", body);
  snprintf(id, size, "%.64s", at + 6);
}

static void on_container(const char *method, const char *target, const char *action) {
  char path[256];
  snprintf(path, sizeof path, "/containers/%s%s", target, action);
  call(method, path, NULL, false);
}

static void bare_create(void) {
  static int serial;
  char path[256], request[1024];
  snprintf(name, sizeof name, "bench-%d-%d", (int)getpid(), serial++);
  snprintf(path, sizeof path, "/images/%s/json", image);
  call("GET", path, NULL, false);
  snprintf(path, sizeof path, "/containers/create?name=%s", name);
  snprintf(request, sizeof request,
           "{\"Cmd\":[\"-f\",\"/dev/null\"],\"Entrypoint\":[\"tail\"],\"HostConfig\":{\"Init\":"
           "true,\"NetworkMode\":\"none\"},\"Image\":\"%s\",\"Labels\":{\"a\":\"b\"}}",
           image);
  call("POST", path, request, false);
  copy_id(container, sizeof container);
  on_container("GET", container, "/json");
  on_container("POST", container, "/start");
  on_container("GET", container, "/json");
}

static void bare_exec(void) {
  char path[256], exec[65];
  snprintf(path, sizeof path, "/containers/%s/exec", container);
  call("POST", path,
       "{\"AttachStdout\":true,\"AttachStderr\":true,\"Cmd\":[\"true\"],\"Env\":[\"A=b\"]}", false);
  copy_id(exec, sizeof exec);
  snprintf(path, sizeof path, "/exec/%s/start", exec);
  call("POST", path, "{\"Detach\":false,\"Tty\":false}", true);
  snprintf(path, sizeof path, "/exec/%s/json", exec);
  call("GET", path, NULL, false);
  if (!strstr(body, "\"ExitCode\":0")) die("exec", body);
}

static void bare_resume(void) {
  on_container("GET", container, "/json");
}

static void bare_delete(void) {
  on_container("GET", container, "/json");
  on_container("DELETE", container, "?force=1&v=1");
  on_container("GET", name, "/json");
}

/* ---- measuring ---- */

typedef struct actions {
  void (*create)(void), (*exec)(void), (*resume)(void), (*delete)(void);
} actions;

static long long now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void cycle(const actions *do_) {
  do_->create();
  do_->exec();
  do_->delete ();
}

static void repeat(const actions *do_, const char *scenario, int count) {
  for (int i = 0; i < count; i++) {
    if (!strcmp(scenario, "exec"))
      do_->exec();
    else if (!strcmp(scenario, "resume"))
      do_->resume();
    else
      cycle(do_);
  }
}

static actions actions_of(const char *kind) {
  const char *endpoint = getenv("DOCKER_HOST");
  if (!endpoint || strncmp(endpoint, "unix://", 7) != 0) die("DOCKER_HOST", "not a unix socket");
  if (!strcmp(kind, "cofferdam")) {
    must(cdam_client_new(NULL, &client, &err));
    return (actions){library_create, library_exec, library_resume, library_delete};
  }
  http = !strcmp(kind, "curl") ? curl_client(endpoint + 7) : raw_client(endpoint + 7);
  return (actions){bare_create, bare_exec, bare_resume, bare_delete};
}

int main(int argc, char **argv) {
  if (argc != 5) die("usage", "bench_engine CLIENT SCENARIO COUNT IMAGE");
  const char *scenario = argv[2];
  int count = (int)strtol(argv[3], NULL, 10);
  image = argv[4];
  actions do_ = actions_of(argv[1]);
  do_.create();
  if (!strcmp(scenario, "cycle")) do_.delete();
  repeat(&do_, scenario, 1); /* warm up */
  long long wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
  repeat(&do_, scenario, count);
  cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  wall = now(CLOCK_MONOTONIC) - wall;
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  if (strcmp(scenario, "cycle") != 0) do_.delete();
  printf("%lld %lld %ld\n", wall, cpu, usage.ru_maxrss);
  return 0;
}
