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

/*
 * Looks at the container of the session's state. When it is there and not yet ours: verifies it as
 * a reattach would, and also what only a container of ours could be trusted to be; fills in
 * the image's and the engine's id; renames it; and warns of what could not be proved. A
 * container that is missing is left to the resume. Nothing but the name is changed, and that last.
 * CDAM_ERR_NOT_OURS (it belongs to another session), CDAM_ERR_DRIFT, CDAM_ERR_PAUSED, the engine's
 * errors.
 */
cdam_status cdam_adopt(cdam_session *session, const cdam_resume_flags *flags, cdam_error *err);

#endif
