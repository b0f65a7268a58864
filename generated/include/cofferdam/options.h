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

typedef enum cdam_profile {
  /* No profile: what is not set is the engine's default. Since 0.1 (schema r3). */
  CDAM_PROFILE_UNSET = 0,

  /* No network, no root, no capabilities, nothing writable but /workspace and /tmp, and limits.
   * Since 0.1 (schema r3). */
  CDAM_PROFILE_HARDENED = 1
} cdam_profile;

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

/* ---- profile ---- */

/* profile: Sets all that is strict and was not set; what was set stays, but no root. One of
 * UNSET, HARDENED. Since 0.1 (schema r3). The value is not checked here but by
 * cdam_options_validate and whatever takes the options. */
CDAM_API void cdam_options_set_profile(cdam_options *options, cdam_profile profile);

/* CDAM_PROFILE_UNSET when it was never set. */
CDAM_API cdam_profile cdam_options_profile(const cdam_options *options);

/* ---- memory_bytes ---- */

/* memory_bytes: Memory of all processes and tmpfs together, swap included; who needs more is
 * killed. 6291456 to 1125899906842624. The lower, the stricter. Since 0.1 (schema r3). The value
 * is not checked here but by cdam_options_validate and whatever takes the options. */
CDAM_API void cdam_options_set_memory_bytes(cdam_options *options, uint64_t memory_bytes);

/* 0 when it was never set. */
CDAM_API uint64_t cdam_options_memory_bytes(const cdam_options *options);

/* ---- nano_cpus ---- */

/* nano_cpus: Processor time in billionths of a processor: 1500000000 is one and a half. 10000000
 * to 1024000000000; a multiple of 10000. The lower, the stricter. Since 0.1 (schema r3). The
 * value is not checked here but by cdam_options_validate and whatever takes the options. */
CDAM_API void cdam_options_set_nano_cpus(cdam_options *options, uint64_t nano_cpus);

/* 0 when it was never set. */
CDAM_API uint64_t cdam_options_nano_cpus(const cdam_options *options);

/* ---- pids_limit ---- */

/* pids_limit: Processes and threads at a time, the sandbox's own two or three among them. 8 to
 * 4194304. The lower, the stricter. Since 0.1 (schema r3). The value is not checked here but by
 * cdam_options_validate and whatever takes the options. */
CDAM_API void cdam_options_set_pids_limit(cdam_options *options, uint32_t pids_limit);

/* 0 when it was never set. */
CDAM_API uint32_t cdam_options_pids_limit(const cdam_options *options);

/* ---- tmpfs ---- */

/* tmpfs: File systems in memory by path, with options such as size=64m,mode=1777,exec. At most
 * 32 entries; key: an absolute path without . and .. and without a slash at its end, 2 to 1024
 * bytes, no ":"; value: words such as size=64m, mode=1777, uid=N, gid=N, nr_inodes=N, ro,
 * noexec, at most 256 bytes. Since 0.1 (schema r3).
 * Puts a copy of an entry, in the place of one with the same key. Entries are kept in the byte
 * order of their keys. CDAM_ERR_ARGUMENT, CDAM_ERR_INVALID (no UTF-8), CDAM_ERR_NO_MEMORY. */
CDAM_API CDAM_CHECK cdam_status cdam_options_set_tmpfs_mount(cdam_options *options, const char *key,
                                                             const char *value, cdam_error *err);

/* The value of a key; NULL without such an entry. */
CDAM_API const char *cdam_options_tmpfs_mount(const cdam_options *options, const char *key);

CDAM_API size_t cdam_options_tmpfs_mount_count(const cdam_options *options);

/* Entry `index`: key and value (either may be NULL). False out of range; the two are then as
 * they were. */
CDAM_API bool cdam_options_tmpfs_mount_at(const cdam_options *options, size_t index,
                                          const char **key, const char **value);

/* Tells whether there was an entry to remove. */
CDAM_API bool cdam_options_remove_tmpfs_mount(cdam_options *options, const char *key);

CDAM_API void cdam_options_clear_tmpfs(cdam_options *options);

/* ---- read_only_root ---- */

/* read_only_root: The root file system cannot be written; a tmpfs can. Since 0.1 (schema r3). */
CDAM_API void cdam_options_set_read_only_root(cdam_options *options, bool read_only_root);

/* False when it was never set. */
CDAM_API bool cdam_options_read_only_root(const cdam_options *options);

/* ---- user ---- */

/* user: Who commands run as where they do not say: USER[:GROUP], names or numbers. USER[:GROUP],
 * names or numbers; 1 to 128 bytes; with a profile UID:GID, neither of them 0, at most 128
 * bytes. Since 0.1 (schema r3).
 * Sets a copy. CDAM_ERR_ARGUMENT, CDAM_ERR_INVALID (no UTF-8), CDAM_ERR_NO_MEMORY. */
CDAM_API CDAM_CHECK cdam_status cdam_options_set_user(cdam_options *options, const char *user,
                                                      cdam_error *err);

/* "" when it was never set. */
CDAM_API const char *cdam_options_user(const cdam_options *options);

/* ---- drop_all_capabilities ---- */

/* drop_all_capabilities: Not even root in the sandbox has a capability. Since 0.1 (schema r3). */
CDAM_API void cdam_options_set_drop_all_capabilities(cdam_options *options,
                                                     bool drop_all_capabilities);

/* False when it was never set. */
CDAM_API bool cdam_options_drop_all_capabilities(const cdam_options *options);

/* ---- no_new_privileges ---- */

/* no_new_privileges: No program gives more privileges than who runs it has (setuid and such).
 * Since 0.1 (schema r3). */
CDAM_API void cdam_options_set_no_new_privileges(cdam_options *options, bool no_new_privileges);

/* False when it was never set. */
CDAM_API bool cdam_options_no_new_privileges(const cdam_options *options);

/* ---- runtime ---- */

/* runtime: The engine's runtime that runs the sandbox, such as runsc. Letters, digits, "_", "."
 * and "-"; 1 to 128 bytes. Since 0.1 (schema r3).
 * Sets a copy. CDAM_ERR_ARGUMENT, CDAM_ERR_INVALID (no UTF-8), CDAM_ERR_NO_MEMORY. */
CDAM_API CDAM_CHECK cdam_status cdam_options_set_runtime(cdam_options *options, const char *runtime,
                                                         cdam_error *err);

/* "" when it was never set. */
CDAM_API const char *cdam_options_runtime(const cdam_options *options);

/* ---- ulimits ---- */

/* ulimits: Limits of each process by name, as SOFT:HARD: nofile=1024:1024. At most 16 entries;
 * key: core, cpu, data, fsize, locks, memlock, msgqueue, nofile, nproc, rss, sigpending or
 * stack, 1 to 16 bytes; value: SOFT:HARD, the first no higher, 3 to 48 bytes. Since 0.1 (schema
 * r3).
 * Puts a copy of an entry, in the place of one with the same key. Entries are kept in the byte
 * order of their keys. CDAM_ERR_ARGUMENT, CDAM_ERR_INVALID (no UTF-8), CDAM_ERR_NO_MEMORY. */
CDAM_API CDAM_CHECK cdam_status cdam_options_set_ulimit(cdam_options *options, const char *key,
                                                        const char *value, cdam_error *err);

/* The value of a key; NULL without such an entry. */
CDAM_API const char *cdam_options_ulimit(const cdam_options *options, const char *key);

CDAM_API size_t cdam_options_ulimit_count(const cdam_options *options);

/* Entry `index`: key and value (either may be NULL). False out of range; the two are then as
 * they were. */
CDAM_API bool cdam_options_ulimit_at(const cdam_options *options, size_t index, const char **key,
                                     const char **value);

/* Tells whether there was an entry to remove. */
CDAM_API bool cdam_options_remove_ulimit(cdam_options *options, const char *key);

CDAM_API void cdam_options_clear_ulimits(cdam_options *options);

/* ---- hostname ---- */

/* hostname: What the sandbox calls itself. A host name; 1 to 63 bytes. Since 0.1 (schema r3).
 * Sets a copy. CDAM_ERR_ARGUMENT, CDAM_ERR_INVALID (no UTF-8), CDAM_ERR_NO_MEMORY. */
CDAM_API CDAM_CHECK cdam_status cdam_options_set_hostname(cdam_options *options,
                                                          const char *hostname, cdam_error *err);

/* "" when it was never set. */
CDAM_API const char *cdam_options_hostname(const cdam_options *options);

/* ---- platform ---- */

/* platform: What the image must be made for, as os/architecture[/variant]: linux/arm64.
 * Os/architecture[/variant]; 3 to 64 bytes. Since 0.1 (schema r3).
 * Sets a copy. CDAM_ERR_ARGUMENT, CDAM_ERR_INVALID (no UTF-8), CDAM_ERR_NO_MEMORY. */
CDAM_API CDAM_CHECK cdam_status cdam_options_set_platform(cdam_options *options,
                                                          const char *platform, cdam_error *err);

/* "" when it was never set. */
CDAM_API const char *cdam_options_platform(const cdam_options *options);

/* ---- workspace ---- */

/* workspace: The directory of the sandbox's files, in which commands run: /workspace unless set.
 * An absolute path without . and .. and without a slash at its end; 1 to 1024 bytes. Since 0.1
 * (schema r3).
 * Sets a copy. CDAM_ERR_ARGUMENT, CDAM_ERR_INVALID (no UTF-8), CDAM_ERR_NO_MEMORY. */
CDAM_API CDAM_CHECK cdam_status cdam_options_set_workspace(cdam_options *options,
                                                           const char *workspace, cdam_error *err);

/* "" when it was never set. */
CDAM_API const char *cdam_options_workspace(const cdam_options *options);

/* ---- deadline ---- */

/* deadline: When the sandbox ends for good, in seconds since 1970; it is not brought back after
 * that. 1 to 253402300799. The lower, the stricter. Since 0.1 (schema r3). The value is not
 * checked here but by cdam_options_validate and whatever takes the options. */
CDAM_API void cdam_options_set_deadline(cdam_options *options, uint64_t deadline);

/* 0 when it was never set. */
CDAM_API uint64_t cdam_options_deadline(const cdam_options *options);

CDAM_END_DECLS

#endif
