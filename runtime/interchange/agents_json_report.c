/* SPDX-License-Identifier: Apache-2.0 */
#include "interchange/agents_json_report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

typedef struct report_entry {
  char *field;
  char *text;
} report_entry;

struct cdam_agents_report {
  report_entry *entries;
  size_t count;
};

cdam_status cdam_agents_report_new(cdam_agents_report **out, cdam_error *err) {
  *out = calloc(1, sizeof **out);
  return *out ? CDAM_OK : cdam_fail_memory(err);
}

void cdam_agents_report_free(cdam_agents_report *report) {
  if (!report) return;
  for (size_t i = 0; i < report->count; i++) {
    free(report->entries[i].field);
    free(report->entries[i].text);
  }
  free(report->entries);
  free(report);
}

size_t cdam_agents_report_count(const cdam_agents_report *report) {
  return report ? report->count : 0;
}

const char *cdam_agents_report_field(const cdam_agents_report *report, size_t index) {
  return index < cdam_agents_report_count(report) ? report->entries[index].field : NULL;
}

const char *cdam_agents_report_text(const cdam_agents_report *report, size_t index) {
  return index < cdam_agents_report_count(report) ? report->entries[index].text : NULL;
}

static char *printable(const char *text, size_t size) {
  char *copy = malloc(size);
  if (copy) cdam_printable(copy, size, text, strlen(text));
  return copy;
}

static cdam_status add(cdam_agents_report *report, char *field, char *text, cdam_error *err) {
  report_entry *grown = NULL;
  if (field && text)
    grown = realloc(report->entries, (report->count + 1) * sizeof *report->entries);
  if (!grown) {
    free(field);
    free(text);
    return cdam_fail_memory(err);
  }
  report->entries = grown;
  report->entries[report->count++] = (report_entry){field, text};
  return CDAM_OK;
}

cdam_status cdam_agents_report_add(cdam_agents_report *report, cdam_error *err, const char *field,
                                   const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (length < 0) return cdam_fail_memory(err);
  return add(report, printable(field, CDAM_AGENTS_FIELD_SIZE), printable(text, sizeof text), err);
}

void cdam_agents_member(char field[CDAM_AGENTS_FIELD_SIZE], const char *parent, const char *name) {
  snprintf(field, CDAM_AGENTS_FIELD_SIZE, "%s%s%.200s", parent, *parent ? "." : "", name);
}

void cdam_agents_entry(char field[CDAM_AGENTS_FIELD_SIZE], const char *parent, const char *key) {
  snprintf(field, CDAM_AGENTS_FIELD_SIZE, "%s[%.200s]", parent, key);
}
