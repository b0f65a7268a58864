/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes in a sandbox, while they run: output as it comes, input, signals, terminals; and
 * processes that outlive their client. For a command whose output is collected, cdam_exec
 * (session.h) is shorter.
 *
 *     cdam_process_command command = {.argv = argv, .input = true};
 *     cdam_process_spawn(session, &command, &process, &err);
 *     cdam_process_write(process, "hello\n", 6, &err);
 *     cdam_process_end_input(process, &err);
 *     cdam_process_event event;
 *     do {
 *       cdam_process_next(process, -1, &event, &err);
 *       if (event.kind == CDAM_PROCESS_OUTPUT) fwrite(event.bytes, 1, event.length, stdout);
 *     } while (event.kind != CDAM_PROCESS_CLOSED);
 *
 * A sandbox without the agent (cdam_session_has_agent) runs processes by the engine's exec. There
 *  - a start takes a hundred times as long, and each process has a connection to the engine;
 *  - limits, outlive, retain, no_new_privileges, kill_rest and clear_env are CDAM_ERR_NO_AGENT,
 *    which names the member; so are texts that are not UTF-8, cdam_process_attach, cdam_processes
 *    and cdam_process_forget. The key is "" and the number 0. `workdir` NULL is the image's;
 *  - signals, the end by cdam_process_kill, by cdam_process_free and at the timeout need a shell in
 *    the image, which runs as the command's user. It finds what belongs to the process by the
 *    variable COFFERDAM_EXEC_ID in its environment, by parents and by sessions; what hides from all
 *    three is missed. Where there is no shell, CDAM_ERR_NO_AGENT. All of these wait for it, up to
 *    ten seconds beyond the grace; in a loop they are sent, their errors are not told, and
 *    cdam_loop_pending counts them until they are done;
 *  - the timeout is looked at only while the process's loop runs: of a blocking handle, during
 *    calls with it or its session. When the process cannot be ended, cdam_process_next says so;
 *  - it goes on when this program dies or the connection to the engine is lost;
 *  - an exit has a code and `ended_by`; what a signal ended has 128+N as its code, and of the rest
 *    nothing is known. It is seen when the output ends, and within half a minute when something
 *    else holds the output;
 *  - nobody tells that the input is broken: what is written then may wait until the process ends;
 *  - engines before API 1.42 set the size of a terminal a moment after the program has started;
 *  - with join_stderr the two streams meet in this program, and their order is the engine's.
 */
#ifndef COFFERDAM_PROCESS_H
#define COFFERDAM_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cofferdam/error.h>
#include <cofferdam/export.h>
#include <cofferdam/loop.h>
#include <cofferdam/session.h>

CDAM_BEGIN_DECLS

/* A process that was spawned or attached to. Opaque. Used by one thread at a time, the one that
 * uses its session or loop. It may outlive its session, not its client. */
typedef struct cdam_process cdam_process;

/* Limits for one process, as setrlimit(2) has them. `resource` is Linux's number (RLIMIT_NOFILE);
 * UINT64_MAX is no limit. */
typedef struct cdam_process_limit {
  int resource;
  uint64_t soft;
  uint64_t hard;
} cdam_process_limit;

/* What to run. Set what is needed after `cdam_process_command c = {0}`. Copied. */
typedef struct cdam_process_command {
  const char *const *argv; /* ends in NULL; argv[0] is looked up in PATH. Required */
  const char *const *env;  /* "KEY=VALUE", ends in NULL; on top of the sandbox's; or NULL */
  const char *user;        /* "USER[:GROUP]", names or numbers; or NULL */
  const char *workdir;     /* absolute; NULL: the workspace */
  const cdam_process_limit *limits;
  size_t limit_count;
  int64_t timeout_ms;     /* then the whole tree is ended; 0: never */
  uint32_t grace_ms;      /* between TERM and KILL */
  uint32_t retain;        /* bytes of each stream kept for later readers; 0: 128 KiB with
                             `outlive`, and none without */
  uint16_t rows, columns; /* of the terminal; 0: 24 and 80 */
  bool terminal;          /* a pseudo-terminal, which joins both outputs */
  bool input;             /* else standard input is /dev/null */
  bool join_stderr;       /* standard error goes where standard output goes */
  bool discard_stdout;
  bool discard_stderr;
  bool clear_env; /* only `env`, without the sandbox's */
  bool no_new_privileges;
  bool outlive;      /* it runs on when this client has gone */
  bool kill_rest;    /* when it ends, what it left running ends as well */
  bool reserved[23]; /* false */
} cdam_process_command;

/* Starts a process. Free with cdam_process_free. CDAM_ERR_ARGUMENT, CDAM_ERR_NOT_STARTED (a missing
 * program, working directory, user, ...: `field` is the member that was wrong, "argv", "workdir",
 * "user", "limits" or "terminal", or "" when it was none of them; and system_errno),
 * CDAM_ERR_LIMIT, CDAM_ERR_NO_AGENT, CDAM_ERR_AGENT, CDAM_ERR_PAUSED, CDAM_ERR_EXITED,
 * CDAM_ERR_NOT_FOUND (the container's), the engine's errors. Since 0.1.
 *
 * Whether it was started the agent has to say within the client's timeout
 * (cdam_client_config_set_timeout). Else CDAM_ERR_AGENT, and one that was started all the same is
 * ended, unless it has `outlive`. */
CDAM_API CDAM_CHECK cdam_status cdam_process_spawn(cdam_session *session,
                                                   const cdam_process_command *command,
                                                   cdam_process **out, cdam_error *err);

/* How to attach. Start with {0}: all output that is still kept, no input. */
typedef struct cdam_process_attachment {
  uint64_t stdout_offset; /* of the first byte wanted */
  uint64_t stderr_offset;
  bool from_now;     /* only what is written from now on */
  bool no_output;    /* only its exit */
  bool input;        /* cdam_process_write works */
  bool paced;        /* the process waits for this reader; else what it misses is lost */
  bool reserved[12]; /* false */
} cdam_process_attachment;

/* Another handle on a process, of any client, by its key (cdam_process_key). CDAM_ERR_ARGUMENT
 * (a key that is none), CDAM_ERR_NO_PROCESS (also: the sandbox was started again since), and
 * the errors of cdam_process_spawn, with the same limit. `attachment` may be NULL. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_process_attach(cdam_session *session, const char *key,
                                                    const cdam_process_attachment *attachment,
                                                    cdam_process **out, cdam_error *err);

/* Gives the handle up. The process goes on with `outlive`, and after cdam_process_attach; else its
 * tree is ended. NULL is fine. Since 0.1. */
CDAM_API void cdam_process_free(cdam_process *process);

/* Names the process in this sandbox until its agent is started again: to be kept beside the state.
 * "" without the agent. Belongs to the process. Since 0.1. */
CDAM_API const char *cdam_process_key(const cdam_process *process);

/* Its number inside the sandbox; 0 without the agent. Since 0.1. */
CDAM_API uint32_t cdam_process_pid(const cdam_process *process);

/* ---- what happens ---- */

typedef enum cdam_process_event_kind {
  CDAM_PROCESS_NOTHING = 0,      /* nothing within the time */
  CDAM_PROCESS_OUTPUT = 1,       /* `stream`, `bytes`, `length`, `offset`, `lost` */
  CDAM_PROCESS_OUTPUT_END = 2,   /* `stream` has come to its end */
  CDAM_PROCESS_INPUT_BROKEN = 3, /* nobody reads the input any more */
  CDAM_PROCESS_EXITED = 4,       /* cdam_process_exit_status tells how. Output may follow */
  CDAM_PROCESS_CLOSED = 5        /* nothing follows; again and again from here on */
} cdam_process_event_kind;

typedef enum cdam_process_stream {
  CDAM_PROCESS_STDOUT = 1,
  CDAM_PROCESS_STDERR = 2
} cdam_process_stream;

typedef struct cdam_process_event {
  cdam_process_event_kind kind;
  cdam_process_stream stream;
  const char *bytes; /* any bytes; until the next call with this process */
  size_t length;
  uint64_t offset; /* of the first of them, since the process started */
  uint64_t lost;   /* bytes before it that are no longer kept */
} cdam_process_event;

/*
 * The next event, in their order. Waits so long for one; -1: for ever, 0: not at all. Of a process
 * of a loop it never waits, whatever the time. CDAM_PROCESS_NOTHING comes early when
 * cdam_process_write_some took less than it was given and there is room again. What is not fetched
 * holds the process back, and costs 1 MiB at most. On an error, which comes after all that was
 * there to fetch, the handle is of no further use but to be freed: CDAM_ERR_AGENT (also ten seconds
 * after the timeout and the grace, when the end is not told then),
 * CDAM_ERR_CONNECT, CDAM_ERR_PAUSED, CDAM_ERR_EXITED, CDAM_ERR_NOT_FOUND; without the agent also
 * CDAM_ERR_EXEC, CDAM_ERR_PROTOCOL, CDAM_ERR_NO_AGENT and the engine's errors. Since 0.1.
 */
CDAM_API CDAM_CHECK cdam_status cdam_process_next(cdam_process *process, int64_t timeout_ms,
                                                  cdam_process_event *event, cdam_error *err);

typedef enum cdam_process_ended_by {
  CDAM_ENDED_UNKNOWN = 0, /* the agent could not learn it */
  CDAM_ENDED_ITSELF = 1,  /* also by a signal of somebody else */
  CDAM_ENDED_TIMEOUT = 2,
  CDAM_ENDED_KILL = 3,
  CDAM_ENDED_CLIENT_GONE = 4,
  CDAM_ENDED_SHUTDOWN = 5
} cdam_process_ended_by;

typedef struct cdam_process_exit {
  int code;   /* 0 to 255; -1 when a signal ended it, or nobody knows */
  int signal; /* 0: none */
  bool core_dumped;
  bool out_of_memory; /* the kernel killed something for memory, and this may have been it */
  cdam_process_ended_by ended_by;
  uint64_t user_us, system_us, elapsed_us;
  uint64_t max_rss_kib;
} cdam_process_exit;

/* How it ended; false while it runs. Since 0.1. */
CDAM_API bool cdam_process_exit_status(const cdam_process *process, cdam_process_exit *exit);

/* Waits for the end of the process and throws away what it wrote before. CDAM_ERR_TIMEOUT (a
 * process of a loop: at once when it runs); the errors of cdam_process_next. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_process_wait(cdam_process *process, int64_t timeout_ms,
                                                  cdam_process_exit *exit, cdam_error *err);

/* ---- acting on it ----
 *
 * Of a process of a loop these do not wait: they are sent in the next dispatch, and what becomes of
 * them shows in the events. CDAM_ERR_NO_PROCESS: it has ended. CDAM_ERR_AGENT, too, when the agent
 * has not answered a signal, a kill or a new size within the client's timeout (and the grace of a
 * kill): whether it was done is not known then. Since 0.1.
 */

/* Writes all of it; waits until the process takes it, and fetches nothing meanwhile: one that
 * answers while it reads may wait for its reader, and has to be written to by
 * cdam_process_write_some. What is written after INPUT_BROKEN is thrown away. CDAM_ERR_ARGUMENT: it
 * has no input, or that was ended; a process of a loop. */
CDAM_API CDAM_CHECK cdam_status cdam_process_write(cdam_process *process, const void *bytes,
                                                   size_t length, cdam_error *err);

/* Takes as much as can be sent without waiting, and says how much; 0 is fine. cdam_process_next, or
 * the loop's `ready` callback, tells when there is room again. */
CDAM_API CDAM_CHECK cdam_status cdam_process_write_some(cdam_process *process, const void *bytes,
                                                        size_t length, size_t *taken,
                                                        cdam_error *err);

/* The end of its input; of a terminal, the end-of-file character. */
CDAM_API CDAM_CHECK cdam_status cdam_process_end_input(cdam_process *process, cdam_error *err);

typedef enum cdam_process_target {
  CDAM_TARGET_PROCESS = 0,
  CDAM_TARGET_GROUP = 1, /* its process group */
  CDAM_TARGET_TREE = 2   /* all that descends from it */
} cdam_process_target;

/* Sends a signal, 1 to 64. To the tree also when the process itself has ended. */
CDAM_API CDAM_CHECK cdam_status cdam_process_signal(cdam_process *process, int signal,
                                                    cdam_process_target target, cdam_error *err);

/* Ends the whole tree: TERM, and KILL for what is left after grace_ms. Waits until it is gone. Fine
 * too when the process has ended and something that it started has not. */
CDAM_API CDAM_CHECK cdam_status cdam_process_kill(cdam_process *process, uint32_t grace_ms,
                                                  cdam_error *err);

/* The size of its terminal. CDAM_ERR_ARGUMENT: it has none. */
CDAM_API CDAM_CHECK cdam_status cdam_process_resize(cdam_process *process, uint16_t rows,
                                                    uint16_t columns, cdam_error *err);

/* ---- the sandbox's processes ---- */

/* What the agent knows of its processes. Opaque. Free with cdam_process_list_free. */
typedef struct cdam_process_list cdam_process_list;

/* Those that run, and those that have ended and are remembered; without the agent
 * CDAM_ERR_NO_AGENT. CDAM_ERR_AGENT, too, when nothing has come for the client's timeout.
 * Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_processes(cdam_session *session, cdam_process_list **out,
                                               cdam_error *err);

/* NULL is fine. Since 0.1. */
CDAM_API void cdam_process_list_free(cdam_process_list *list);

/* 0 for NULL. Since 0.1. */
CDAM_API size_t cdam_process_list_count(const cdam_process_list *list);

typedef struct cdam_process_info {
  const char *key;
  uint32_t pid;
  const char *command; /* its arguments joined by blanks, cut to 1 KiB, unprintable ones as \xHH */
  bool running;
  bool tree_alive; /* something that descends from it runs */
  bool outlive;
  bool terminal;
  int64_t started;                                             /* ms since the epoch */
  uint64_t stdout_begin, stdout_end, stderr_begin, stderr_end; /* offsets that are kept */
  cdam_process_exit exit;                                      /* unless running */
} cdam_process_info;

/* Of entry `index`; false out of range. Strings belong to the list. Since 0.1. */
CDAM_API bool cdam_process_list_get(const cdam_process_list *list, size_t index,
                                    cdam_process_info *info);

/* Has the agent forget an ended process and its output. CDAM_ERR_NO_PROCESS; CDAM_ERR_AGENT, too,
 * when that was not answered within the client's timeout. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_process_forget(cdam_session *session, const char *key,
                                                    cdam_error *err);

/* ---- in a loop ----
 *
 * A process is no operation: cdam_loop_pending does not count it, and it goes on when none is
 * pending. When its loop is freed it is given up as by cdam_process_free (without the agent the
 * loop waits for that); the handle stays to be freed. To cancel a spawn ends what it has started;
 * nothing of it remains.
 */

/* There may be events (cdam_process_next until CDAM_PROCESS_NOTHING), or room for input. Called in
 * cdam_loop_dispatch. */
typedef void (*cdam_process_ready)(void *user, cdam_process *process);

/* Sets or, with NULL, clears the callback of a process of a loop. Since 0.1. */
CDAM_API void cdam_process_on_ready(cdam_process *process, cdam_process_ready ready, void *user);

/* Free with cdam_process_free. */
typedef void (*cdam_process_callback)(void *user, cdam_status status, cdam_process *process,
                                      const cdam_error *err);

/* Free with cdam_process_list_free. */
typedef void (*cdam_process_list_callback)(void *user, cdam_status status, cdam_process_list *list,
                                           const cdam_error *err);

/* The calls of the same names; see <cofferdam/loop.h>. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_process_spawn_start(cdam_loop *loop, cdam_session *session,
                                                         const cdam_process_command *command,
                                                         cdam_process_callback callback, void *user,
                                                         cdam_operation **operation,
                                                         cdam_error *err);
CDAM_API CDAM_CHECK cdam_status cdam_process_attach_start(cdam_loop *loop, cdam_session *session,
                                                          const char *key,
                                                          const cdam_process_attachment *attachment,
                                                          cdam_process_callback callback,
                                                          void *user, cdam_operation **operation,
                                                          cdam_error *err);
CDAM_API CDAM_CHECK cdam_status cdam_processes_start(cdam_loop *loop, cdam_session *session,
                                                     cdam_process_list_callback callback,
                                                     void *user, cdam_operation **operation,
                                                     cdam_error *err);
CDAM_API CDAM_CHECK cdam_status cdam_process_forget_start(cdam_loop *loop, cdam_session *session,
                                                          const char *key,
                                                          cdam_done_callback callback, void *user,
                                                          cdam_operation **operation,
                                                          cdam_error *err);

CDAM_END_DECLS

#endif
