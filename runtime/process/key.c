/* SPDX-License-Identifier: Apache-2.0 */
#include "process/key.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

static bool read_id(const char *text, uint64_t *id) {
  size_t length = strspn(text, "0123456789");
  if (length == 0 || text[length] || text[0] == '0') return false;
  uint64_t value = 0;
  for (size_t i = 0; i < length; i++)
    if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
        __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
      return false;
  *id = value;
  return true;
}

cdam_status cdam_process_parse_key(const char *key, cdam_process_name *name, cdam_error *err) {
  size_t length = strspn(key, "0123456789abcdef");
  if (length > 0 && length % 2 == 0 && length < sizeof name->instance && key[length] == ':' &&
      read_id(key + length + 1, &name->id)) {
    memcpy(name->instance, key, length);
    name->instance[length] = '\0';
    return CDAM_OK;
  }
  return cdam_fail(err, CDAM_ERR_ARGUMENT, "'%.40s' is no key of a process", key);
}

void cdam_process_format_key(const char *instance, uint64_t id, char key[CDAM_PROCESS_KEY_SIZE]) {
  snprintf(key, CDAM_PROCESS_KEY_SIZE, "%.*s:%" PRIu64, CDAM_INSTANCE_HEX_SIZE - 1, instance, id);
}

cdam_status cdam_process_check_instance(const cdam_process_name *name, const char *instance,
                                        cdam_error *err) {
  if (strcmp(name->instance, instance) == 0) return CDAM_OK;
  return cdam_fail(err, CDAM_ERR_NO_PROCESS,
                   "the sandbox was started again since, and the process is gone");
}
