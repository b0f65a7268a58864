/* SPDX-License-Identifier: Apache-2.0 */
#include "session/agent_volume.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uuid/uuid.h>

#include <cofferdam/version.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/json_text.h"
#include "engine/answer.h"
#include "link/agent_path.h"
#include "session/agent_archive.h"
#include "session/engine_time.h"
#include "session/launch.h"
#include "session/verify.h"

/* No step of a fill takes longer, so a helper that is older than a minute has lost its client. */
#define STEP_MS 15000
#define STALE_S 60
#define WAIT_MS 100
#define GIVE_UP_MS 90000

#define LABEL_FILL "io.cofferdam.agent-fill"

/* ---- what a client remembers ---- */

static bool is_remembered(cdam_client *client, const char *digest) {
  pthread_mutex_lock(&client->lock);
  bool yes = strcmp(client->agent_volume, digest) == 0 &&
             strcmp(client->agent_engine, client->engine_id) == 0;
  pthread_mutex_unlock(&client->lock);
  return yes;
}

static void remember(cdam_client *client, const char *digest) {
  pthread_mutex_lock(&client->lock);
  snprintf(client->agent_volume, sizeof client->agent_volume, "%s", digest);
  memcpy(client->agent_engine, client->engine_id, sizeof client->agent_engine);
  pthread_mutex_unlock(&client->lock);
}

/* ---- sending ---- */

/* "cofferdam-agent-<digest>", and the two names made from it. */
typedef struct volume_names {
  char volume[CDAM_AGENT_VOLUME_SIZE];
  char marker[CDAM_AGENT_VOLUME_SIZE + 8];
  char helper[CDAM_AGENT_VOLUME_SIZE + 8];
} volume_names;

static volume_names names_of(const cdam_agent_job *job) {
  volume_names names;
  cdam_agent_volume_name(job->digest, names.volume);
  snprintf(names.marker, sizeof names.marker, "%s-ready", names.volume);
  snprintf(names.helper, sizeof names.helper, "%s-fill", names.volume);
  return names;
}

/* Where a helper has the volume: in a place that its image cannot know, or a link of the image
 * could lead there, and one of the image's own volumes take the program. */
#define FILL_DIRECTORY_SIZE (sizeof CDAM_AGENT_DIRECTORY + CDAM_UUID_SIZE)

static void fill_directory(const cdam_agent_job *job, char directory[FILL_DIRECTORY_SIZE]) {
  snprintf(directory, FILL_DIRECTORY_SIZE, CDAM_AGENT_DIRECTORY "-%s", job->fill_id);
}

static void ask(cdam_operation *op, cdam_request request, cdam_step next) {
  int64_t timeout = op->client->config.timeout_ms;
  request.timeout_ms = timeout < STEP_MS ? timeout : STEP_MS;
  cdam_operation_send(op, &request, next);
}

static void finish(cdam_operation *op, cdam_agent_job *job) {
  job->done(op, job->status, &job->error);
}

static void release(cdam_operation *op, cdam_agent_job *job);

/* The job has failed: nobody but us is to be in the way of the next one. */
static void fail(cdam_operation *op, cdam_agent_job *job, const cdam_error *error) {
  job->error = *error;
  job->status = error->code;
  release(op, job);
}

/* An answer that is no success. Only what the engine says itself makes the agent impossible. */
static void refused(cdam_operation *op, const cdam_reply *reply, cdam_error *error) {
  cdam_error said = *error;
  if (reply->status == CDAM_OK && said.code != CDAM_ERR_NO_MEMORY) {
    cdam_fail(error, CDAM_ERR_NO_AGENT, "the engine cannot keep the agent in a volume: %.400s",
              said.message);
    error->http_status = said.http_status;
    error->retry = said.retry;
  }
  fail(op, op->part, error);
}

static void send_json(cdam_operation *op, const char *path, json_t *body, cdam_step next) {
  char *text = cdam_json_text(body, JSON_COMPACT | JSON_SORT_KEYS);
  json_decref(body);
  if (text) {
    ask(op, (cdam_request){.method = "POST", .path = path, .body = text}, next);
  } else {
    cdam_error error;
    cdam_fail_memory(&error);
    fail(op, op->part, &error);
  }
  free(text);
}

static void make_volume(cdam_operation *op, const char *name, cdam_step next) {
  send_json(op, "/volumes/create",
            json_pack("{s:s, s:{s:s}}", "Name", name, "Labels", CDAM_LABEL_AGENT, CDAM_VERSION),
            next);
}

/* ---- filling, with a helper ---- */

static void read_back(cdam_operation *op, cdam_agent_job *job);

static void written(cdam_operation *op, const cdam_reply *reply) {
  cdam_error error;
  if (cdam_answer_check(reply, "write the agent", &error) == CDAM_OK)
    read_back(op, op->part);
  else
    refused(op, reply, &error);
}

static void write_program(cdam_operation *op, cdam_agent_job *job) {
  cdam_error error;
  cdam_buffer archive = {0};
  if (cdam_agent_archive_make(job->binary, &archive, &error) == CDAM_OK) {
    char directory[FILL_DIRECTORY_SIZE], path[CDAM_CONTAINER_ID_SIZE + 96];
    fill_directory(job, directory);
    snprintf(path, sizeof path, "/containers/%s/archive?path=%s", job->helper, directory);
    job->written = true;
    ask(op,
        (cdam_request){.method = "PUT",
                       .path = path,
                       .body = archive.data,
                       .body_length = archive.length,
                       .content_type = "application/x-tar"},
        written);
  } else {
    fail(op, job, &error);
  }
  cdam_buffer_clear(&archive);
}

static void came_back(cdam_operation *op, const cdam_reply *reply) {
  cdam_agent_job *job = op->part;
  cdam_error error;
  cdam_status status = cdam_answer_check(reply, "read the agent back", &error);
  if (status == CDAM_OK && !cdam_agent_archive_is(job->binary, reply->body, reply->length))
    status = cdam_fail(&error, CDAM_ERR_NO_AGENT, "what is there is not what was written");
  bool absent = status == CDAM_ERR_NOT_FOUND || status == CDAM_ERR_NO_AGENT;
  if (status == CDAM_OK)
    release(op, job);
  else if (absent && !job->written)
    write_program(op, job);
  else
    refused(op, reply, &error);
}

static void read_back(cdam_operation *op, cdam_agent_job *job) {
  char directory[FILL_DIRECTORY_SIZE], path[CDAM_CONTAINER_ID_SIZE + 112];
  fill_directory(job, directory);
  snprintf(path, sizeof path, "/containers/%s/archive?path=%s/" CDAM_AGENT_NAME, job->helper,
           directory);
  ask(op, (cdam_request){.method = "GET", .path = path}, came_back);
}

/* ---- the helper ---- */

static void look(cdam_operation *op, const cdam_reply *reply);

static void use_helper(cdam_operation *op, cdam_agent_job *job, const char *id) {
  memcpy(job->helper, id, sizeof job->helper);
  if (job->existed)
    read_back(op, job);
  else
    write_program(op, job);
}

/* Another client fills the volume, or did and died. */
static void wait_for_other(cdam_operation *op, cdam_agent_job *job) {
  if (cdam_now_ms() < job->give_up_at) {
    cdam_operation_after(op, WAIT_MS, look);
    return;
  }
  cdam_error error;
  cdam_fail(&error, CDAM_ERR_NO_AGENT, "another client does not come to an end with container %s",
            names_of(job).helper);
  error.retry = CDAM_RETRY_YES;
  fail(op, job, &error);
}

static void remove_container(cdam_operation *op, const char *id, cdam_step next) {
  char path[CDAM_CONTAINER_ID_SIZE + 32];
  snprintf(path, sizeof path, "/containers/%s?force=1&v=1", id);
  ask(op, (cdam_request){.method = "DELETE", .path = path}, next);
}

static void inspect_helper(cdam_operation *op, cdam_step next) {
  char path[sizeof((volume_names *)0)->helper + 32];
  snprintf(path, sizeof path, "/containers/%s/json", names_of(op->part).helper);
  ask(op, (cdam_request){.method = "GET", .path = path}, next);
}

/* Podman answers with a 500 for one that is being removed. */
static bool is_missing(const cdam_reply *reply) {
  return reply->http == 404 || (reply->http >= 400 && strcasestr(reply->body, "no such container"));
}

static void holder_seen(cdam_operation *op, const cdam_reply *reply) {
  cdam_agent_job *job = op->part;
  cdam_error error;
  json_t *inspect = NULL;
  cdam_status status = cdam_answer_json(reply, "inspect container", &inspect, &error);
  const char *fill = cdam_label_of(inspect, LABEL_FILL);
  const char *id = cdam_json_string_at(inspect, "Id");
  int64_t created = cdam_engine_time(cdam_json_string_at(inspect, "Created"));
  if (is_missing(reply)) {
    wait_for_other(op, job);
  } else if (status != CDAM_OK) {
    refused(op, reply, &error);
  } else if (!fill || !cdam_is_container_id(id)) {
    cdam_fail(&error, CDAM_ERR_NO_AGENT, "the name %s belongs to a container that is not ours",
              names_of(job).helper);
    fail(op, job, &error);
  } else if (strcmp(fill, job->fill_id) == 0) {
    use_helper(op, job, id);
  } else if (created && job->engine_now > created + STALE_S) {
    remove_container(op, id, look);
  } else {
    wait_for_other(op, job);
  }
  json_decref(inspect);
}

/* How old it is, the engine's own clock says. */
static void time_told(cdam_operation *op, const cdam_reply *reply) {
  cdam_agent_job *job = op->part;
  cdam_error error;
  json_t *info = NULL;
  if (cdam_answer_json(reply, "ask for the engine's time", &info, &error) != CDAM_OK) {
    refused(op, reply, &error);
    return;
  }
  job->engine_now = cdam_engine_time(cdam_json_string_at(info, "SystemTime"));
  json_decref(info);
  inspect_helper(op, holder_seen);
}

/* The create request was not answered. When the engine made the helper all the same it is found by
 * its name; the failure stays. */
static void lost_helper_seen(cdam_operation *op, const cdam_reply *reply);

static void look_for_lost_helper(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  inspect_helper(op, lost_helper_seen);
}

static void lost_helper_seen(cdam_operation *op, const cdam_reply *reply) {
  cdam_agent_job *job = op->part;
  if (cdam_await_engine(op, &job->away_since, reply, look_for_lost_helper)) return;
  json_t *inspect = NULL;
  cdam_error error;
  cdam_status status = cdam_answer_json(reply, "inspect container", &inspect, &error);
  const char *fill = status == CDAM_OK ? cdam_label_of(inspect, LABEL_FILL) : NULL;
  const char *id = status == CDAM_OK ? cdam_json_string_at(inspect, "Id") : NULL;
  if (fill && strcmp(fill, job->fill_id) == 0 && cdam_is_container_id(id))
    memcpy(job->helper, id, sizeof job->helper);
  json_decref(inspect);
  release(op, job);
}

static void helper_made(cdam_operation *op, const cdam_reply *reply) {
  cdam_agent_job *job = op->part;
  cdam_error error;
  json_t *json = NULL;
  cdam_status status = cdam_answer_json(reply, "create container", &json, &error);
  const char *id = status == CDAM_OK ? cdam_json_string_at(json, "Id") : NULL;
  if (cdam_is_name_taken(reply)) {
    ask(op, (cdam_request){.method = "GET", .path = "/info"}, time_told);
  } else if (id && cdam_is_container_id(id)) {
    use_helper(op, job, id);
  } else if (status == CDAM_OK || reply->http == 0 || reply->http < 300) {
    if (status == CDAM_OK)
      cdam_fail(&error, CDAM_ERR_PROTOCOL, "the engine gave a container without a full id");
    job->status = error.code;
    job->error = error;
    inspect_helper(op, lost_helper_seen);
  } else {
    refused(op, reply, &error);
  }
  json_decref(json);
}

/* A container has its image's labels too, which must not make a sandbox of this one. */
static json_t *helper_body(const cdam_agent_job *job) {
  char directory[FILL_DIRECTORY_SIZE];
  fill_directory(job, directory);
  return json_pack("{s:s, s:[s], s:[s], s:b, s:{s:s, s:[o], s:{s:s}}, s:{s:s, s:s, s:s, s:s}}",
                   "Image", job->image, "Entrypoint", CDAM_AGENT_PATH, "Cmd", "--version",
                   "NetworkDisabled", 1, "HostConfig", "NetworkMode", "none", "Mounts",
                   cdam_agent_mount(job->digest, directory, false), "LogConfig", "Type", "none",
                   "Labels", CDAM_LABEL_AGENT, job->digest, LABEL_FILL, job->fill_id,
                   CDAM_LABEL_SESSION, "", CDAM_LABEL_CREATION, "");
}

static void make_helper(cdam_operation *op, const cdam_reply *reply) {
  cdam_error error;
  if (cdam_answer_check(reply, "create volume", &error) != CDAM_OK) {
    refused(op, reply, &error);
    return;
  }
  char path[sizeof((volume_names *)0)->helper + 32];
  snprintf(path, sizeof path, "/containers/create?name=%s", names_of(op->part).helper);
  send_json(op, path, helper_body(op->part), helper_made);
}

/* ---- looking ---- */

static void volume_seen(cdam_operation *op, const cdam_reply *reply) {
  cdam_agent_job *job = op->part;
  cdam_error error;
  json_t *volume = NULL;
  cdam_status status = cdam_answer_json(reply, "inspect volume", &volume, &error);
  int64_t created = cdam_engine_time(json_string_value(json_object_get(volume, "CreatedAt")));
  job->existed = status == CDAM_OK;
  json_decref(volume);
  if (status != CDAM_OK && status != CDAM_ERR_NOT_FOUND) {
    refused(op, reply, &error);
  } else if (created && job->marked_at >= created && !job->doubt) {
    remember(op->client, job->digest);
    finish(op, job);
  } else {
    make_volume(op, names_of(job).volume, make_helper);
  }
}

static void marker_seen(cdam_operation *op, const cdam_reply *reply) {
  cdam_agent_job *job = op->part;
  cdam_error error;
  json_t *marker = NULL;
  cdam_status status = cdam_answer_json(reply, "inspect volume", &marker, &error);
  const json_t *created = json_object_get(marker, "CreatedAt");
  job->marked_at = cdam_engine_time(json_string_value(created));
  job->marked = status == CDAM_OK;
  json_decref(marker);
  if (status != CDAM_OK && status != CDAM_ERR_NOT_FOUND) {
    refused(op, reply, &error);
    return;
  }
  char path[CDAM_AGENT_VOLUME_SIZE + 32];
  snprintf(path, sizeof path, "/volumes/%s", names_of(job).volume);
  ask(op, (cdam_request){.method = "GET", .path = path}, volume_seen);
}

static void look(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  char path[CDAM_AGENT_VOLUME_SIZE + 32];
  snprintf(path, sizeof path, "/volumes/%s", names_of(op->part).marker);
  ask(op, (cdam_request){.method = "GET", .path = path}, marker_seen);
}

/* ---- the end ---- */

/* Without a marker the next client reads the program back. */
static void marked(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  finish(op, op->part);
}

static void unmarked(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  make_volume(op, names_of(op->part).marker, marked);
}

static void mark(cdam_operation *op, cdam_agent_job *job) {
  char path[CDAM_AGENT_VOLUME_SIZE + 32];
  if (!job->marked) {
    unmarked(op, NULL);
    return;
  }
  snprintf(path, sizeof path, "/volumes/%s", names_of(job).marker);
  ask(op, (cdam_request){.method = "DELETE", .path = path}, unmarked);
}

/* A helper that stays all the same is removed by the next client, which looks for one as long as
 * there is no marker. */
static void release_again(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  release(op, op->part);
}

static void released(cdam_operation *op, const cdam_reply *reply) {
  cdam_agent_job *job = op->part;
  if (cdam_await_engine(op, &job->away_since, reply, release_again)) return;
  bool gone = cdam_answer_check(reply, "remove container", NULL) == CDAM_OK || reply->http == 404;
  if (!gone && !job->released_twice) {
    job->released_twice = true;
    release(op, job);
    return;
  }
  job->helper[0] = '\0';
  if (job->status == CDAM_OK && !job->abandoned) remember(op->client, job->digest);
  if (job->status == CDAM_OK && gone && !job->abandoned)
    mark(op, job);
  else
    finish(op, job);
}

static void release(cdam_operation *op, cdam_agent_job *job) {
  if (job->helper[0])
    remove_container(op, job->helper, released);
  else
    finish(op, job);
}

/* ---- the beginning ---- */

void cdam_agent_ensure(cdam_operation *op, cdam_agent_job *job, const char *image, bool doubt,
                       cdam_agent_ensured done) {
  *job = (cdam_agent_job){.done = done, .image = image, .doubt = doubt};
  op->part = job;
  job->give_up_at = cdam_now_ms() + GIVE_UP_MS;
  uuid_t fill_id;
  uuid_generate_random(fill_id);
  uuid_unparse_lower(fill_id, job->fill_id);
  job->status = cdam_agent_binary_get(op->client, &job->binary, &job->error);
  if (job->status == CDAM_OK) memcpy(job->digest, job->binary->digest, sizeof job->digest);
  if (job->status != CDAM_OK || (!doubt && is_remembered(op->client, job->digest)))
    finish(op, job);
  else
    look(op, NULL);
}

void cdam_agent_abandon(cdam_operation *op, cdam_agent_job *job, cdam_agent_ensured done) {
  op->part = job;
  job->done = done;
  job->status = CDAM_OK;
  job->abandoned = true;
  release(op, job);
}
