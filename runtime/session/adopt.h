/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adoption: a container that somebody else made becomes a session's, on the caller's explicit
 * word.
 *
 * An engine does not change the labels of a container, so what proves from then on that it is
 * ours is its name, cofferdam-adopted-<session id>. A name is unique on its engine, and giving it
 * takes the engine's power, as labelling a new container does.
 */
#ifndef COFFERDAM_SESSION_ADOPT_H
#define COFFERDAM_SESSION_ADOPT_H

#include "session/session.h"

typedef struct cdam_launch cdam_launch;

/* What an adoption knows: a part of a launch. */
typedef struct cdam_adoption cdam_adoption;

/* NULL when out of memory. */
cdam_adoption *cdam_adoption_new(void);

void cdam_adoption_free(cdam_adoption *adoption);

/*
 * The part of a launch, which has an adoption, that comes before a resume. It looks at the
 * container of the session's state. When that is there and not yet ours: verifies it as a reattach
 * would, and also what only a container of ours could be trusted to be; fills in the image's and
 * the engine's id; renames it; and warns of what could not be proved. A container that is missing
 * is left to the resume. Nothing but the name is changed, and that last. Then comes the step
 * `next`; or the launch fails: CDAM_ERR_NOT_OURS (it belongs to another session), CDAM_ERR_DRIFT,
 * CDAM_ERR_PAUSED, the engine's errors.
 */
void cdam_adopt(cdam_launch *launch, cdam_step next);

#endif
