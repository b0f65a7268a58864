/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "session/exec_private.h"

void cdam_exec_result_free(cdam_exec_result *result) {
  if (!result) return;
  cdam_buffer_clear(&result->out.kept);
  cdam_buffer_clear(&result->err.kept);
  free(result);
}

int cdam_exec_result_exit_code(const cdam_exec_result *result) {
  return result ? result->exit_code : -1;
}

int cdam_exec_result_signal(const cdam_exec_result *result) {
  return result ? result->signal : 0;
}

bool cdam_exec_result_out_of_memory(const cdam_exec_result *result) {
  return result && result->out_of_memory;
}

bool cdam_exec_result_not_started(const cdam_exec_result *result) {
  return result && result->not_started;
}

bool cdam_exec_result_timed_out(const cdam_exec_result *result) {
  return result && result->timed_out;
}

bool cdam_exec_result_still_running(const cdam_exec_result *result) {
  return result && result->still_running;
}

static const char *bytes_of(const cdam_exec_output *output, size_t *length) {
  if (length) *length = output ? output->kept.length : 0;
  return output ? cdam_buffer_text(&output->kept) : "";
}

const char *cdam_exec_result_stdout(const cdam_exec_result *result, size_t *length) {
  return bytes_of(result ? &result->out : NULL, length);
}

const char *cdam_exec_result_stderr(const cdam_exec_result *result, size_t *length) {
  return bytes_of(result ? &result->err : NULL, length);
}

uint64_t cdam_exec_result_stdout_total(const cdam_exec_result *result) {
  return result ? result->out.total : 0;
}

uint64_t cdam_exec_result_stderr_total(const cdam_exec_result *result) {
  return result ? result->err.total : 0;
}

bool cdam_exec_result_stdout_truncated(const cdam_exec_result *result) {
  return result && !result->to_sink[0] && result->out.total > result->out.kept.length;
}

bool cdam_exec_result_stderr_truncated(const cdam_exec_result *result) {
  return result && !result->to_sink[1] && result->err.total > result->err.kept.length;
}
