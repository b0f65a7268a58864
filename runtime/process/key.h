/* SPDX-License-Identifier: Apache-2.0 */
/* The name of a process: "<instance of the agent in hex>:<number>". */
#ifndef COFFERDAM_PROCESS_KEY_H
#define COFFERDAM_PROCESS_KEY_H

#include <stddef.h>
#include <stdint.h>

#include <cofferdam/error.h>

/* An instance has 64 bytes at most. */
#define CDAM_INSTANCE_HEX_SIZE 129
/* With 20 digits, a colon and the NUL. */
#define CDAM_PROCESS_KEY_SIZE (CDAM_INSTANCE_HEX_SIZE + 21)

/* What a key says. */
typedef struct cdam_process_name {
  char instance[CDAM_INSTANCE_HEX_SIZE];
  uint64_t id;
} cdam_process_name;

/* CDAM_ERR_ARGUMENT for anything that cdam_process_format_key would not have written. */
cdam_status cdam_process_parse_key(const char *key, cdam_process_name *name, cdam_error *err);

void cdam_process_format_key(const char *instance, uint64_t id, char key[CDAM_PROCESS_KEY_SIZE]);

/* CDAM_ERR_NO_PROCESS when the key is of another agent than this one. */
cdam_status cdam_process_check_instance(const cdam_process_name *name, const char *instance,
                                        cdam_error *err);

#endif
