/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scripted engine that remembers one container as Docker would: created from the request's body,
 * started, stopped, inspected, removed. On top of that it can be made to lie and to fail.
 */
#ifndef COFFERDAM_TESTS_MODEL_ENGINE_H
#define COFFERDAM_TESTS_MODEL_ENGINE_H

#include <jansson.h>

#include <cofferdam/cofferdam.h>

#include "scripted_engine.h"

#define MODEL_IMAGE_ID "sha256:1111111111111111111111111111111111111111111111111111111111111111"
#define MODEL_OTHER_ID "sha256:2222222222222222222222222222222222222222222222222222222222222222"

typedef struct model_engine model_engine;

/* The agent's volume, its marker, and the helper that fills it; see model_volumes.c. */
typedef struct model_volumes {
  int64_t clock; /* the engine's, in seconds since the epoch */
  bool volume, marker;
  int64_t volume_at, marker_at; /* when they were made */
  char *tar;                    /* what was put into the volume; NULL: nothing */
  size_t tar_size;
  bool forgetful; /* what is put there is not kept */
  bool helper;
  char helper_label[64];
  int64_t helper_at;
  int helpers; /* how many there were */
} model_volumes;

#define MODEL_HELPER_ID "9999999999999999999999999999999999999999999999999999999999999999"

/* A change of an inspect answer before it is sent. `looks` counts the inspects of the
 * container so far, this one included. */
typedef void (*model_lie)(json_t *inspect, int looks);

struct model_engine {
  scripted_engine *engine;
  cdam_client *client;

  /* the container; `id` is "" when there is none */
  char id[65];
  char name[80];
  char status[16];
  json_t *body; /* that it was created with */
  int made;     /* how many were created */
  int looks;

  /* what is on the engine besides */
  const char *engine_id;
  const char *image_id; /* of options.image; NULL: no such image */
  bool image_id_known;  /* is there an image with that id? */
  bool podman;          /* its /info has another id each time */
  int infos;
  const char *architecture;
  model_volumes volumes;

  /* misbehaviour */
  model_lie lie;
  const char *fail_path; /* an fnmatch pattern of "METHOD path" */
  int fail_after;        /* lets so many through first */
  scripted_reply fail_reply;
  bool fail_but_do;          /* does the thing and answers wrongly */
  bool fail_but_do_once;     /* that with the first one only */
  int hidden_looks;          /* so many inspects do not find the container yet */
  const char *start_ends_in; /* the status that a start leads to; NULL: running */
};

/* Starts it, with a client of 2 s. */
model_engine *model_start(void);

/* Another client instead of its own, whose sandboxes get an agent from that directory. */
void model_use_agent(model_engine *model, const char *directory, cdam_agent_policy policy);

/* Puts something into the agent's volume. */
void model_fill_volume(model_engine *model, const void *tar, size_t size);

/* Stops it and frees it; fails the test on an unexpected request. */
void model_stop(model_engine *model);

/* Makes a container appear that the model did not create through its API. */
void model_put_container(model_engine *model, const char *id, const char *name, json_t *body);

/* An id made of one hexadecimal digit. Static for each digit. */
const char *model_id(char digit);

/* Is there a container, and how many requests with this method came? */
bool model_has_container(const model_engine *model);
size_t model_requests(model_engine *model, const char *method, const char *path);

/* Options for image busybox:1 with NONE (or UNSET), and a state of a sandbox that was
 * created from them on the model. */
cdam_options *model_options(cdam_network_mode mode);
cdam_state *model_create_state(model_engine *model, const cdam_options *options);

/* ---- between model_engine.c and model_volumes.c ---- */

/* The model that runs; one at a time. */
model_engine *model_current(void);

/* Has this request to fail? Then *reply is filled in. */
bool model_failed(model_engine *model, const scripted_request *request, scripted_reply *reply);

/* The JSON as text that lives as long as the engine; takes the reference. */
const char *model_keep_json(model_engine *model, json_t *json);

void model_answer_volume(void *user, const scripted_request *request, scripted_reply *reply);
void model_answer_helper(void *user, const scripted_request *request, scripted_reply *reply);
void model_answer_archive(void *user, const scripted_request *request, scripted_reply *reply);

/* A container is created that mounts the agent's volume. */
void model_mount_volume(model_engine *model);

#endif
