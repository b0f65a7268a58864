/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "link/answer_limit.h"
#include "process/process_private.h"
#include "process/request.h"
#include "session/session.h"

/* More than an agent has. */
#define MOST_PROCESSES 16384

/* Of a command's arguments, as they come and as they are shown. */
#define SHOWN 1024

#define TO(NAME) COFFERDAM__AGENT__V1__TO_AGENT__BODY_##NAME

typedef Cofferdam__Agent__V1__ProcessInfo info_message;

typedef struct entry {
  uint64_t id;
  cdam_process_info info; /* its texts are the two below */
  char *command;
  char key[CDAM_PROCESS_KEY_SIZE];
} entry;

struct cdam_process_list {
  entry *entries;
  size_t count;
  size_t room;
};

typedef struct listing {
  cdam_operation op;    /* first */
  cdam_channel channel; /* of a list */
  cdam_agent_request request;
  cdam_answer_limit limit;
  cdam_link *link;
  cdam_process_list *list; /* NULL for forget */
  cdam_process_name name;  /* forget */
  cdam_process_list_callback list_callback;
  cdam_done_callback done_callback;
} listing;

#define OF_CHANNEL(at) ((listing *)((char *)(at)-offsetof(listing, channel)))

/* ---- a list ---- */

void cdam_process_list_free(cdam_process_list *list) {
  if (!list) return;
  for (size_t i = 0; i < list->count; i++)
    free(list->entries[i].command);
  free(list->entries);
  free(list);
}

size_t cdam_process_list_count(const cdam_process_list *list) {
  return list ? list->count : 0;
}

bool cdam_process_list_get(const cdam_process_list *list, size_t index, cdam_process_info *info) {
  if (index >= cdam_process_list_count(list) || !info) return false;
  const entry *at = &list->entries[index];
  *info = at->info;
  info->key = at->key;
  info->command = at->command;
  return true;
}

/* ---- what the agent says ---- */

static bool lie(cdam_error *failure, const char *what) {
  cdam_fail(failure, CDAM_ERR_AGENT, "the agent broke the protocol: %s", what);
  return false;
}

static char *join(const info_message *message) {
  char raw[SHOWN], shown[SHOWN + 1];
  size_t used = 0;
  for (size_t i = 0; i < message->n_argv && used < sizeof raw; i++) {
    const ProtobufCBinaryData *text = &message->argv[i];
    if (i) raw[used++] = ' ';
    size_t length = text->len < sizeof raw - used ? text->len : sizeof raw - used;
    if (length) memcpy(raw + used, text->data, length);
    used += length;
  }
  cdam_printable(shown, sizeof shown, raw, used);
  return strdup(shown);
}

static bool read_info(const info_message *message, cdam_process_info *info, cdam_error *failure) {
  *info = (cdam_process_info){
      .pid = message->pid,
      .running = message->running,
      .tree_alive = message->tree_alive,
      .outlive = message->outlive,
      .terminal = message->terminal,
      .started = (int64_t)message->started_unix_ms,
      .stdout_begin = message->output_begin,
      .stdout_end = message->output_end,
      .stderr_begin = message->error_begin,
      .stderr_end = message->error_end,
  };
  if (message->pid > INT32_MAX || message->started_unix_ms > INT64_MAX ||
      message->output_begin > message->output_end || message->error_begin > message->error_end)
    return lie(failure, "a process that cannot be");
  if (message->running) return !message->exited || lie(failure, "a running process that ended");
  if (!message->exited || message->exited->process_id != message->process_id)
    return lie(failure, "a process that ended without an end");
  return cdam_process_read_exit(message->exited, &info->exit, failure);
}

static entry *add_entry(cdam_process_list *list) {
  if (list->count == list->room) {
    size_t room = list->room ? 2 * list->room : 16;
    entry *grown = realloc(list->entries, room * sizeof *grown);
    if (!grown) return NULL;
    list->entries = grown;
    list->room = room;
  }
  entry *added = &list->entries[list->count];
  *added = (entry){0};
  return added;
}

static bool info_came(cdam_channel *channel, const cdam_from_agent *message, cdam_error *failure) {
  listing *this = OF_CHANNEL(channel);
  cdam_process_list *list = this->list;
  if (message->body_case != COFFERDAM__AGENT__V1__FROM_AGENT__BODY_PROCESS_INFO)
    return lie(failure, "a message that is none of a list of processes");
  uint64_t id = message->process_info->process_id;
  uint64_t last = list->count ? list->entries[list->count - 1].id : 0;
  if (id <= last) return lie(failure, "processes that are not in their order");
  if (list->count == MOST_PROCESSES) return lie(failure, "more processes than there can be");
  cdam_process_info info;
  if (!read_info(message->process_info, &info, failure)) return false;
  entry *added = add_entry(list);
  char *command = added ? join(message->process_info) : NULL;
  if (!command) {
    cdam_fail_memory(failure);
    return false;
  }
  added->id = id;
  added->info = info;
  added->command = command;
  cdam_process_format_key(cdam_link_instance(this->link), id, added->key);
  list->count++;
  cdam_answer_limit_move(&this->limit);
  return true;
}

static void list_done(cdam_channel *channel, cdam_status status, const cdam_error *error,
                      const cdam_agent_done *message) {
  (void)message;
  cdam_operation_finish(&OF_CHANNEL(channel)->op, status, error);
}

static const cdam_channel_events list_events = {.message = info_came, .done = list_done};

/* ---- the steps ---- */

static void send_list(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  listing *this = (listing *)op;
  Cofferdam__Agent__V1__ListProcesses request = COFFERDAM__AGENT__V1__LIST_PROCESSES__INIT;
  cdam_to_agent message = COFFERDAM__AGENT__V1__TO_AGENT__INIT;
  message.body_case = TO(LIST_PROCESSES);
  message.list_processes = &request;
  cdam_error error;
  cdam_operation_hold(op);
  cdam_status status =
      cdam_channel_open(this->link, &this->channel, &message, &list_events, &error);
  if (status == CDAM_OK)
    cdam_answer_limit_begin(&this->limit, op, &this->channel, "list the processes", 0);
  else
    cdam_operation_finish(op, status, &error);
}

static void forgotten(void *user, cdam_status status, const cdam_error *error) {
  listing *this = user;
  cdam_operation_finish(&this->op, status, error);
}

static void send_forget(listing *this) {
  cdam_error error;
  cdam_status status =
      cdam_process_check_instance(&this->name, cdam_link_instance(this->link), &error);
  Cofferdam__Agent__V1__Forget request = COFFERDAM__AGENT__V1__FORGET__INIT;
  request.process_id = this->name.id;
  cdam_to_agent message = COFFERDAM__AGENT__V1__TO_AGENT__INIT;
  message.body_case = TO(FORGET);
  message.forget = &request;
  if (status == CDAM_OK)
    status = cdam_agent_request_open(&this->request, this->link, &message, forgotten, this, &error);
  if (status != CDAM_OK) cdam_operation_finish(&this->op, status, &error);
}

static void met(void *user, cdam_status status, const cdam_error *error) {
  listing *this = user;
  if (status == CDAM_OK)
    send_forget(this);
  else
    cdam_operation_finish(&this->op, status, error);
}

static void meet_agent(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  listing *this = (listing *)op;
  cdam_operation_hold(op);
  cdam_agent_request_meet(&this->request, this->link, met, this);
  cdam_answer_limit_begin(&this->limit, op, &this->request.channel, "forget a process", 0);
}

/* ---- beginning and end ---- */

static void end(listing *this) {
  if (cdam_channel_is_open(&this->channel)) cdam_channel_abandon(&this->channel);
  if (cdam_channel_is_open(&this->request.channel)) cdam_channel_abandon(&this->request.channel);
  cdam_process_list_free(this->list);
  cdam_link_unref(this->link);
  free(this);
}

/* Takes the reference to the link over. NULL when out of memory. */
static listing *new_listing(cdam_link *link, bool with_list) {
  listing *this = calloc(1, sizeof *this);
  if (!this) {
    cdam_link_unref(link);
    return NULL;
  }
  this->link = link;
  if (with_list) this->list = calloc(1, sizeof *this->list);
  if (!with_list || this->list) return this;
  end(this);
  return NULL;
}

static cdam_process_list *take_list(listing *this, cdam_status status) {
  if (status != CDAM_OK) return NULL;
  cdam_process_list *list = this->list;
  this->list = NULL;
  return list;
}

static void completed(cdam_operation *op) {
  listing *this = (listing *)op;
  if (this->list_callback)
    this->list_callback(op->user, op->status, take_list(this, op->status), &op->error);
  else
    this->done_callback(op->user, op->status, &op->error);
  end(this);
}

static cdam_status submit(listing *this, cdam_loop *loop, cdam_step start, void *user,
                          cdam_operation **operation, cdam_error *err) {
  this->op.user = user;
  cdam_status status = cdam_operation_submit(&this->op, loop, start, completed, err);
  if (status != CDAM_OK)
    end(this);
  else if (operation)
    *operation = &this->op;
  return status;
}

/* ---- the calls ---- */

cdam_status cdam_processes(cdam_session *session, cdam_process_list **out, cdam_error *err) {
  if (out) *out = NULL;
  if (!session || !out) return cdam_fail(err, CDAM_ERR_ARGUMENT, "session or out is NULL");
  cdam_own_loop *own;
  cdam_link *link;
  cdam_status status = cdam_session_own_link(session, &own, &link, err);
  if (status != CDAM_OK) return status;
  listing *this = new_listing(link, true);
  if (!this) return cdam_fail_memory(err);
  status = cdam_operation_run_in(&this->op, own->loop, send_list, err);
  *out = take_list(this, status);
  end(this);
  return status;
}

cdam_status cdam_processes_start(cdam_loop *loop, cdam_session *session,
                                 cdam_process_list_callback callback, void *user,
                                 cdam_operation **operation, cdam_error *err) {
  cdam_status status = cdam_start_check(loop, callback, operation, err);
  if (status == CDAM_OK) status = cdam_session_check_loop(session, loop, err);
  cdam_link *link;
  if (status == CDAM_OK) status = cdam_session_link(session, loop, &link, err);
  if (status != CDAM_OK) return status;
  listing *this = new_listing(link, true);
  if (!this) return cdam_fail_memory(err);
  this->list_callback = callback;
  return submit(this, loop, send_list, user, operation, err);
}

static cdam_status check_key(const char *key, cdam_process_name *name, cdam_error *err) {
  if (key) return cdam_process_parse_key(key, name, err);
  return cdam_fail(err, CDAM_ERR_ARGUMENT, "the key is NULL");
}

cdam_status cdam_process_forget(cdam_session *session, const char *key, cdam_error *err) {
  if (!session) return cdam_fail(err, CDAM_ERR_ARGUMENT, "session is NULL");
  cdam_process_name name;
  cdam_own_loop *own;
  cdam_link *link;
  cdam_status status = check_key(key, &name, err);
  if (status == CDAM_OK) status = cdam_session_own_link(session, &own, &link, err);
  if (status != CDAM_OK) return status;
  listing *this = new_listing(link, false);
  if (!this) return cdam_fail_memory(err);
  this->name = name;
  status = cdam_operation_run_in(&this->op, own->loop, meet_agent, err);
  end(this);
  return status;
}

cdam_status cdam_process_forget_start(cdam_loop *loop, cdam_session *session, const char *key,
                                      cdam_done_callback callback, void *user,
                                      cdam_operation **operation, cdam_error *err) {
  cdam_status status = cdam_start_check(loop, callback, operation, err);
  if (status == CDAM_OK) status = cdam_session_check_loop(session, loop, err);
  cdam_process_name name;
  cdam_link *link;
  if (status == CDAM_OK) status = check_key(key, &name, err);
  if (status == CDAM_OK) status = cdam_session_link(session, loop, &link, err);
  if (status != CDAM_OK) return status;
  listing *this = new_listing(link, false);
  if (!this) return cdam_fail_memory(err);
  this->name = name;
  this->done_callback = callback;
  return submit(this, loop, meet_agent, user, operation, err);
}
