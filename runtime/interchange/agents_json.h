/* SPDX-License-Identifier: Apache-2.0 */
/* What reading and writing the SDK's documents share. */
#ifndef COFFERDAM_INTERCHANGE_AGENTS_JSON_H
#define COFFERDAM_INTERCHANGE_AGENTS_JSON_H

#include <jansson.h>

#include <cofferdam/cofferdam.h>

#include "interchange/agents_json_report.h"

#define CDAM_AGENTS_ENVIRONMENT "manifest.environment.value"

/* An image id that no image has: the image of a container that was not yet looked at. Whoever does
 * not know what it stands for finds that no container is made from it. */
#define CDAM_IMAGE_ID_UNKNOWN                                                                      \
  "sha256:0000000000000000000000000000000000000000000000000000000000000000"

/* The state of a document that was loaded. As cdam_state_from_agents_json. */
cdam_status cdam_agents_read(const json_t *root, cdam_state **out, cdam_agents_report *report,
                             cdam_error *err);

/* CDAM_ERR_INVALID about a member that is not of the type it should have. */
cdam_status cdam_agents_wrong(cdam_error *err, const char *field, const char *text);

/* Copies the variables of a manifest into the options; those whose values are not in the document
 * are reported. */
cdam_status cdam_agents_read_environment(const json_t *manifest, cdam_options *options,
                                         cdam_agents_report *report, cdam_error *err);

/* Puts the options' variables into a manifest. An entry that has the value already stays as it is,
 * and so do variables that the options do not have, which are reported. */
cdam_status cdam_agents_write_environment(json_t *manifest, const cdam_options *options,
                                          cdam_agents_report *report, cdam_error *err);

#endif
