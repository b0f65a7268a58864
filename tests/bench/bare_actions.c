/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that the library makes, and no more: only ids are looked for, and nothing is checked.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "actions.h"
#include "http_client.h"

static const char *image;

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

static void create(void) {
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

static void exec(void) {
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

static void resume(void) {
  on_container("GET", container, "/json");
}

static void destroy(void) {
  on_container("GET", container, "/json");
  on_container("DELETE", container, "?force=1&v=1");
  on_container("GET", name, "/json");
}

actions make_actions(const char *name_of_image) {
  const char *endpoint = getenv("DOCKER_HOST");
  if (!endpoint || strncmp(endpoint, "unix://", 7) != 0) die("DOCKER_HOST", "not a unix socket");
  image = name_of_image;
  http = make_http_client(endpoint + 7);
  return (actions){create, exec, resume, destroy};
}
