/* SPDX-License-Identifier: Apache-2.0 */
/* Images: references, and making sure that one is there. */
#ifndef COFFERDAM_ENGINE_IMAGE_H
#define COFFERDAM_ENGINE_IMAGE_H

#include <jansson.h>

#include "engine/operation.h"
#include "engine/pull_stream.h"
#include "options/generated.h"

/* The parts of "[registry[:port]/]path[:tag][@digest]", as Docker parses it. An image id
 * ("sha256:" and 64 hexadecimal digits, or the digits alone) is one, too: it has only a digest,
 * and can be inspected but not pulled. */
typedef struct cdam_image_reference {
  char name[512];   /* registry and path, as given; "" for an image id */
  char tag[129];    /* "" without one */
  char digest[136]; /* "sha256:...", "" without one */
} cdam_image_reference;

/* False when `text` is no reference; then *why (may be NULL) is a static text. `out` may be NULL.
 */
bool cdam_image_reference_parse(const char *text, cdam_image_reference *out, const char **why);

/* An image id, with "sha256:" or (as Podman has it) without, as "sha256:" and 64
 * digits. False when it is none. */
bool cdam_image_id_parse(const char *text, char id[72]);

/* A part of a larger operation: make sure that an image is on the engine. */
typedef struct cdam_image_job cdam_image_job;

/* Called at the end; with CDAM_OK job->image_id and job->volumes are set. */
typedef void (*cdam_image_done)(cdam_operation *op, cdam_status status, const cdam_error *error);

struct cdam_image_job {
  char image_id[72]; /* "sha256:" and 64 hexadecimal digits */
  json_t *volumes;   /* that it asks for: an object whose keys are their places; or NULL */
  cdam_image_done done;
  const char *reference; /* borrowed; lives as long as the job */
  bool pull;             /* allowed */
  /* What the image must be for, or NULL; set before the job begins, and kept. */
  const Cofferdam__V1__SandboxOptions *options;
  bool other; /* the one that is there is not */
  bool pulled;
  cdam_image_reference parts;
  cdam_pull_stream stream;
};

/* Inspects the image, pulls it when it is absent and `pull` allows it (progress goes to the
 * client's callback), and inspects it again. Without tag and digest the tag is "latest"; with
 * both the digest counts. An image that is there and not as job->options want it is pulled as well.
 * The job stands in the operation's struct; its steps find it as op->part.
 * CDAM_ERR_INVALID, CDAM_ERR_DRIFT (not as the options want it), CDAM_ERR_NOT_FOUND (absent, and
 * there is nothing to pull), CDAM_ERR_PULL, CDAM_ERR_PROTOCOL, the engine's errors. */
void cdam_image_ensure(cdam_operation *op, cdam_image_job *job, const char *reference, bool pull,
                       cdam_image_done done);

/* Frees what the job holds. For every job that was started, when its operation is over. */
void cdam_image_job_clear(cdam_image_job *job);

#endif
