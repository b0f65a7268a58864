/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/image.h"

#include <string.h>

#include "base/fail.h"
#include "engine/answer.h"
#include "engine/client_private.h"

static void inspected(cdam_operation *op, const cdam_reply *reply);

static void finish(cdam_operation *op, cdam_image_job *job, const cdam_error *error) {
  cdam_pull_stream_clear(&job->stream);
  job->done(op, error ? error->code : CDAM_OK, error);
}

static void finish_without_memory(cdam_operation *op, cdam_image_job *job) {
  cdam_error error;
  cdam_fail_memory(&error);
  finish(op, job, &error);
}

/* What follows the name: the digest when there is one, as it says more than the tag. Always
 * something, for without it an inspect may find an image whose id begins like the name,
 * and a pull fetches every tag that there is. */
static const char *version_of(const cdam_image_reference *parts) {
  if (*parts->digest) return parts->digest;
  return *parts->tag ? parts->tag : "latest";
}

/* Escapes what may stand in a path but for the slashes, which engines want as they are. */
static bool append_name(cdam_buffer *path, const char *name) {
  for (;;) {
    size_t length = strcspn(name, "/");
    char part[sizeof((cdam_image_reference *)NULL)->name];
    memcpy(part, name, length);
    part[length] = '\0';
    if (!cdam_buffer_append_escaped(path, part)) return false;
    if (!name[length]) return true;
    if (!cdam_buffer_append_text(path, "/")) return false;
    name += length + 1;
  }
}

static bool inspect_path(const cdam_image_reference *parts, cdam_buffer *path) {
  const char *separator = !*parts->name ? "" : *parts->digest ? "@" : ":";
  return cdam_buffer_append_text(path, "/images/") && append_name(path, parts->name) &&
         cdam_buffer_append_text(path, separator) &&
         cdam_buffer_append_text(path, version_of(parts)) && cdam_buffer_append_text(path, "/json");
}

static bool pull_path(const cdam_image_job *job, cdam_buffer *path) {
  const cdam_image_reference *parts = &job->parts;
  return cdam_buffer_append_text(path, "/images/create?fromImage=") &&
         cdam_buffer_append_escaped(path, parts->name) && cdam_buffer_append_text(path, "&tag=") &&
         cdam_buffer_append_escaped(path, version_of(parts)) &&
         (!job->options || cdam_generated_create_query(job->options, path));
}

static void inspect(cdam_operation *op, cdam_image_job *job) {
  cdam_buffer path = {0};
  if (inspect_path(&job->parts, &path)) {
    cdam_operation_send(op, &(cdam_request){.method = "GET", .path = path.data}, inspected);
  } else {
    finish_without_memory(op, job);
  }
  cdam_buffer_clear(&path);
}

static void pulled(cdam_operation *op, const cdam_reply *reply) {
  cdam_image_job *job = op->part;
  cdam_error error;
  cdam_status status = cdam_answer_check(reply, "pulling it", &error);
  if (status == CDAM_OK && !cdam_pull_stream_end(&job->stream, &error)) status = error.code;
  if (status != CDAM_OK) {
    /* An answer that is no 2xx says that there is nothing to pull, or why it cannot be. */
    if (reply->status == CDAM_OK && (reply->http < 200 || reply->http > 299)) {
      cdam_error refusal = error;
      cdam_fail(&error, reply->http == 404 ? CDAM_ERR_NOT_FOUND : CDAM_ERR_PULL,
                "image \"%s\" is not on the engine%s: %s", job->reference,
                job->other ? " for the platform asked for" : "", refusal.message);
      error.http_status = refusal.http_status;
      error.retry = refusal.retry;
    }
    finish(op, job, &error);
    return;
  }
  job->pulled = true;
  inspect(op, job);
}

static bool progress(void *user, const char *bytes, size_t length, cdam_error *failure) {
  return cdam_pull_stream_feed(user, bytes, length, failure);
}

static void pull(cdam_operation *op, cdam_image_job *job) {
  cdam_buffer path = {0};
  if (pull_path(job, &path)) {
    cdam_operation_send(op,
                        &(cdam_request){.method = "POST",
                                        .path = path.data,
                                        .registry_auth = op->client->config.registry_auth,
                                        .stream = true,
                                        .silence_ms = op->client->config.timeout_ms,
                                        .sink = progress,
                                        .sink_user = &job->stream},
                        pulled);
  } else {
    finish_without_memory(op, job);
  }
  cdam_buffer_clear(&path);
}

/* The image is not there; pulls it, or says why that is the end. */
static void absent(cdam_operation *op, cdam_image_job *job) {
  cdam_error error;
  if (job->pulled) {
    cdam_fail(&error, CDAM_ERR_PULL,
              "pull image \"%s\": the engine reports no error, but the image is not there",
              job->reference);
  } else if (!*job->parts.name) {
    cdam_fail(&error, CDAM_ERR_NOT_FOUND,
              "image \"%s\" is not on the engine, and an image id cannot be pulled",
              job->reference);
  } else if (!job->pull) {
    cdam_fail(&error, CDAM_ERR_NOT_FOUND, "image \"%s\" is not on the engine", job->reference);
  } else {
    pull(op, job);
    return;
  }
  if (!job->pulled) error.http_status = 404;
  finish(op, job, &error);
}

static void inspected(cdam_operation *op, const cdam_reply *reply) {
  cdam_image_job *job = op->part;
  if (reply->status == CDAM_OK && reply->http == 404) {
    absent(op, job);
    return;
  }
  cdam_error error;
  json_t *json;
  if (cdam_answer_json(reply, "inspect image", &json, &error) != CDAM_OK) {
    finish(op, job, &error);
    return;
  }
  const char *id = cdam_json_string_at(json, "Id");
  cdam_status fit =
      job->options ? cdam_generated_compare_image(job->options, json, &error) : CDAM_OK;
  if (fit != CDAM_OK && job->pull && !job->pulled && *job->parts.name) {
    job->other = true;
    pull(op, job);
  } else if (fit != CDAM_OK) {
    finish(op, job, &error);
  } else if (id && cdam_image_id_parse(id, job->image_id)) {
    job->volumes = json_incref((json_t *)cdam_json_at(json, "Config.Volumes"));
    finish(op, job, NULL);
  } else {
    cdam_fail(&error, CDAM_ERR_PROTOCOL, "inspect image \"%s\": the answer has no image id",
              job->reference);
    finish(op, job, &error);
  }
  json_decref(json);
}

void cdam_image_ensure(cdam_operation *op, cdam_image_job *job, const char *reference, bool pull,
                       cdam_image_done done) {
  *job =
      (cdam_image_job){.done = done, .reference = reference, .pull = pull, .options = job->options};
  job->stream = (cdam_pull_stream){.progress = op->client->config.progress,
                                   .progress_user = op->client->config.progress_user,
                                   .image = reference};
  op->part = job;
  const char *why;
  if (cdam_image_reference_parse(reference, &job->parts, &why)) {
    inspect(op, job);
  } else {
    cdam_error error;
    cdam_fail(&error, CDAM_ERR_INVALID, "image \"%s\" is no image reference: %s", reference, why);
    finish(op, job, &error);
  }
}

void cdam_image_job_clear(cdam_image_job *job) {
  cdam_pull_stream_clear(&job->stream);
  json_decref(job->volumes);
  job->volumes = NULL;
}
