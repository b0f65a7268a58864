/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cofferdam: Docker sandboxes that are resumed as they were created, or not at
 * all. This header brings in the whole public interface:
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
 *   loop.h     the same without blocking, for programs with an event loop
 *   agents_json.h  sessions of the OpenAI Agents SDK, in and out
 *
 * Conventions
 *
 *  - A function that can fail returns cdam_status and takes a cdam_error last.
 *    The error may be NULL. On CDAM_OK it is cleared.
 *  - Out parameters are written on success only; on failure a pointer out
 *    parameter is set to NULL.
 *  - Strings are UTF-8 and end in NUL. Lengths are in bytes, times in
 *    milliseconds unless a name says otherwise.
 *  - What a function returns as `const` belongs to the object it came from and
 *    lives until that object is changed or freed. What it hands out through a
 *    pointer to a non-const pointer belongs to the caller, who frees it with
 *    the function named there. Every `_free` accepts NULL.
 *  - A cdam_client may be used by several threads at once. Every other object
 *    is used by one thread at a time.
 *  - The library never exits, prints, or changes signal handlers, the locale,
 *    the umask or the environment.
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
