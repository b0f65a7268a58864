/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the fuzz targets share. A target is one function that is given any bytes, calls the library
 * with them and checks what must be true of the outcome; a check that fails ends the program.
 *
 * The same function is driven by libFuzzer (./dev fuzz) and by replay.c, which only reads files.
 */
#ifndef COFFERDAM_TESTS_FUZZ_H
#define COFFERDAM_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cofferdam/cofferdam.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Says what is not true, and where, and aborts. */
#define FUZZ_CHECK(condition) fuzz_check((condition), #condition, __FILE__, __LINE__)
void fuzz_check(bool condition, const char *text, const char *file, int line);

/* A copy of exact size, so that a sanitizer sees every read beyond it; and one with a NUL
 * behind. Free with free(). */
void *fuzz_copy(const void *data, size_t size);
char *fuzz_text(const void *data, size_t size);

/*
 * Tells the outcome to the checker, if there is one: a program in another language that judges it
 * on its own (checker.py). The pieces go out as one record. Waits when the checker is
 * behind, and ends the program when the checker has ended.
 */
typedef struct fuzz_piece {
  const void *bytes;
  size_t length;
} fuzz_piece;
void fuzz_tell(const fuzz_piece *pieces, size_t count);

/* Is there a checker? */
bool fuzz_has_checker(void);

/* For mutators. Provided by libFuzzer. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

#endif
