/* SPDX-License-Identifier: Apache-2.0 */
/* What several of these programs call, with failing allocations. */
#ifndef COFFERDAM_TESTS_OOM_CALLS_H
#define COFFERDAM_TESTS_OOM_CALLS_H

#include <cofferdam/client.h>
#include <cofferdam/process.h>

#include "../faults/scripted_engine.h"

/* Unlike scripted_engine_client, one that may fail. `timeout_ms`: 0 for the default. */
static inline cdam_status open_client(const scripted_engine *engine, unsigned timeout_ms,
                                      cdam_client **client, cdam_error *err) {
  cdam_client_config *config = NULL;
  cdam_status status = cdam_client_config_new(&config, err);
  if (status == CDAM_OK)
    status = cdam_client_config_set_endpoint(config, scripted_engine_endpoint(engine), err);
  if (status == CDAM_OK && timeout_ms) cdam_client_config_set_timeout(config, timeout_ms);
  if (status == CDAM_OK) status = cdam_client_new(config, client, err);
  cdam_client_config_free(config);
  return status;
}

/* To its end, with the bytes that come counted; no event may take longer than `wait_ms`. */
static inline cdam_status read_on(cdam_process *process, int64_t wait_ms, size_t *came,
                                  cdam_error *err) {
  cdam_process_event event = {0};
  cdam_status status = CDAM_OK;
  while (status == CDAM_OK && event.kind != CDAM_PROCESS_CLOSED) {
    status = cdam_process_next(process, wait_ms, &event, err);
    if (status == CDAM_OK && event.kind == CDAM_PROCESS_OUTPUT) *came += event.length;
  }
  return status;
}

#endif
