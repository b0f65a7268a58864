/* SPDX-License-Identifier: Apache-2.0 */
/* Sandboxes on an engine: create, resume, exec, ports, stop, delete, list. */
#ifndef COFFERDAM_SESSION_H
#define COFFERDAM_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cofferdam/client.h>
#include <cofferdam/error.h>
#include <cofferdam/export.h>
#include <cofferdam/message.h>
#include <cofferdam/stream.h>

CDAM_BEGIN_DECLS

/* A running sandbox and its state. Opaque. It borrows its client. Used by one
 * thread at a time. Freeing it leaves the sandbox running. */
typedef struct cdam_session cdam_session;

/*
 * Creates a sandbox: validates the options and the client's policy, makes sure of
 * the image (pulls one that is absent), creates and starts a container, and
 * verifies by inspect that it is what was asked for before handing it out. On
 * failure no container is left behind; should the engine finish one more than ten
 * seconds after it let the deadline pass, the error's message names it. `options` is
 * copied.
 *
 * Free with cdam_session_free. CDAM_ERR_INVALID, CDAM_ERR_POLICY and CDAM_ERR_EXPIRED (a
 * deadline in the past) before the engine is touched; CDAM_ERR_NOT_FOUND and CDAM_ERR_PULL for
 * the image; CDAM_ERR_NO_AGENT where the client insists on one; CDAM_ERR_DRIFT when the engine
 * did not do as told; CDAM_ERR_EXITED; the engine's errors. Since 0.1.
 */
CDAM_API CDAM_CHECK cdam_status cdam_create(cdam_client *client, const cdam_options *options,
                                            cdam_session **out, cdam_error *err);

/* What cdam_resume may do beyond looking. Start with {0}: nothing. */
typedef struct cdam_resume_flags {
  bool unpause;       /* a paused container is unpaused; otherwise CDAM_ERR_PAUSED */
  bool reattach_only; /* a missing container is not recreated: CDAM_ERR_NOT_FOUND */
  bool adopt;         /* a container that is not ours becomes ours; see cdam_resume */
  bool reserved[13];  /* false */
} cdam_resume_flags;

/*
 * Resumes a sandbox from its state. The state is validated, and the client's
 * policy applied, before the engine is touched. Then:
 *
 *  - The container is there and as the state says: reattached (started if it was
 *    stopped, and then verified again).
 *  - It is there and different: CDAM_ERR_DRIFT, or CDAM_ERR_NOT_OURS for somebody
 *    else's container. Nothing on the engine is changed.
 *  - It is missing: recreated from the options in the state, verified, and
 *    handed out with a new container_id and workspace_ready false. When another
 *    resume of the same state did so first, its container is verified and adopted.
 *
 * `adopt` is for a state that was imported (agents_json.h), whose container somebody else made. It
 * is verified as any other; also that its own process only waits, that it reaches no more of its
 * host than a container of ours, and that it belongs to no other session. Then it is renamed
 * "cofferdam-adopted-<session id>", which proves from then on that it is ours, as the label does
 * elsewhere; the state gets the image's and the engine's id, and the warnings say what could not be
 * proved. Nothing else is changed. Without `adopt` such a container is CDAM_ERR_NOT_OURS. For one
 * that is ours already the flag changes nothing. One that is missing is recreated, from the image
 * that has the name now, and is ours.
 *
 * `state` is copied and never changed; cdam_session_state is the new one. `flags`
 * may be NULL. Free with cdam_session_free. The errors of cdam_create, and
 * CDAM_ERR_PAUSED, CDAM_ERR_UNSUPPORTED (the options hold fields that this library
 * does not know, and recreating would lose them), CDAM_ERR_OTHER_ENGINE (missing,
 * and this is not the engine it was created on). Since 0.1.
 */
CDAM_API CDAM_CHECK cdam_status cdam_resume(cdam_client *client, const cdam_state *state,
                                            const cdam_resume_flags *flags, cdam_session **out,
                                            cdam_error *err);

/* Ends the use of a session. The sandbox stays as it is on the engine, and processes that were
 * spawned go on as long as their handles live. NULL is fine. Since 0.1. */
CDAM_API void cdam_session_free(cdam_session *session);

/* The state as it is now; keep it (cdam_state_save) to resume the sandbox later.
 * Belongs to the session. Since 0.1. */
CDAM_API const cdam_state *cdam_session_state(const cdam_session *session);

/* Tells whether cdam_resume had to make a new container. Since 0.1. */
CDAM_API bool cdam_session_was_recreated(const cdam_session *session);

/* Tells whether cdam_resume adopted the container. Since 0.1. */
CDAM_API bool cdam_session_was_adopted(const cdam_session *session);

/* Tells whether the sandbox runs our agent (client.h, cdam_agent_policy). One that was adopted, or
 * made without it, does not. Since 0.1. */
CDAM_API bool cdam_session_has_agent(const cdam_session *session);

/* Records in the state whether the caller has filled the workspace. Since 0.1. */
CDAM_API void cdam_session_set_workspace_ready(cdam_session *session, bool ready);

/* What the caller should know although nothing failed: options that make each
 * other useless, warnings from the engine. NULL for an index out of range.
 * Belongs to the session. Since 0.1. */
CDAM_API size_t cdam_session_warning_count(const cdam_session *session);
CDAM_API const char *cdam_session_warning(const cdam_session *session, size_t index);

/* ---- exec ---- */

/* A command. Set what is needed after `cdam_exec_command c = {0}`. Everything is
 * borrowed for the call. */
typedef struct cdam_exec_command {
  const char *const *argv;      /* ends in NULL; argv[0] is the program. Required */
  const char *const *env;       /* "KEY=VALUE", ends in NULL; on top of the sandbox's; or NULL */
  const char *user;             /* "uid[:gid]" or a name in the image; or NULL */
  const char *workdir;          /* absolute; or NULL */
  int64_t timeout_ms;           /* from the call; 0: no deadline */
  size_t output_cap;            /* bytes kept of each of stdout and stderr; 0: 1 MiB */
  const cdam_source *input;     /* its standard input; or NULL: /dev/null. Since 0.1 */
  const cdam_sink *stdout_sink; /* gets its output as it comes, and nothing is kept; or NULL */
  const cdam_sink *stderr_sink;
  uintptr_t flags;   /* CDAM_EXEC_KEEP_TAIL; or 0 */
  void *reserved[4]; /* NULL */
} cdam_exec_command;

/* Of output beyond the cap the last bytes are kept instead of the first. Since 0.1. */
#define CDAM_EXEC_KEEP_TAIL 1u

/* What became of a command. Opaque. Free with cdam_exec_result_free. */
typedef struct cdam_exec_result cdam_exec_result;

/*
 * Runs a command in the sandbox and waits for its end. That the command fails is no
 * error: see cdam_exec_result_exit_code. Output beyond the cap is read and counted
 * but not kept.
 *
 * At the deadline everything that descends from the command is ended, also what called setsid:
 * TERM, and KILL a moment later. When it is gone the call returns CDAM_OK with
 * cdam_exec_result_timed_out. The same happens when a source or sink fails (CDAM_ERR_IO). When this
 * program dies the command is ended too; for one that lives on see <cofferdam/process.h>.
 *
 * Without a deadline the call waits as long as the command runs, silent or not; but that it was
 * started, or could not be, the agent has to say within the client's timeout (CDAM_ERR_AGENT).
 * Processes that the command leaves running do not keep the call: it returns half a second after
 * the command has ended and its output has become silent.
 *
 * A sandbox without the agent (cdam_session_has_agent) runs commands by the engine's exec. There
 *  - a command takes a hundred times as long to start;
 *  - ending it needs a shell in the image, finds what it started by the variable COFFERDAM_EXEC_ID
 *    in their environment, by their parents and by their sessions, and may fail:
 *    cdam_exec_result_still_running, or the message of the error;
 *  - it may go on when this program dies or the connection to the engine is lost;
 *  - `workdir` NULL is the image's, and texts must be UTF-8;
 *  - why a program could not be started goes into its sinks as well;
 *  - what a signal ended cannot be told from an exit status above 128.
 *
 * CDAM_ERR_ARGUMENT, CDAM_ERR_NOT_FOUND (the container is gone), CDAM_ERR_PAUSED,
 * CDAM_ERR_EXITED (it is stopped), CDAM_ERR_EXEC, CDAM_ERR_AGENT, CDAM_ERR_LIMIT, CDAM_ERR_IO,
 * CDAM_ERR_PROTOCOL (the stream was cut), the engine's errors. Since 0.1.
 */
CDAM_API CDAM_CHECK cdam_status cdam_exec(cdam_session *session, const cdam_exec_command *command,
                                          cdam_exec_result **out, cdam_error *err);

CDAM_API void cdam_exec_result_free(cdam_exec_result *result);

/* The exit status, 0 to 255; 126 or 127 with cdam_exec_result_not_started when the
 * program could not be started; 128+N after signal N, as the engine gives it; -1
 * after a timeout. Since 0.1. */
CDAM_API int cdam_exec_result_exit_code(const cdam_exec_result *result);

/* The program could not be started; stderr says why. Since 0.1. */
CDAM_API bool cdam_exec_result_not_started(const cdam_exec_result *result);

/* The deadline passed. Since 0.1. */
CDAM_API bool cdam_exec_result_timed_out(const cdam_exec_result *result);

/* The signal that ended it, or 0. Known with the agent only. Since 0.1. */
CDAM_API int cdam_exec_result_signal(const cdam_exec_result *result);

/* It failed, and the kernel killed something for memory in the sandbox while it ran. Known with the
 * agent only. Since 0.1. */
CDAM_API bool cdam_exec_result_out_of_memory(const cdam_exec_result *result);

/* The deadline passed and the command could not be killed. Since 0.1. */
CDAM_API bool cdam_exec_result_still_running(const cdam_exec_result *result);

/* What is kept of an output, with a NUL behind it that `length` (may be NULL)
 * does not count. Any bytes at all. Since 0.1. */
CDAM_API const char *cdam_exec_result_stdout(const cdam_exec_result *result, size_t *length);
CDAM_API const char *cdam_exec_result_stderr(const cdam_exec_result *result, size_t *length);

/* How many bytes the command wrote, kept or not. Since 0.1. */
CDAM_API uint64_t cdam_exec_result_stdout_total(const cdam_exec_result *result);
CDAM_API uint64_t cdam_exec_result_stderr_total(const cdam_exec_result *result);

/* It wrote more than was kept. Never with a sink. Since 0.1. */
CDAM_API bool cdam_exec_result_stdout_truncated(const cdam_exec_result *result);
CDAM_API bool cdam_exec_result_stderr_truncated(const cdam_exec_result *result);

/* ---- ports ---- */

/*
 * Where an exposed port can be reached: the host's address in *host (free with
 * free()) and its port in *host_port. CDAM_ERR_ARGUMENT (not among the options'
 * exposed_ports), CDAM_ERR_NOT_FOUND (not published; the message says why, such as
 * a sandbox without a network), CDAM_ERR_EXITED, the engine's errors. Since 0.1.
 */
CDAM_API CDAM_CHECK cdam_status cdam_session_resolve_port(cdam_session *session, uint32_t port,
                                                          char **host, uint16_t *host_port,
                                                          cdam_error *err);

/* ---- the end ---- */

/* Stops the container, which stays; cdam_resume starts it again. `grace_ms` is the
 * time between SIGTERM and SIGKILL, rounded up to seconds. Already stopped is
 * success. CDAM_ERR_NOT_FOUND, the engine's errors. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_session_stop(cdam_session *session, unsigned grace_ms,
                                                  cdam_error *err);

/* Deletes the sandbox of a state: its container, running or not. One that is already
 * gone is success. Only a container that bears this session's labels, or was adopted, is deleted;
 * otherwise CDAM_ERR_NOT_OURS. A drifted one is deleted too.
 * CDAM_ERR_INVALID, CDAM_ERR_NOT_OURS, the engine's errors. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_delete(cdam_client *client, const cdam_state *state,
                                            cdam_error *err);

/* ---- list ---- */

/* The sandboxes of an engine at one moment. Opaque. Free with cdam_list_free. */
typedef struct cdam_sandbox_list cdam_sandbox_list;

/* All containers, running or not, that bear our labels; adopted ones bear none. The engine's
 * errors. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_list(cdam_client *client, cdam_sandbox_list **out,
                                          cdam_error *err);

CDAM_API void cdam_list_free(cdam_sandbox_list *list);

CDAM_API size_t cdam_list_count(const cdam_sandbox_list *list);

/* Of entry `index`; NULL or 0 out of range. `status` is Docker's word: created,
 * running, paused, restarting, removing, exited, dead. `created` is in seconds since the
 * epoch. Strings belong to the list. Since 0.1. */
CDAM_API const char *cdam_list_session_id(const cdam_sandbox_list *list, size_t index);
CDAM_API const char *cdam_list_container_id(const cdam_sandbox_list *list, size_t index);
CDAM_API const char *cdam_list_image(const cdam_sandbox_list *list, size_t index);
CDAM_API const char *cdam_list_status(const cdam_sandbox_list *list, size_t index);
CDAM_API int64_t cdam_list_created(const cdam_sandbox_list *list, size_t index);

CDAM_END_DECLS

#endif
