/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same operations without blocking, for programs that have an event loop: one thread can drive
 * hundreds of sandboxes with commands in flight.
 *
 *     cdam_loop_new(client, &loop, &err);
 *     cdam_create_start(loop, options, created, user, NULL, &err);
 *     ...
 *     struct pollfd ready = {.fd = cdam_loop_fd(loop), .events = POLLIN};
 *     while (cdam_loop_dispatch(loop)) poll(&ready, 1, -1);
 *
 * cdam_loop_fd is one descriptor that becomes readable when there is something to do, timeouts
 * included: put it into poll, epoll, libuv (uv_poll_t), libevent, or GLib, level-triggered, and
 * call cdam_loop_dispatch when it is readable. Nothing else is needed, no timeout and no thread.
 *
 * Starting
 *
 *   Each blocking call that talks to the engine has a _start, but those on a process or a watch
 *   that is there, which do not wait in a loop (process.h, file.h), and the archives of tree.h.
 *   A _start checks its arguments as the blocking call does, copies all of them (but not what
 *   sources and sinks point to), and returns; nothing is sent, and no callback runs, before the
 *   next cdam_loop_dispatch. When it returns an error there is no operation and no callback.
 *   Otherwise the callback runs exactly once, in a cdam_loop_dispatch (or in cdam_loop_free).
 *   `user` is handed to it and not looked at.
 *
 * Callbacks
 *
 *   They get the status and the error of the blocking call and, on CDAM_OK, what it hands out,
 *   which belongs to the callback's side from then on; otherwise that is NULL. `err` lives until
 *   the callback returns. A callback may start operations, cancel others, and free anything:
 *   sessions, results, also the loop (which then goes when the dispatch returns), but not the
 *   client. It should not block, for the loop waits meanwhile; the blocking calls do work there.
 *
 * What belongs to whom
 *
 *   A client must outlive its loops. A session may be freed, or used by other calls, while commands
 *   that were started on it are under way: they go on. Options, states, commands and their strings
 *   may be freed as soon as _start has returned.
 *
 * Threads
 *
 *   A loop, its operations, and the sessions that it hands out are used by one thread at a time.
 *   A client may have many loops, in different threads, and blocking calls beside them.
 *   No function wakes a loop from another thread: do that in the program's own loop.
 *
 * A dispatch never waits. It does what is there for about a millisecond and leaves the rest to the
 * next one; longer than that takes only what cannot be divided, such as reading one answer. A TLS
 * handshake is the client's CPU time, and reads the certificates.
 */
#ifndef COFFERDAM_LOOP_H
#define COFFERDAM_LOOP_H

#include <stddef.h>
#include <stdint.h>

#include <cofferdam/client.h>
#include <cofferdam/error.h>
#include <cofferdam/export.h>
#include <cofferdam/message.h>
#include <cofferdam/session.h>

CDAM_BEGIN_DECLS

/* Operations under way and their connections. Opaque. */
typedef struct cdam_loop cdam_loop;

/* An operation under way. It belongs to its loop, and lives until its callback has returned. */
typedef struct cdam_operation cdam_operation;

/* A loop without operations. It has connections and descriptors of its own. Free with
 * cdam_loop_free. CDAM_ERR_ARGUMENT, CDAM_ERR_NO_MEMORY (also when descriptors are used up). Since
 * 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_loop_new(cdam_client *client, cdam_loop **out,
                                              cdam_error *err);

/*
 * Ends a loop. It does not wait: operations under way end at once, their callbacks run with
 * CDAM_ERR_CANCELLED, and nothing is undone. What a create had made stays on the engine, where
 * cdam_list shows it. The agents notice that their client has gone, and end what was not asked to
 * outlive it; a command without the agent runs on, but processes without it (process.h) are ended,
 * and that is waited for. To end in order, cancel the operations and
 * dispatch until none is pending. In a callback of this loop it only begins: the dispatch that
 * called it ends the loop, starts nothing more, and returns 0. Since 0.1.
 */
CDAM_API void cdam_loop_free(cdam_loop *loop);

/* The descriptor: readable when cdam_loop_dispatch has something to do. It is an epoll set and
 * belongs to the loop: only wait for it. Since 0.1. */
CDAM_API int cdam_loop_fd(const cdam_loop *loop);

/* Does what there is to do, without waiting, and runs callbacks. How many operations are still
 * pending; 0 when the loop was freed. Inside a callback it does nothing. Since 0.1. */
CDAM_API size_t cdam_loop_dispatch(cdam_loop *loop);

/* How many operations were started and have not had their callbacks. Since 0.1. */
CDAM_API size_t cdam_loop_pending(const cdam_loop *loop);

/* How many connections the loop may have at a time, idle ones included: 512 at first, 4 at least.
 * Each request has one while it waits for its answer; a session whose sandbox has the agent keeps
 * one, for all that it does, from its first use in this loop (from its creation here, while half of
 * them are free) until it is freed; without the agent each command has one as long as it runs. What
 * has none waits for its turn; such streams leave an eighth for the rest. To have more, raise
 * RLIMIT_NOFILE as well. Since 0.1. */
CDAM_API void cdam_loop_set_max_connections(cdam_loop *loop, unsigned count);

/*
 * Cancels an operation. Its callback runs later, as for any other end, with CDAM_ERR_CANCELLED
 * unless the operation was over first or fails otherwise. What it did is undone before that, as far
 * as it can be:
 *
 *   create, resume   as after a failure: a container that it made is removed, one that it started
 *                    is stopped again. A request that the engine is at is not interrupted; its
 *                    answer is waited for
 *   exec, spawn      the command is ended as at its deadline; the message tells when it
 *                    may still be running
 *   file changes     the agent's answer is waited for; what was written by replacing or creating
 *                    is the old file or the whole new one, and of others what was done stays
 *   trees            it stops at once; what was made stays
 *   stop, delete,    the engine may go on with it; what was reaped stays so
 *   reap
 *   others           nothing was changed
 *
 * An error that is being cleaned up after is told rather than the cancelling. NULL, and one whose
 * callback runs now, are fine. Since 0.1.
 */
CDAM_API void cdam_cancel(cdam_operation *operation);

/* ---- callbacks ---- */

/* Of what hands nothing out. */
typedef void (*cdam_done_callback)(void *user, cdam_status status, const cdam_error *err);

/* `version` lives as long as the client. */
typedef void (*cdam_ping_callback)(void *user, cdam_status status, const char *version,
                                   const cdam_error *err);

/* Of cdam_create_start and cdam_resume_start. Free with cdam_session_free. */
typedef void (*cdam_session_callback)(void *user, cdam_status status, cdam_session *session,
                                      const cdam_error *err);

/* Free with cdam_exec_result_free. */
typedef void (*cdam_exec_callback)(void *user, cdam_status status, cdam_exec_result *result,
                                   const cdam_error *err);

/* Free `host` with free(). */
typedef void (*cdam_port_callback)(void *user, cdam_status status, char *host, uint16_t host_port,
                                   const cdam_error *err);

/* Free with cdam_list_free. */
typedef void (*cdam_list_callback)(void *user, cdam_status status, cdam_sandbox_list *list,
                                   const cdam_error *err);

/* ---- operations ----
 *
 * Each is described at the blocking call of the same name. `operation` may be NULL when it will not
 * be cancelled. CDAM_ERR_ARGUMENT (NULL; a session of another client than the loop's; a loop that
 * is being freed), CDAM_ERR_NO_MEMORY, and what the blocking call says before the engine is
 * touched. A pull's progress is told in cdam_loop_dispatch. Since 0.1.
 */
CDAM_API CDAM_CHECK cdam_status cdam_client_ping_start(cdam_loop *loop, cdam_ping_callback callback,
                                                       void *user, cdam_operation **operation,
                                                       cdam_error *err);

CDAM_API CDAM_CHECK cdam_status cdam_create_start(cdam_loop *loop, const cdam_options *options,
                                                  cdam_session_callback callback, void *user,
                                                  cdam_operation **operation, cdam_error *err);

CDAM_API CDAM_CHECK cdam_status cdam_resume_start(cdam_loop *loop, const cdam_state *state,
                                                  const cdam_resume_flags *flags,
                                                  cdam_session_callback callback, void *user,
                                                  cdam_operation **operation, cdam_error *err);

/* The command's timeout counts from this call. */
CDAM_API CDAM_CHECK cdam_status cdam_exec_start(cdam_loop *loop, cdam_session *session,
                                                const cdam_exec_command *command,
                                                cdam_exec_callback callback, void *user,
                                                cdam_operation **operation, cdam_error *err);

CDAM_API CDAM_CHECK cdam_status cdam_session_resolve_port_start(
    cdam_loop *loop, cdam_session *session, uint32_t port, cdam_port_callback callback, void *user,
    cdam_operation **operation, cdam_error *err);

CDAM_API CDAM_CHECK cdam_status cdam_session_stop_start(cdam_loop *loop, cdam_session *session,
                                                        unsigned grace_ms,
                                                        cdam_done_callback callback, void *user,
                                                        cdam_operation **operation,
                                                        cdam_error *err);

CDAM_API CDAM_CHECK cdam_status cdam_delete_start(cdam_loop *loop, const cdam_state *state,
                                                  cdam_done_callback callback, void *user,
                                                  cdam_operation **operation, cdam_error *err);

CDAM_API CDAM_CHECK cdam_status cdam_list_start(cdam_loop *loop, cdam_list_callback callback,
                                                void *user, cdam_operation **operation,
                                                cdam_error *err);

CDAM_END_DECLS

#endif
