/* Made by codegen/generate.py from schema/; not to be edited. Again: ./dev regen */
/* SPDX-License-Identifier: Apache-2.0 */
/* cdam_state: the accessors of what brings a sandbox back. States are made by the library
 * (cdam_session_state, cdam_state_parse). message.h has what concerns a state as a whole.
 *
 * Getters take NULL for an empty state; strings that are not set are "". */
#ifndef COFFERDAM_STATE_H
#define COFFERDAM_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cofferdam/error.h>
#include <cofferdam/export.h>
#include <cofferdam/message.h>
#include <cofferdam/options.h>

CDAM_BEGIN_DECLS

typedef enum cdam_feature {
  /* Since 0.1 (schema r1). */
  CDAM_FEATURE_UNSPECIFIED = 0,

  /* options.network_mode is NONE. Since 0.1 (schema r2). */
  CDAM_FEATURE_NETWORK_ISOLATION = 1,

  /* options.memory_bytes is set. Since 0.1 (schema r3). */
  CDAM_FEATURE_MEMORY = 2,

  /* options.nano_cpus is set. Since 0.1 (schema r3). */
  CDAM_FEATURE_CPUS = 3,

  /* options.pids_limit is set. Since 0.1 (schema r3). */
  CDAM_FEATURE_PIDS_LIMIT = 4,

  /* options.read_only_root is set. Since 0.1 (schema r3). */
  CDAM_FEATURE_READ_ONLY_ROOT = 5,

  /* options.user is set. Since 0.1 (schema r3). */
  CDAM_FEATURE_USER = 6,

  /* options.drop_all_capabilities is set. Since 0.1 (schema r3). */
  CDAM_FEATURE_DROP_ALL_CAPABILITIES = 7,

  /* options.no_new_privileges is set. Since 0.1 (schema r3). */
  CDAM_FEATURE_NO_NEW_PRIVILEGES = 8,

  /* options.runtime is set. Since 0.1 (schema r3). */
  CDAM_FEATURE_RUNTIME = 9,

  /* options.ulimits are set. Since 0.1 (schema r3). */
  CDAM_FEATURE_ULIMITS = 10,

  /* options.deadline is set. Since 0.1 (schema r3). */
  CDAM_FEATURE_DEADLINE = 11
} cdam_feature;

typedef enum cdam_seal_algorithm {
  /* Since 0.1 (schema r1). */
  CDAM_SEAL_ALGORITHM_UNSPECIFIED = 0,

  /* SHA-256: finds damage, not forgery. Since 0.1 (schema r1). */
  CDAM_SEAL_ALGORITHM_SHA256 = 1,

  /* HMAC-SHA-256 with a key that writer and reader share. Since 0.1 (schema r1). */
  CDAM_SEAL_ALGORITHM_HMAC_SHA256 = 2
} cdam_seal_algorithm;

/* schema_revision: The newest schema revision that the writer knew. Required. Since 0.1 (schema
 * r1). */
CDAM_API uint32_t cdam_state_schema_revision(const cdam_state *state);

/* required_features: What a reader must know; derived from the options, and refused when it
 * disagrees. At most 64 items; each once; one of UNSPECIFIED, NETWORK_ISOLATION, MEMORY, CPUS,
 * PIDS_LIMIT, READ_ONLY_ROOT, USER, DROP_ALL_CAPABILITIES, NO_NEW_PRIVILEGES, RUNTIME, ULIMITS,
 * DEADLINE. Since 0.1 (schema r1). */
CDAM_API size_t cdam_state_required_feature_count(const cdam_state *state);

/* Value `index`; 0 out of range. */
CDAM_API cdam_feature cdam_state_required_feature(const cdam_state *state, size_t index);

/* session_id: The sandbox's own identity (a UUID); it stays when the container is recreated.
 * Required; a UUID in lower case. Since 0.1 (schema r1). */
CDAM_API const char *cdam_state_session_id(const cdam_state *state);

/* options: What the sandbox was created with. Required. Since 0.1 (schema r1). NULL only in a
 * state that is not valid. */
CDAM_API const cdam_options *cdam_state_options(const cdam_state *state);

/* image_id: The image that options.image was resolved to. Required; sha256: and 64 hexadecimal
 * digits. Since 0.1 (schema r1). */
CDAM_API const char *cdam_state_image_id(const cdam_state *state);

/* container_id: The full id of the container. Required; 64 hexadecimal digits in lower case.
 * Since 0.1 (schema r1). */
CDAM_API const char *cdam_state_container_id(const cdam_state *state);

/* engine.id: The engine's own id, as GET /info gives it. Printable ASCII without blanks; at most
 * 256 bytes. Since 0.1 (schema r1). */
CDAM_API const char *cdam_state_engine_id(const cdam_state *state);

/* workspace_ready: The caller has filled the workspace of this container; recreating clears it.
 * Since 0.1 (schema r1). */
CDAM_API bool cdam_state_workspace_ready(const cdam_state *state);

/* Sets it. The other fields say what the library knows and cannot be set. */
CDAM_API void cdam_state_set_workspace_ready(cdam_state *state, bool workspace_ready);

/* seal.algorithm: How the digest was made. Required; one of UNSPECIFIED, SHA256, HMAC_SHA256.
 * Since 0.1 (schema r1). */
CDAM_API cdam_seal_algorithm cdam_state_seal_algorithm(const cdam_state *state);

/* seal.key_id: Which key, for HMAC; a name, not a secret. Printable ASCII without blanks; at
 * most 128 bytes. Since 0.1 (schema r1). */
CDAM_API const char *cdam_state_seal_key_id(const cdam_state *state);

/* seal.digest: The 32 bytes of the digest. Required; 32 bytes. Since 0.1 (schema r1). *length
 * (may be NULL) is 0, and the result NULL, where it is not set. */
CDAM_API const unsigned char *cdam_state_seal_digest(const cdam_state *state, size_t *length);

CDAM_END_DECLS

#endif
