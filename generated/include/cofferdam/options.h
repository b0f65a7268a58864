/* Made by codegen/generate.py from schema/; not to be edited. Again: ./dev regen */
/* SPDX-License-Identifier: Apache-2.0 */
/* cdam_options: the accessors of what a sandbox is created with. message.h has what concerns
 * options as a whole.
 *
 * Getters take NULL options for empty ones; setters ignore them or return CDAM_ERR_ARGUMENT. */
#ifndef COFFERDAM_OPTIONS_H
#define COFFERDAM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cofferdam/error.h>
#include <cofferdam/export.h>
#include <cofferdam/message.h>

CDAM_BEGIN_DECLS

typedef enum cdam_network_mode {
  /* The engine's default. No NetworkMode key is sent at all. Since 0.1 (schema r2). */
  CDAM_NETWORK_MODE_UNSET = 0,

  /* No network: the sandbox has a loopback interface and nothing else. Since 0.1 (schema r2). */
  CDAM_NETWORK_MODE_NONE = 1
} cdam_network_mode;

/* ---- image ---- */

/* image: The image to run, as [registry[:port]/]name[:tag][@digest]. Required; an image
 * reference; at most 512 bytes. Since 0.1 (schema r1).
 * Sets a copy. CDAM_ERR_ARGUMENT, CDAM_ERR_INVALID (no UTF-8), CDAM_ERR_NO_MEMORY. */
CDAM_API CDAM_CHECK cdam_status cdam_options_set_image(cdam_options *options, const char *image,
                                                       cdam_error *err);

/* "" when it was never set. */
CDAM_API const char *cdam_options_image(const cdam_options *options);

/* ---- exposed_ports ---- */

/* exposed_ports: TCP ports to publish, each on a free port of the engine's 127.0.0.1. At most
 * 256 items; each once; 1 to 65535. Since 0.1 (schema r1).
 * Appends a value. CDAM_ERR_ARGUMENT, CDAM_ERR_NO_MEMORY. */
CDAM_API CDAM_CHECK cdam_status cdam_options_add_exposed_port(cdam_options *options,
                                                              uint32_t exposed_port,
                                                              cdam_error *err);

CDAM_API size_t cdam_options_exposed_port_count(const cdam_options *options);

/* Value `index`; 0 out of range. */
CDAM_API uint32_t cdam_options_exposed_port(const cdam_options *options, size_t index);

CDAM_API void cdam_options_clear_exposed_ports(cdam_options *options);

/* ---- labels ---- */

/* labels: Labels of the container. Keys that begin with io.cofferdam. are ours. At most 256
 * entries; key: 1 to 256 bytes, not beginning with "io.cofferdam."; value: at most 16384 bytes.
 * Since 0.1 (schema r1).
 * Puts a copy of an entry, in the place of one with the same key. Entries are kept in the byte
 * order of their keys. CDAM_ERR_ARGUMENT, CDAM_ERR_INVALID (no UTF-8), CDAM_ERR_NO_MEMORY. */
CDAM_API CDAM_CHECK cdam_status cdam_options_set_label(cdam_options *options, const char *key,
                                                       const char *value, cdam_error *err);

/* The value of a key; NULL without such an entry. */
CDAM_API const char *cdam_options_label(const cdam_options *options, const char *key);

CDAM_API size_t cdam_options_label_count(const cdam_options *options);

/* Entry `index`: key and value (either may be NULL). False out of range; the two are then as
 * they were. */
CDAM_API bool cdam_options_label_at(const cdam_options *options, size_t index, const char **key,
                                    const char **value);

/* Tells whether there was an entry to remove. */
CDAM_API bool cdam_options_remove_label(cdam_options *options, const char *key);

CDAM_API void cdam_options_clear_labels(cdam_options *options);

/* ---- env ---- */

/* env: Environment variables of every process in the sandbox. At most 1024 entries; key: 1 to
 * 256 bytes, no "="; value: at most 65536 bytes. Since 0.1 (schema r1).
 * Puts a copy of an entry, in the place of one with the same key. Entries are kept in the byte
 * order of their keys. CDAM_ERR_ARGUMENT, CDAM_ERR_INVALID (no UTF-8), CDAM_ERR_NO_MEMORY. */
CDAM_API CDAM_CHECK cdam_status cdam_options_set_env(cdam_options *options, const char *key,
                                                     const char *value, cdam_error *err);

/* The value of a key; NULL without such an entry. */
CDAM_API const char *cdam_options_env(const cdam_options *options, const char *key);

CDAM_API size_t cdam_options_env_count(const cdam_options *options);

/* Entry `index`: key and value (either may be NULL). False out of range; the two are then as
 * they were. */
CDAM_API bool cdam_options_env_at(const cdam_options *options, size_t index, const char **key,
                                  const char **value);

/* Tells whether there was an entry to remove. */
CDAM_API bool cdam_options_remove_env(cdam_options *options, const char *key);

CDAM_API void cdam_options_clear_env(cdam_options *options);

/* ---- network_mode ---- */

/* network_mode: Networking of the sandbox: unset (the engine's default) or none. One of UNSET,
 * NONE. Since 0.1 (schema r2). The value is not checked here but by cdam_options_validate and
 * whatever takes the options. */
CDAM_API void cdam_options_set_network_mode(cdam_options *options, cdam_network_mode network_mode);

/* CDAM_NETWORK_MODE_UNSET when it was never set. */
CDAM_API cdam_network_mode cdam_options_network_mode(const cdam_options *options);

CDAM_END_DECLS

#endif
