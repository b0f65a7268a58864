/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

void fuzz_check(bool condition, const char *text, const char *file, int line) {
  if (condition) return;
  fprintf(stderr, "fuzz: %s:%d: not true: %s\n", file, line, text);
  abort();
}

void *fuzz_copy(const void *data, size_t size) {
  void *copy = malloc(size ? size : 1);
  FUZZ_CHECK(copy != NULL);
  if (size) memcpy(copy, data, size);
  return copy;
}

char *fuzz_text(const void *data, size_t size) {
  char *text = malloc(size + 1);
  FUZZ_CHECK(text != NULL);
  if (size) memcpy(text, data, size);
  text[size] = '\0';
  return text;
}

/* ---- the checker ---- */

static int checker(void) {
  static int fd = -2;
  if (fd == -2) {
    const char *number = getenv("FUZZ_CHECKER_FD");
    fd = number ? (int)strtol(number, NULL, 10) : -1;
  }
  return fd;
}

bool fuzz_has_checker(void) {
  return checker() >= 0;
}

static void send_all(const void *bytes, size_t length) {
  const char *at = bytes;
  while (length) {
    ssize_t sent = write(checker(), at, length);
    if (sent <= 0) {
      fprintf(stderr, "fuzz: the checker has ended; it says why\n");
      abort();
    }
    at += sent;
    length -= (size_t)sent;
  }
}

void fuzz_tell(const fuzz_piece *pieces, size_t count) {
  if (!fuzz_has_checker()) return;
  uint32_t number = (uint32_t)count;
  send_all(&number, sizeof number);
  for (size_t i = 0; i < count; i++) {
    number = (uint32_t)pieces[i].length;
    send_all(&number, sizeof number);
    send_all(pieces[i].bytes, pieces[i].length);
  }
}
