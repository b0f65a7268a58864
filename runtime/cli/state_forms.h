/* SPDX-License-Identifier: Apache-2.0 */
/* States as people read them: ProtoJSON and protobuf's text format. */
#ifndef COFFERDAM_CLI_STATE_FORMS_H
#define COFFERDAM_CLI_STATE_FORMS_H

#include "cli.h"

/* No document is larger: escapes take room. */
#define CLI_FORM_MAX_BYTES (8 * CDAM_STATE_MAX_BYTES)

/* "json" or "text". */
bool cli_form_of(const char *name, cdam_form *form);

/* With all values, and without a newline at the end. Free *text with free(). */
int cli_form_write(const cli_args *args, const cdam_state *state, cdam_form form, char **text);

/* Reads a document, by --ignore-unknown in spite of unknown names, which are told on stderr. One
 * that is sealed with the key needs it; one that is not may do without. */
int cli_form_read(const cli_args *args, cdam_form form, const char *text, size_t length,
                  const cdam_key *key, cdam_state **state);

#endif
