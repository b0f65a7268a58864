/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of states share. */
#ifndef COFFERDAM_STATE_STATE_H
#define COFFERDAM_STATE_STATE_H

#include <cofferdam/message.h>

/* Everything that can be said of the bytes before a message is made of them. The seal comes
 * before all that looks at content. CDAM_ERR_MALFORMED, CDAM_ERR_SEAL, CDAM_ERR_NO_MEMORY. */
cdam_status cdam_state_check_bytes(const unsigned char *bytes, size_t length, const cdam_key *key,
                                   cdam_error *err);

#endif
