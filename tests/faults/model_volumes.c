/* SPDX-License-Identifier: Apache-2.0 */
/* The model's volumes: that of one agent and its marker, and the helper that fills it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "model_engine.h"

static bool is_marker(const char *path) {
  size_t length = strlen(path);
  return length > 6 && strcmp(path + length - 6, "-ready") == 0;
}

static void forget_volume(model_volumes *volumes) {
  free(volumes->tar);
  volumes->tar = NULL;
  volumes->tar_size = 0;
  volumes->volume = false;
}

static void make(model_volumes *volumes, bool marker) {
  if (marker && !volumes->marker) {
    volumes->marker = true;
    volumes->marker_at = volumes->clock;
  } else if (!marker && !volumes->volume) {
    volumes->volume = true;
    volumes->volume_at = volumes->clock;
  }
}

void model_mount_volume(model_engine *model) {
  make(&model->volumes, false);
}

void model_fill_volume(model_engine *model, const void *tar, size_t size) {
  model_volumes *volumes = &model->volumes;
  free(volumes->tar);
  volumes->tar = malloc(size);
  assert_non_null(volumes->tar);
  memcpy(volumes->tar, tar, size);
  volumes->tar_size = size;
  make(volumes, false);
}

static json_t *volume_json(int64_t at) {
  char created[40];
  time_t when = (time_t)at + 3600; /* the engine's local time */
  strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%S+01:00", gmtime(&when));
  return json_pack("{s:s}", "CreatedAt", created);
}

static void answer_volume(model_engine *model, const scripted_request *request,
                          scripted_reply *reply) {
  model_volumes *volumes = &model->volumes;
  if (strcmp(request->path, "/volumes/create") == 0) {
    make(volumes, strstr(request->body, "-ready\"") != NULL);
    *reply = (scripted_reply){201, .body = "{}"};
    return;
  }
  bool marker = is_marker(request->path);
  bool there = marker ? volumes->marker : volumes->volume;
  if (!there) {
    *reply = (scripted_reply){404, .body = "{\"message\":\"no such volume\"}"};
  } else if (strcmp(request->method, "DELETE") == 0) {
    if (marker)
      volumes->marker = false;
    else
      forget_volume(volumes);
    *reply = (scripted_reply){.status = 204};
  } else {
    json_t *json = volume_json(marker ? volumes->marker_at : volumes->volume_at);
    *reply = (scripted_reply){200, .body = model_keep_json(model, json)};
  }
}

static void create_helper(model_engine *model, const scripted_request *request,
                          scripted_reply *reply) {
  model_volumes *volumes = &model->volumes;
  if (volumes->helper) {
    *reply = (scripted_reply){409, .body = "{\"message\":\"Conflict. The name is in use\"}"};
    return;
  }
  json_t *body = json_loads(request->body, 0, NULL);
  const json_t *label = json_object_get(json_object_get(body, "Labels"), "io.cofferdam.agent-fill");
  snprintf(volumes->helper_label, sizeof volumes->helper_label, "%s", json_string_value(label));
  json_decref(body);
  volumes->helper = true;
  volumes->helper_at = volumes->clock;
  volumes->helpers++;
  make(volumes, false);
  *reply = (scripted_reply){201, .body = "{\"Id\":\"" MODEL_HELPER_ID "\"}"};
}

static json_t *helper_json(const model_volumes *volumes) {
  char created[40];
  time_t when = (time_t)volumes->helper_at;
  strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%S.5Z", gmtime(&when));
  json_t *labels = json_object();
  if (*volumes->helper_label)
    json_object_set_new(labels, "io.cofferdam.agent-fill", json_string(volumes->helper_label));
  return json_pack("{s:s, s:s, s:{s:o}}", "Id", MODEL_HELPER_ID, "Created", created, "Config",
                   "Labels", labels);
}

static void answer_helper(model_engine *model, const scripted_request *request,
                          scripted_reply *reply) {
  if (strcmp(request->method, "POST") == 0) {
    create_helper(model, request, reply);
  } else if (!model->volumes.helper) {
    *reply = (scripted_reply){404, .body = "{\"message\":\"No such container\"}"};
  } else if (strcmp(request->method, "DELETE") == 0) {
    model->volumes.helper = false;
    *reply = (scripted_reply){.status = 204};
  } else {
    *reply = (scripted_reply){200, .body = model_keep_json(model, helper_json(&model->volumes))};
  }
}

/* What is put is kept as it came, and given back. */
static void answer_archive(model_engine *model, const scripted_request *request,
                           scripted_reply *reply) {
  model_volumes *volumes = &model->volumes;
  if (!volumes->helper) {
    *reply = (scripted_reply){404, .body = "{\"message\":\"No such container\"}"};
  } else if (strcmp(request->method, "PUT") == 0) {
    if (!volumes->forgetful) model_fill_volume(model, request->body, request->body_length);
    *reply = (scripted_reply){.status = 200};
  } else if (volumes->tar) {
    *reply = (scripted_reply){200, .body = volumes->tar, .body_length = volumes->tar_size};
  } else {
    *reply = (scripted_reply){404, .body = "{\"message\":\"Could not find the file\"}"};
  }
}

/* ---- failing, or doing it and answering wrongly ---- */

typedef void (*answerer)(model_engine *model, const scripted_request *request,
                         scripted_reply *reply);

static void answer_or_fail(answerer answer, const scripted_request *request,
                           scripted_reply *reply) {
  model_engine *model = model_current();
  scripted_reply right;
  bool fails = model_failed(model, request, reply);
  if (fails && !model->fail_but_do) return;
  answer(model, request, &right);
  if (!fails) *reply = right;
}

void model_answer_volume(void *user, const scripted_request *request, scripted_reply *reply) {
  (void)user;
  answer_or_fail(answer_volume, request, reply);
}

void model_answer_helper(void *user, const scripted_request *request, scripted_reply *reply) {
  (void)user;
  answer_or_fail(answer_helper, request, reply);
}

void model_answer_archive(void *user, const scripted_request *request, scripted_reply *reply) {
  (void)user;
  answer_or_fail(answer_archive, request, reply);
}
