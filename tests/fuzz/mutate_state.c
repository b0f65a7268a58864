/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mutator for states: changes the bytes inside of one field, at any level, and makes the lengths
 * around it right again; moves, repeats and drops fields; and seals the outcome, or not.
 * Without it most changes end at a length or a digest that is wrong.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "state/seal.h"
#include "state/wire.h"
#include "state_checks.h"

static unsigned dice(unsigned *seed, unsigned sides) {
  *seed = *seed * 1103515245u + 12345u;
  return (*seed >> 16) % sides;
}

static size_t put_varint(uint8_t *out, uint64_t value) {
  size_t length = 0;
  for (; value >= 0x80; value >>= 7)
    out[length++] = (uint8_t)(value | 0x80);
  out[length++] = (uint8_t)value;
  return length;
}

static bool get_varint(const uint8_t *data, size_t size, size_t *at, uint64_t *value) {
  *value = 0;
  for (unsigned shift = 0; shift < 64 && *at < size; shift += 7) {
    uint8_t byte = data[(*at)++];
    *value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

/* A field: where its tag, its value (behind the length, if it has one) and its end are. */
typedef struct field {
  size_t start, length_at, value, end;
  bool has_length;
} field;

static bool get_field(const uint8_t *data, size_t size, size_t at, field *out) {
  uint64_t tag, number;
  out->start = at;
  if (!get_varint(data, size, &at, &tag)) return false;
  out->length_at = out->value = at;
  out->has_length = (tag & 7) == 2;
  if ((tag & 7) == 1 || (tag & 7) == 5) {
    out->end = at + ((tag & 7) == 1 ? 8 : 4);
    return out->end <= size;
  }
  if ((tag & 7) > 2 || !get_varint(data, size, &at, &number)) return false;
  if (out->has_length) out->value = at;
  if (out->has_length && number > size - at) return false;
  out->end = out->has_length ? at + (size_t)number : at;
  return true;
}

static size_t count_fields(const uint8_t *data, size_t size) {
  field f = {.end = 0};
  size_t count = 0;
  while (f.end < size && get_field(data, size, f.end, &f))
    count++;
  return count;
}

static field nth_field(const uint8_t *data, size_t size, size_t n) {
  field f = {.end = 0};
  for (size_t i = 0; i <= n; i++)
    get_field(data, size, f.end, &f);
  return f;
}

static size_t mutate_message(uint8_t *data, size_t size, size_t max, unsigned depth,
                             unsigned *seed);

/* Changes what is inside of a field, and writes its length anew. */
static size_t mutate_inside(uint8_t *data, size_t size, size_t max, const field *f, unsigned depth,
                            unsigned *seed) {
  size_t inner = f->end - f->value, rest = size - f->end;
  size_t room = max - (size - inner);
  uint8_t *copy = malloc(inner + room + 16);
  uint8_t length[10];
  FUZZ_CHECK(copy != NULL);
  memcpy(copy, data + f->value, inner);
  size_t now = room > 16 ? mutate_message(copy, inner, room - 10, depth + 1, seed) : inner;
  size_t prefix = put_varint(length, now);
  if (f->length_at + prefix + now + rest <= max) {
    memmove(data + f->length_at + prefix + now, data + f->end, rest);
    memcpy(data + f->length_at, length, prefix);
    memcpy(data + f->length_at + prefix, copy, now);
    size = f->length_at + prefix + now + rest;
  }
  free(copy);
  return size;
}

static size_t drop(uint8_t *data, size_t size, const field *f) {
  memmove(data + f->start, data + f->end, size - f->end);
  return size - (f->end - f->start);
}

/* Repeats a field at the front or at the end. */
static size_t repeat(uint8_t *data, size_t size, size_t max, const field *f, bool front) {
  size_t length = f->end - f->start;
  if (length > max - size) return size;
  uint8_t *copy = fuzz_copy(data + f->start, length);
  if (front) memmove(data + length, data, size);
  memcpy(front ? data : data + size, copy, length);
  free(copy);
  return size + length;
}

static size_t mutate_message(uint8_t *data, size_t size, size_t max, unsigned depth,
                             unsigned *seed) {
  size_t fields = count_fields(data, size);
  if (fields == 0 || depth > 3) return LLVMFuzzerMutate(data, size, max);
  field f = nth_field(data, size, dice(seed, (unsigned)fields));
  switch (dice(seed, 8)) {
  case 0:
    return LLVMFuzzerMutate(data, size, max);
  case 1:
    return drop(data, size, &f);
  case 2:
    return repeat(data, size, max, &f, dice(seed, 2));
  case 3: { /* move */
    size_t longer = repeat(data, size, max, &f, false);
    return longer > size ? drop(data, longer, &f) : size;
  }
  default:
    if (f.has_length) return mutate_inside(data, size, max, &f, depth, seed);
    return LLVMFuzzerMutate(data, size, max);
  }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
  cdam_seal_place place;
  unsigned how = dice(&seed, 8);
  if (how == 0 || max_size < 2 * CDAM_SEAL_MAX_BYTES ||
      cdam_wire_find_seal(data, size, &place, NULL))
    return LLVMFuzzerMutate(data, size, max_size);
  if (how == 1 || place.offset > max_size - CDAM_SEAL_MAX_BYTES)
    return mutate_message(data, size, max_size, 0, &seed); /* seal and all */
  size = mutate_message(data, place.offset, max_size - CDAM_SEAL_MAX_BYTES, 0, &seed);
  cdam_seal_bytes seal;
  if (how < 5 || cdam_seal_make(data, size, how == 7 ? fuzz_key() : NULL, &seal, NULL)) return size;
  memcpy(data + size, seal.bytes, seal.length);
  return size + seal.length;
}
