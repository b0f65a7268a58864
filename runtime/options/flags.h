/* SPDX-License-Identifier: Apache-2.0 */
/* The options as command-line flags. Made by the generator in generated/cli/, on top of
 * the public interface only, and linked into the CLI. */
#ifndef COFFERDAM_OPTIONS_FLAGS_H
#define COFFERDAM_OPTIONS_FLAGS_H

#include <stdbool.h>
#include <stddef.h>

#include <cofferdam/cofferdam.h>

typedef struct cdam_option_flag {
  const char *name;    /* "network", for --network */
  const char *metavar; /* "MODE"; NULL for a flag without a value */
  const char *help;    /* one line; for an enum it ends in the words that are accepted */
  bool required;
  bool repeatable;
  bool isolates; /* there is a --require-NAME, too */
  /* Sets, adds or puts the value; `text` is NULL for a flag without a value.
   * CDAM_ERR_INVALID with a message that names the field and what is accepted. */
  cdam_status (*set)(cdam_options *options, const char *text, cdam_error *err);
} cdam_option_flag;

extern const cdam_option_flag cdam_option_flags[];
extern const size_t cdam_option_flag_count;

#endif
