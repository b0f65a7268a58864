/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all calls of <cofferdam/file.h> have in common: a request on a channel of the session's
 * link, what comes back, and the end. A call prepares one (its arguments are checked and copied)
 * and then has it run, in the session's own loop, or submits it to a program's loop.
 *
 * It ends with Done; or when nothing has moved for as long as the client's timeout, where what the
 * program itself does not give or take does not count. What ends in an error says so as
 * `cannot VERB "PATH": why`.
 */
#ifndef COFFERDAM_FILE_REQUEST_H
#define COFFERDAM_FILE_REQUEST_H

#include <cofferdam/file.h>

#include "link/link.h"
#include "link/own_loop.h"
#include "session/session_private.h"

#define CDAM_FILE_MAX_PATH 4095

typedef struct cdam_file_request cdam_file_request;
typedef struct cdam_file_engine cdam_file_engine;

/* A kind of request. Members may be NULL, but `verb` and `deliver`. */
typedef struct cdam_file_kind {
  const char *verb; /* "read": cannot read ... */
  bool changes;     /* when it is cancelled the agent's answer is waited for */

  /* The channel is open; nothing has come yet. */
  void (*opened)(cdam_file_request *request);
  /* Of the channel. Without `message` the agent may send nothing but Done. */
  bool (*message)(cdam_file_request *request, const cdam_from_agent *message, cdam_error *failure);
  void (*writable)(cdam_file_request *request);
  /* Done came without an error. Finishes it, perhaps later; NULL: finishes it. */
  void (*succeeded)(cdam_file_request *request);
  /* Is this error an answer as well? */
  bool (*accepts)(cdam_file_request *request, const Cofferdam__Agent__V1__Error *error);
  /* Is it the program's turn to give or take bytes? */
  bool (*waits_for_program)(cdam_file_request *request);
  /* Calls the program's callback. */
  void (*deliver)(cdam_file_request *request);
  void (*release)(cdam_file_request *request);
} cdam_file_kind;

struct cdam_file_request {
  cdam_operation op; /* first */
  const cdam_file_kind *kind;
  char *path;
  char *other; /* a second path, or NULL */
  char container_id[CDAM_CONTAINER_ID_SIZE];

  cdam_own_loop *own; /* of a blocking call; borrowed from its session */
  cdam_link *link;
  cdam_channel *channel; /* `own_channel`, or one that outlives the request */
  const cdam_channel_events *events;
  cdam_channel own_channel;
  cdam_file_engine *engine; /* does it instead of the channel, which stays closed; or NULL */
  cdam_to_agent message;
  union {
    Cofferdam__Agent__V1__ReadFile read_file;
    Cofferdam__Agent__V1__WriteFile write_file;
    Cofferdam__Agent__V1__Stat stat;
    Cofferdam__Agent__V1__List list;
    Cofferdam__Agent__V1__MakeDirectory make_directory;
    Cofferdam__Agent__V1__Remove remove;
    Cofferdam__Agent__V1__Rename rename;
    Cofferdam__Agent__V1__MakeLink make_link;
    Cofferdam__Agent__V1__SetAttributes set_attributes;
    Cofferdam__Agent__V1__Watch watch;
  } body;

  unsigned patience; /* how many timeouts it may be silent; 0: one */
  int64_t moved_at;  /* cdam_now_ms() when something moved */
  uint64_t moves;    /* messages that came */
  uint64_t seen_moves;
  int64_t seen_credit;
  bool failing;       /* Done is waited for, and then it ends with `failure` */
  cdam_error failure; /* the first one */

  union {
    cdam_done_callback done;
    cdam_file_read_callback read;
    cdam_file_list_callback list;
    cdam_file_exists_callback exists;
    cdam_file_watch_callback watch;
  } callback;
};

/* Sets the body of its message, to be filled in. */
#define CDAM_FILE_BODY(request, name, NAME)                                                        \
  (cofferdam__agent__v1__##name##__init(&(request)->body.name),                                    \
   (request)->message.body_case = COFFERDAM__AGENT__V1__TO_AGENT__BODY_##NAME,                     \
   (request)->message.name = &(request)->body.name)

/* ---- arguments ---- */

/* CDAM_ERR_ARGUMENT for NULL and what is too long; `name` is the argument's. */
cdam_status cdam_file_check_path(const char *path, const char *name, cdam_error *err);
cdam_status cdam_file_check_permissions(uint32_t permissions, cdam_error *err);

/* CDAM_ERR_ARGUMENT unless all of them are false. */
cdam_status cdam_file_check_reserved(const bool *reserved, size_t count, cdam_error *err);

/* What each _start begins with. */
cdam_status cdam_file_start_check(const cdam_loop *loop, const cdam_session *session,
                                  bool has_callback, cdam_operation **operation, cdam_error *err);

static inline ProtobufCBinaryData cdam_file_bytes(const char *text) {
  return (ProtobufCBinaryData){.data = (uint8_t *)text, .len = __builtin_strlen(text)};
}

/* ---- its life ---- */

/* A request of `size` bytes (zeroed, and beginning with a cdam_file_request), with checked copies
 * of `path` and, unless that is NULL, `other`. CDAM_ERR_ARGUMENT (also for a NULL session),
 * CDAM_ERR_NO_MEMORY. */
cdam_status cdam_file_request_new(size_t size, const cdam_file_kind *kind,
                                  const cdam_session *session, const char *path, const char *other,
                                  cdam_file_request **out, cdam_error *err);

/* NULL is fine. */
void cdam_file_request_free(cdam_file_request *request);

/* The blocking call. The request has its result afterwards, and is the caller's to free. */
cdam_status cdam_file_request_run(cdam_file_request *request, cdam_session *session,
                                  cdam_error *err);

/* The same for one that has no result: frees it. */
cdam_status cdam_file_request_finish_run(cdam_file_request *request, cdam_session *session,
                                         cdam_error *err);

/* The call in a loop; frees it when that fails, and otherwise after `deliver`. */
cdam_status cdam_file_request_submit(cdam_file_request *request, cdam_loop *loop,
                                     cdam_session *session, void *user, cdam_operation **operation,
                                     cdam_error *err);

/* The `deliver` of those that have no result. */
void cdam_file_deliver_done(cdam_file_request *request);

/* ---- for its kind, in callbacks ---- */

void cdam_file_succeed(cdam_file_request *request);

/* Ends it now, with "cannot ..." and the message of `cause`. */
void cdam_file_fail(cdam_file_request *request, const cdam_error *cause);

/* Cancels it, and ends it with `cause` when the agent has undone what it did. */
void cdam_file_fail_and_wait(cdam_file_request *request, const cdam_error *cause);

/* False, with CDAM_ERR_AGENT: "the agent sent WHAT". Breaks the link. */
bool cdam_file_refuse(cdam_error *failure, const char *what);

/* Done came, and what should have come before it did not. */
void cdam_file_fail_incomplete(cdam_file_request *request);

/* To the agent, or who stands in for it: entries and content, when they can be sent. */
bool cdam_file_is_open(const cdam_file_request *request);
bool cdam_file_can_send(cdam_file_request *request);
cdam_status cdam_file_send_entry(cdam_file_request *request, Cofferdam__Agent__V1__Entry *entry,
                                 cdam_error *err);
cdam_status cdam_file_send_data(cdam_file_request *request, const void *bytes, size_t length,
                                bool end, cdam_error *err);

/* The callbacks of its channel, for kinds that have `events` of their own. */
bool cdam_file_take_message(cdam_file_request *request, const cdam_from_agent *message,
                            cdam_error *failure);
void cdam_file_take_done(cdam_file_request *request, cdam_status status, const cdam_error *error,
                         const cdam_agent_done *done);

#endif
