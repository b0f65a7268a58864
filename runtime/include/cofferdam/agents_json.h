/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States to and from the JSON of a session of the OpenAI Agents SDK for Python, as its Docker
 * client's serialize_session_state gives it ("type": "docker"). docs/agents-sdk.md has the story.
 *
 * What one side cannot say is refused when it isolates, and otherwise told by name in a report,
 * which the caller must take: nothing is dropped in silence.
 *
 * No function here touches an engine.
 */
#ifndef COFFERDAM_AGENTS_JSON_H
#define COFFERDAM_AGENTS_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include <cofferdam/error.h>
#include <cofferdam/export.h>
#include <cofferdam/message.h>

CDAM_BEGIN_DECLS

/* No document is larger than this. */
#define CDAM_AGENTS_JSON_MAX_BYTES (16 * 1024 * 1024)

/* What was not carried over as it was: a list of fields, each with what became of it. Opaque. Free
 * with cdam_agents_report_free. */
typedef struct cdam_agents_report cdam_agents_report;

CDAM_API void cdam_agents_report_free(cdam_agents_report *report);

CDAM_API size_t cdam_agents_report_count(const cdam_agents_report *report);

/* Of entry `index`; NULL out of range. The field is a path such as "manifest.entries" or
 * "image_id"; the text is one line for people that holds no values of environment variables. Both
 * belong to the report. Since 0.1. */
CDAM_API const char *cdam_agents_report_field(const cdam_agents_report *report, size_t index);
CDAM_API const char *cdam_agents_report_text(const cdam_agents_report *report, size_t index);

/*
 * The state of a session of the SDK. image, exposed_ports, labels, network_mode, session_id,
 * container_id, workspace_root_ready, and those variables of manifest.environment whose values
 * stand in the document, are carried over. network_mode "none" becomes NONE, null or
 * absent UNSET, and everything else is refused.
 *
 * The document does not say which image the container was made from, and the container does not
 * bear our labels. So the state is one that cdam_resume refuses until its container has been
 * adopted: see cdam_resume_flags and cdam_state_needs_adoption.
 *
 * Free *out with cdam_state_free and *report with cdam_agents_report_free. CDAM_ERR_MALFORMED for
 * what is not JSON, or not an object, or has a name twice; CDAM_ERR_INVALID with the field for a
 * value that is missing or of the wrong type, for another "type", and for what a state cannot
 * hold; CDAM_ERR_NO_MEMORY. Since 0.1.
 */
CDAM_API CDAM_CHECK cdam_status cdam_state_from_agents_json(const char *json, size_t length,
                                                            cdam_state **out,
                                                            cdam_agents_report **report,
                                                            cdam_error *err);

/*
 * The other way: a document, in one line without a final newline, that the SDK's
 * deserialize_session_state reads, and with which its resume finds the same container. It holds env
 * values.
 *
 * `base` is a document of the same session, as the SDK wrote it before, or NULL. Its manifest,
 * snapshot and whatever else a state does not hold are kept. Without it the manifest is empty but
 * for the environment, and the snapshot is one that holds nothing. A base that isolates what the
 * state does not is refused.
 *
 * A state that has an isolating option for which the document has no place is refused; so is one
 * with options that this library does not know. Free *json with free() and *report with
 * cdam_agents_report_free. CDAM_ERR_UNSUPPORTED, CDAM_ERR_INVALID, CDAM_ERR_POLICY (the base is
 * isolated and the state is not), the errors of cdam_state_from_agents_json for the base,
 * CDAM_ERR_NO_MEMORY. Since 0.1.
 */
CDAM_API CDAM_CHECK cdam_status cdam_state_to_agents_json(const cdam_state *state, const char *base,
                                                          size_t base_length, char **json,
                                                          cdam_agents_report **report,
                                                          cdam_error *err);

/* Was the state imported, and its container never adopted? Its image_id is then "sha256:" and 64
 * zeros, which no image has. Since 0.1. */
CDAM_API bool cdam_state_needs_adoption(const cdam_state *state);

CDAM_END_DECLS

#endif
