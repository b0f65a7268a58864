/* SPDX-License-Identifier: Apache-2.0 */
/* The two forms that people write, ProtoJSON and text format, have the same targets. */
#ifndef COFFERDAM_TESTS_FUZZ_FORMS_H
#define COFFERDAM_TESTS_FUZZ_FORMS_H

#include "fuzz.h"

/*
 * Reads the input as a state, without a key and with one, strictly and ignoring names that are not
 * known; and as options. What is accepted strictly is the same when unknown names may be ignored;
 * it is written and read again as the same; and the checker (Python) reads it as the same message.
 */
void fuzz_check_form(cdam_form form, const uint8_t *data, size_t size);

#endif
