/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The isolating options that a container was created with, as a digest in one of its labels. Each
 * option in a state is compared with the container; an option that was taken out of the state is
 * not, and what is missed then is only that digest.
 */
#ifndef COFFERDAM_SESSION_ISOLATION_H
#define COFFERDAM_SESSION_ISOLATION_H

#include <jansson.h>

#include "engine/client_private.h"
#include "options/generated.h"

/*
 * SHA-256 over the isolating options alone, as protobuf's deterministic serialization has them.
 * Fields that are not known do not count: a state with an isolating one has a feature that is not
 * known either, and is refused. So every release finds the same. CDAM_ERR_NO_MEMORY.
 */
cdam_status cdam_isolation_digest(const Cofferdam__V1__SandboxOptions *options,
                                  char digest[CDAM_DIGEST_SIZE], cdam_error *err);

/* A container of ours has the digest of the state's options, or none, as those of earlier releases
 * and adopted ones; or CDAM_ERR_DRIFT. */
cdam_status cdam_check_isolation(const Cofferdam__V1__SessionState *state, const json_t *inspect,
                                 cdam_error *err);

#endif
