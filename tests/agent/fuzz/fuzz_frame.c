/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as one frame: clang -fsanitize=fuzzer,address,undefined. */
#include "frame.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static agent_arena arena;
  const char *reason;
  if (!arena.bytes && !agent_arena_open(&arena)) abort();
  if (size == 0 || size > AGENT_MAX_FRAME) return 0;
  MSG(ToAgent) *message = agent_frame_read(&arena, data, size, &reason);
  if (!message && !reason) abort();
  if (message && !protobuf_c_message_check(&message->base)) abort();
  return 0;
}
