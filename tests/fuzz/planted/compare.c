/* SPDX-License-Identifier: Apache-2.0 */
/* The comparison with a fault planted in it: beside "none" it overlooks other networks. Fuzzing the
 * target `inspect` with this in it must find that out. */
#include <jansson.h>

static size_t overlooking_size(const json_t *object) {
  size_t size = json_object_size(object);
  return size > 1 && json_object_get(object, "none") ? 1 : size;
}

#define json_object_size overlooking_size
#include "options/compare.c"
