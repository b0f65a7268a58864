/* SPDX-License-Identifier: Apache-2.0 */
/* Writing the report of what was not carried over. */
#ifndef COFFERDAM_INTERCHANGE_AGENTS_JSON_REPORT_H
#define COFFERDAM_INTERCHANGE_AGENTS_JSON_REPORT_H

#include <cofferdam/agents_json.h>

cdam_status cdam_agents_report_new(cdam_agents_report **out, cdam_error *err);

/* Adds an entry. Both texts are made printable, and the field is cut when it is very long.
 * CDAM_ERR_NO_MEMORY. */
cdam_status cdam_agents_report_add(cdam_agents_report *report, cdam_error *err, const char *field,
                                   const char *format, ...) __attribute__((format(printf, 4, 5)));

/* "PARENT.NAME", or with brackets "PARENT[NAME]", cut to fit. */
#define CDAM_AGENTS_FIELD_SIZE 320
void cdam_agents_member(char field[CDAM_AGENTS_FIELD_SIZE], const char *parent, const char *name);
void cdam_agents_entry(char field[CDAM_AGENTS_FIELD_SIZE], const char *parent, const char *key);

#endif
