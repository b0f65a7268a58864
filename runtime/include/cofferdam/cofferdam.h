/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cofferdam: Docker sandboxes that are resumed as they were created, or not at
 * all. This header brings in the whole public interface; a program begins with client.h,
 * options.h and session.h:
 *
 *   error.h    status codes and cdam_error
 *   options.h  cdam_options: what a sandbox is created with   (generated)
 *   state.h    cdam_state: what brings it back                (generated)
 *   message.h  what options and states have in common: bytes, files, JSON, keys
 *   client.h   cdam_client: one engine, and the caller's policy
 *   session.h  create, resume, exec, stop, delete, list
 *   process.h  processes and terminals in a sandbox, while they run
 *   file.h     files in a sandbox's workspace; stream.h: where bytes come from and go
 *   tree.h     directory trees, into a sandbox and out of it
 *   reap.h     removes sandboxes whose deadline has passed
 *   loop.h     the same without blocking, for programs with an event loop
 *   agents_json.h  sessions of the OpenAI Agents SDK, in and out
 *   version.h  the version of the library and of the schema
 *
 * Conventions
 *
 *  - A function that can fail returns cdam_status and takes a cdam_error last.
 *    The error may be NULL. On CDAM_OK it is cleared.
 *  - Where the errors of a function are listed, CDAM_ERR_ARGUMENT (a NULL that must not be one,
 *    say) and CDAM_ERR_NO_MEMORY go without saying. "The engine's errors" are CDAM_ERR_CONNECT,
 *    CDAM_ERR_TIMEOUT, CDAM_ERR_PROTOCOL, CDAM_ERR_ENGINE and CDAM_ERR_API_VERSION.
 *  - Out parameters are written on success only, where nothing else is said; on failure a
 *    pointer out parameter is set to NULL.
 *  - Strings are UTF-8 and end in NUL. Lengths are in bytes, times in milliseconds where
 *    nothing else is said.
 *  - What a function returns as `const` belongs to the object it came from and
 *    lives until that object is changed or freed. What it hands out through a
 *    pointer to a non-const pointer belongs to the caller, who frees it with
 *    the function named there. Every `_free` accepts NULL, and is as
 *    old as what it frees.
 *  - What only looks at an object accepts NULL as well, and finds 0, false, "" or NULL.
 *  - A cdam_client and a cdam_key may be used by several threads at once. Every other object
 *    is used by one thread at a time.
 *  - The library never exits, prints, raises SIGPIPE, or changes signal handlers, the locale,
 *    the umask or the environment. Only libarchive may end the process, in the calls with tar
 *    archives (tree.h).
 */
#ifndef COFFERDAM_COFFERDAM_H
#define COFFERDAM_COFFERDAM_H

#include <cofferdam/agents_json.h>
#include <cofferdam/client.h>
#include <cofferdam/error.h>
#include <cofferdam/file.h>
#include <cofferdam/loop.h>
#include <cofferdam/message.h>
#include <cofferdam/options.h>
#include <cofferdam/process.h>
#include <cofferdam/reap.h>
#include <cofferdam/session.h>
#include <cofferdam/state.h>
#include <cofferdam/stream.h>
#include <cofferdam/tree.h>
#include <cofferdam/version.h>

#endif
