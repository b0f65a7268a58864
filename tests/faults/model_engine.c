/* SPDX-License-Identifier: Apache-2.0 */
#include "model_engine.h"

#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static model_engine *current; /* one at a time; keeps its memory simple */

model_engine *model_current(void) {
  return current;
}

const char *model_id(char digit) {
  static char ids[128][65];
  memset(ids[(int)digit], digit, 64);
  return ids[(int)digit];
}

const char *model_keep_json(model_engine *model, json_t *json) {
  char *text = json_dumps(json, JSON_COMPACT);
  const char *kept = scripted_engine_keep(model->engine, "%s", text);
  free(text);
  json_decref(json);
  return kept;
}

bool model_failed(model_engine *model, const scripted_request *request, scripted_reply *reply) {
  char line[512];
  snprintf(line, sizeof line, "%s %s", request->method, request->path);
  if (!model->fail_path || fnmatch(model->fail_path, line, 0) != 0) return false;
  if (model->fail_after-- > 0) return false;
  *reply = model->fail_reply;
  if (model->fail_but_do_once) model->fail_but_do = model->fail_after == -1;
  return true;
}

static bool is_target(const model_engine *model, const char *path) {
  const char *at = path + strlen("/containers/");
  size_t length = strcspn(at, "/?");
  if (!model->id[0]) return false;
  return (length == 64 && !strncmp(at, model->id, 64)) ||
         (length == strlen(model->name) && !strncmp(at, model->name, length));
}

static void reply_missing(scripted_reply *reply) {
  *reply = (scripted_reply){404, .body = "{\"message\":\"No such container\"}"};
}

static json_t *copy_at(const json_t *body, const char *key) {
  json_t *value = json_object_get(body, key);
  return value ? json_deep_copy(value) : json_null();
}

static json_t *env_of(const json_t *body) {
  json_t *env = json_object_get(body, "Env");
  env = env ? json_deep_copy(env) : json_array();
  json_array_append_new(env, json_string("PATH=/bin"));
  return env;
}

/* Named volumes, as they stand in the request. */
static json_t *mounts_of(const json_t *host_config) {
  json_t *mounts = json_array();
  size_t index;
  json_t *mount;
  json_array_foreach(json_object_get(host_config, "Mounts"), index, mount) {
    json_array_append_new(mounts, json_pack("{s:s, s:O, s:O, s:b}", "Type", "volume", "Name",
                                            json_object_get(mount, "Source"), "Destination",
                                            json_object_get(mount, "Target"), "RW",
                                            !json_is_true(json_object_get(mount, "ReadOnly"))));
  }
  return mounts;
}

/* What Docker 20.10 shows, as far as anybody looks. */
static json_t *inspect_json(model_engine *model) {
  const json_t *host_config = json_object_get(model->body, "HostConfig");
  const char *mode = json_string_value(json_object_get(host_config, "NetworkMode"));
  json_t *host = json_deep_copy(host_config);
  json_object_set_new(host, "NetworkMode", json_string(mode ? mode : "default"));
  json_object_set_new(host, "Privileged", json_false());
  json_t *networks =
      json_pack("{s:{s:s, s:s, s:s, s:s, s:s, s:i}}", mode ? mode : "bridge", "IPAddress",
                mode ? "" : "172.17.0.2", "Gateway", mode ? "" : "172.17.0.1", "MacAddress",
                mode ? "" : "02:42:ac:11:00:02", "GlobalIPv6Address", "", "IPv6Gateway", "",
                "IPPrefixLen", mode ? 0 : 16);
  json_t *ports = json_object();
  if (!mode && !strcmp(model->status, "running")) {
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(host_config, "PortBindings"), key, value)
        json_object_set_new(ports, key,
                            json_pack("[{s:s, s:s}]", "HostIp", "127.0.0.1", "HostPort", "49153"));
  }
  return json_pack("{s:s, s:s, s:s, s:{s:s, s:i}, s:{s:o, s:o, s:o, s:o, s:o, s:o, s:o}, s:o,"
                   "s:{s:o, s:o}, s:o}",
                   "Id", model->id, "Name", model->name, "Image",
                   model->image_id ? model->image_id : MODEL_IMAGE_ID, "State", "Status",
                   model->status, "ExitCode", strcmp(model->status, "exited") ? 0 : 127, "Config",
                   "Labels", copy_at(model->body, "Labels"), "Env", env_of(model->body),
                   "ExposedPorts", copy_at(model->body, "ExposedPorts"), "Entrypoint",
                   copy_at(model->body, "Entrypoint"), "Cmd", copy_at(model->body, "Cmd"),
                   "WorkingDir", copy_at(model->body, "WorkingDir"), "Healthcheck",
                   copy_at(model->body, "Healthcheck"), "HostConfig", host, "NetworkSettings",
                   "Networks", networks, "Ports", ports, "Mounts", mounts_of(host_config));
}

static void set_container(model_engine *model, const char *id, const char *name, json_t *body) {
  snprintf(model->id, sizeof model->id, "%s", id);
  snprintf(model->name, sizeof model->name, "%s", name);
  snprintf(model->status, sizeof model->status, "created");
  json_decref(model->body);
  model->body = body;
}

void model_put_container(model_engine *model, const char *id, const char *name, json_t *body) {
  set_container(model, id, name, body);
  snprintf(model->status, sizeof model->status, "running");
}

static bool runs_agent(const model_engine *model) {
  const char *label = json_string_value(
      json_object_get(json_object_get(model->body, "Labels"), "io.cofferdam.agent"));
  return label && *label;
}

static void answer_create(void *user, const scripted_request *request, scripted_reply *reply) {
  (void)user;
  model_engine *model = current;
  bool fails = model_failed(model, request, reply);
  if (fails && !model->fail_but_do) return;
  if (model->id[0]) {
    *reply = (scripted_reply){409, .body = "{\"message\":\"Conflict. The name is in use\"}"};
    return;
  }
  const char *name = strstr(request->path, "name=") + strlen("name=");
  set_container(model, model_id((char)('a' + model->made++ % 6)), name,
                json_loads(request->body, 0, NULL));
  if (runs_agent(model)) model_mount_volume(model);
  if (fails) return;
  *reply = (scripted_reply){
      201, .body = model_keep_json(
               model, json_pack("{s:s, s:[s]}", "Id", model->id, "Warnings", "a warning"))};
}

static void answer_inspect(void *user, const scripted_request *request, scripted_reply *reply) {
  (void)user;
  model_engine *model = current;
  if (model_failed(model, request, reply)) return;
  if (!is_target(model, request->path) || model->hidden_looks-- > 0) {
    reply_missing(reply);
    return;
  }
  model->looks++;
  json_t *inspect = inspect_json(model);
  if (model->lie) model->lie(inspect, model->looks);
  *reply = (scripted_reply){200, .body = model_keep_json(model, inspect)};
}

static void set_status(const scripted_request *request, scripted_reply *reply, const char *status) {
  model_engine *model = current;
  bool fails = model_failed(model, request, reply);
  if (fails && !model->fail_but_do) return;
  if (!is_target(model, request->path)) {
    reply_missing(reply);
    return;
  }
  bool already = !strcmp(model->status, status);
  snprintf(model->status, sizeof model->status, "%s", status);
  if (!fails) *reply = (scripted_reply){.status = already ? 304 : 204};
}

static void answer_start(void *user, const scripted_request *request, scripted_reply *reply) {
  (void)user;
  if (is_target(current, request->path) && runs_agent(current) && !current->volumes.tar) {
    *reply = (scripted_reply){
        400, .body = "{\"message\":\"OCI runtime create failed: exec: "
                     "\\\"/.cofferdam/cofferdam-agent\\\": stat /.cofferdam/cofferdam-agent: no "
                     "such file or directory: unknown\"}"};
    return;
  }
  set_status(request, reply, current->start_ends_in ? current->start_ends_in : "running");
}

static void say(int fd, const char *text) {
  (void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
}

/* Its agent says nothing, as long as the client stays. */
static void talk_attached(void *user, int fd, const scripted_request *request, const char *early,
                          size_t early_length) {
  (void)user, (void)early, (void)early_length;
  char ignored[4096];
  scripted_reply reply = {.raw = "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\n"
                                 "Upgrade: tcp\r\n\r\n",
                          .end = SCRIPTED_HANG};
  if (model_failed(current, request, &reply) && !reply.raw) {
    snprintf(ignored, sizeof ignored, "HTTP/1.1 %d Reply\r\nContent-Length: %zu\r\n\r\n%s",
             reply.status, strlen(reply.body), reply.body);
    say(fd, ignored);
  } else {
    say(fd, reply.raw);
  }
  while (reply.end == SCRIPTED_HANG && read(fd, ignored, sizeof ignored) > 0)
    continue;
}

static void answer_stop(void *user, const scripted_request *request, scripted_reply *reply) {
  (void)user;
  set_status(request, reply, "exited");
}

static void answer_unpause(void *user, const scripted_request *request, scripted_reply *reply) {
  (void)user;
  set_status(request, reply, "running");
}

static void answer_rename(void *user, const scripted_request *request, scripted_reply *reply) {
  (void)user;
  model_engine *model = current;
  bool fails = model_failed(model, request, reply);
  if (fails && !model->fail_but_do) return;
  const char *name = strstr(request->path, "name=") + strlen("name=");
  snprintf(model->name, sizeof model->name, "%s", name);
  if (!fails) *reply = (scripted_reply){.status = 204};
}

static void answer_pause(void *user, const scripted_request *request, scripted_reply *reply) {
  (void)user;
  set_status(request, reply, "paused");
}

static void answer_remove(void *user, const scripted_request *request, scripted_reply *reply) {
  (void)user;
  model_engine *model = current;
  if (model_failed(model, request, reply)) return;
  if (!is_target(model, request->path)) {
    reply_missing(reply);
    return;
  }
  model->id[0] = '\0';
  *reply = (scripted_reply){.status = 204};
}

static void answer_image(void *user, const scripted_request *request, scripted_reply *reply) {
  (void)user;
  model_engine *model = current;
  if (model_failed(model, request, reply)) return;
  bool by_id = strstr(request->path, "sha256") != NULL;
  const char *id = by_id ? (model->image_id_known ? MODEL_IMAGE_ID : NULL) : model->image_id;
  if (id)
    *reply = (scripted_reply){200, .body = model_keep_json(model, json_pack("{s:s}", "Id", id))};
  else
    *reply = (scripted_reply){404, .body = "{\"message\":\"No such image\"}"};
}

static void answer_info(void *user, const scripted_request *request, scripted_reply *reply) {
  (void)user;
  if (model_failed(current, request, reply)) return;
  char now[40];
  time_t clock = (time_t)current->volumes.clock;
  strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%S.123456789Z", gmtime(&clock));
  json_t *info = json_pack("{s:s, s:s}", "ID", current->engine_id, "SystemTime", now);
  if (current->architecture)
    json_object_set_new(info, "Architecture", json_string(current->architecture));
  if (current->podman) {
    char id[40];
    snprintf(id, sizeof id, "396fb769-64f0-44d7-b07d-%012d", ++current->infos);
    json_object_set_new(info, "ID", json_string(id));
    json_object_set_new(info, "BuildahVersion", json_string("1.28.2"));
  }
  *reply = (scripted_reply){200, .body = model_keep_json(current, info)};
}

static const scripted_rule rules[] = {
    {.path = "/volumes/*", .answer = model_answer_volume},
    {.path = "/containers/*/archive*", .answer = model_answer_archive},
    {.path = "/containers/*cofferdam-agent-*", .answer = model_answer_helper},
    {.path = "/containers/" MODEL_HELPER_ID "*", .answer = model_answer_helper},
    {.method = "POST", .path = "/containers/create*", .answer = answer_create},
    {.method = "POST", .path = "/containers/*/start", .answer = answer_start},
    {.method = "POST", .path = "/containers/*/attach*", .talk = talk_attached},
    {.method = "POST", .path = "/containers/*/stop*", .answer = answer_stop},
    {.method = "POST", .path = "/containers/*/unpause", .answer = answer_unpause},
    {.method = "POST", .path = "/containers/*/rename*", .answer = answer_rename},
    {.method = "POST", .path = "/containers/*/pause", .answer = answer_pause},
    {.method = "DELETE", .path = "/containers/*", .answer = answer_remove},
    {.method = "GET", .path = "/containers/*/json", .answer = answer_inspect},
    {.method = "GET", .path = "/images/*/json", .answer = answer_image},
    {.method = "GET", .path = "/info", .answer = answer_info},
};

model_engine *model_start(void) {
  model_engine *model = calloc(1, sizeof *model);
  assert_non_null(model);
  current = model;
  model->engine_id = "ENGINE:ONE";
  model->image_id = MODEL_IMAGE_ID;
  model->image_id_known = true;
  model->architecture = "x86_64";
  model->volumes.clock = 1800000000;
  model->engine = scripted_engine_start(rules, sizeof rules / sizeof *rules);
  model->client = scripted_engine_client(model->engine, 2000);
  return model;
}

void model_use_agent(model_engine *model, const char *directory, cdam_agent_policy policy) {
  cdam_client_config *config;
  cdam_client_free(model->client);
  assert_int_equal(cdam_client_config_new(&config, NULL), CDAM_OK);
  assert_int_equal(
      cdam_client_config_set_endpoint(config, scripted_engine_endpoint(model->engine), NULL),
      CDAM_OK);
  cdam_client_config_set_timeout(config, 2000);
  cdam_client_config_set_agent(config, policy);
  assert_int_equal(cdam_client_config_set_agent_directory(config, directory, NULL), CDAM_OK);
  assert_int_equal(cdam_client_new(config, &model->client, NULL), CDAM_OK);
  cdam_client_config_free(config);
}

void model_stop(model_engine *model) {
  cdam_client_free(model->client);
  scripted_engine_stop(model->engine);
  json_decref(model->body);
  free(model->volumes.tar);
  free(model);
  current = NULL;
}

bool model_has_container(const model_engine *model) {
  return model->id[0] != '\0';
}

size_t model_requests(model_engine *model, const char *method, const char *path) {
  return scripted_engine_count(model->engine, method, path);
}

cdam_options *model_options(cdam_network_mode mode) {
  cdam_options *options;
  assert_int_equal(cdam_options_new(&options, NULL), CDAM_OK);
  assert_int_equal(cdam_options_set_image(options, "busybox:1", NULL), CDAM_OK);
  cdam_options_set_network_mode(options, mode);
  return options;
}

cdam_state *model_create_state(model_engine *model, const cdam_options *options) {
  cdam_session *session;
  cdam_error err = {0};
  if (cdam_create(model->client, options, &session, &err) != CDAM_OK) fail_msg("%s", err.message);
  cdam_state *state;
  assert_int_equal(cdam_state_copy(cdam_session_state(session), &state, NULL), CDAM_OK);
  cdam_session_free(session);
  return state;
}
