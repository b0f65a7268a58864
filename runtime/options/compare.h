/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparing what inspect shows with what the state says. Generated code is made of these.
 *
 * Each function looks at one place of the answer of GET /containers/{id}/json and returns CDAM_OK
 * or CDAM_ERR_DRIFT. Absent, null and odd types are drift wherever the comparison does not say
 * otherwise. A NULL `expected` is drift as well. Values of env are never shown.
 */
#ifndef COFFERDAM_OPTIONS_COMPARE_H
#define COFFERDAM_OPTIONS_COMPARE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options/fields.h"

typedef enum cdam_compare {
  CDAM_COMPARE_EXACT,          /* there, of the right type, equal */
  CDAM_COMPARE_SUBSET,         /* all that is expected is there; there may be more */
  CDAM_COMPARE_ABSENT_OR_EQUAL /* absent, null or equal */
} cdam_compare;

cdam_status cdam_compare_string(const json_t *inspect, const char *path, const char *expected,
                                cdam_compare how, cdam_error *err);
cdam_status cdam_compare_bool(const json_t *inspect, const char *path, bool expected,
                              cdam_compare how, cdam_error *err);
cdam_status cdam_compare_uint(const json_t *inspect, const char *path, uint64_t expected,
                              cdam_compare how, cdam_error *err);

/* EXACT: the same items in the same order. SUBSET: every item is there. */
cdam_status cdam_compare_strings(const json_t *inspect, const char *path, char *const *items,
                                 size_t count, cdam_compare how, cdam_error *err);
cdam_status cdam_compare_uints(const json_t *inspect, const char *path, const uint32_t *items,
                               size_t count, cdam_compare how, cdam_error *err);

/* EXACT: the same pairs. SUBSET: every pair is there. */
cdam_status cdam_compare_object(const json_t *inspect, const char *path, const cdam_map *expected,
                                cdam_compare how, cdam_error *err);

/* "KEY=VALUE" for every pair, and no other item with such a key. */
cdam_status cdam_compare_env(const json_t *inspect, const char *path, const cdam_map *expected,
                             cdam_error *err);

/* {"80/tcp": {}} and {"80/tcp": [{"HostIp": "127.0.0.1", ...}]}: every port is there, and bound to
 * 127.0.0.1 only. An engine may leave out the ports of a container without a network (Podman). */
cdam_status cdam_compare_port_set(const json_t *inspect, const char *path, const uint32_t *ports,
                                  size_t count, cdam_error *err);
cdam_status cdam_compare_port_bindings(const json_t *inspect, const char *path,
                                       const uint32_t *ports, size_t count, cdam_error *err);

/* A Networks map that is there, and that has no entry (Podman) or only the one called `network`,
 * without address, gateway or MAC. */
cdam_status cdam_compare_only_network(const json_t *inspect, const char *path, const char *network,
                                      cdam_error *err);

/* What the engine resolved something to: equal to `expected`, with or without the "sha256:" that
 * Podman leaves out. */
cdam_status cdam_compare_resolved(const json_t *inspect, const char *path, const char *expected,
                                  cdam_error *err);

/* A label that is there and says the text, or the number in decimal. */
cdam_status cdam_compare_label(const json_t *inspect, const char *path, const char *key,
                               const char *expected, cdam_error *err);
cdam_status cdam_compare_label_uint(const json_t *inspect, const char *path, const char *key,
                                    uint64_t expected, cdam_error *err);

/* ---- limits and hardening: compare_limits.c ---- */

/* A list that drops "ALL" (Docker), or each capability that an engine gives by itself (Podman,
 * which spells them out); and none is added, beside it. */
cdam_status cdam_compare_no_capabilities(const json_t *inspect, const char *path, cdam_error *err);

/* A list that is not empty and says nothing but no-new-privileges, in either spelling. */
cdam_status cdam_compare_no_new_privileges(const json_t *inspect, const char *path,
                                           cdam_error *err);

/* Every path is there, with every word that was asked for and none against it. */
cdam_status cdam_compare_tmpfs(const json_t *inspect, const char *path, const cdam_map *expected,
                               cdam_error *err);

/* Every limit is there once with both its values, as "nofile" or "RLIMIT_NOFILE". */
cdam_status cdam_compare_ulimits(const json_t *inspect, const char *path, const cdam_map *expected,
                                 cdam_error *err);

/* ---- of an image: compare_platform.c ---- */

/* Os, Architecture and, when it was asked for, Variant of GET /images/{name}/json. Drift is told
 * about `field`. */
cdam_status cdam_compare_image_platform(const json_t *image, const char *field,
                                        const char *expected, cdam_error *err);

#endif
