/* SPDX-License-Identifier: Apache-2.0 */
#include "file/engine.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "engine/answer.h"
#include "engine/explain.h"
#include "link/link_private.h"
#include "session/session.h"

#define TO(NAME) COFFERDAM__AGENT__V1__TO_AGENT__BODY_##NAME
#define CODE(NAME) COFFERDAM__AGENT__V1__ERROR_CODE__ERROR_CODE_##NAME
#define DEFAULT_WORKSPACE "/workspace"

/* How it ended may be told a moment after the end of its output. */
#define ASK_TIMES 20
#define ASK_MS 100
#define KILLED 137

/* Of an output that is not the script's: longer ones are not waited for. */
#define MOST_NONSENSE ((uint64_t)1024 * 1024)

/* ---- what was said ---- */

typedef struct phrase {
  const char *text;
  int number;
} phrase;

/* Where shells and other C libraries have their own words. */
static const phrase phrases[] = {
    {"no such file", ENOENT},          {"nonexistent directory", ENOENT},
    {"directory nonexistent", ENOENT}, {"filename too long", ENAMETOOLONG},
    {"symbolic link loop", ELOOP},     {"cross-device link", EXDEV},
    {"resource busy", EBUSY},          {"i/o error", EIO},
    {"not supported", EOPNOTSUPP},     {"quota exceeded", EDQUOT},
};

static int errno_of(const char *text) {
  enum { LAST_ERRNO = 133 };
  for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++)
    if (strcasecmp(phrases[i].text, text) == 0) return phrases[i].number;
  for (int i = 1; i <= LAST_ERRNO; i++) {
    const char *words = strerrordesc_np(i);
    if (words && strcasecmp(words, text) == 0) return i;
  }
  return EIO;
}

/* The script's own words, and those of tools. */
static void set_error(Cofferdam__Agent__V1__Error *said, const char *text) {
  said->code = CODE(SYSTEM);
  if (strcmp(text, "outside") == 0) {
    said->code = CODE(OUTSIDE);
  } else if (strcmp(text, "cut") == 0) {
    said->code = CODE(CANCELLED);
  } else if (strcmp(text, "workspace") == 0 || strcmp(text, "workspace link") == 0) {
    said->step = COFFERDAM__AGENT__V1__STEP__STEP_WORKSPACE;
    said->system_errno = text[sizeof "workspace" - 1] ? ELOOP : ENOENT;
  } else {
    said->system_errno = (uint32_t)errno_of(text);
  }
}

void cdam_file_engine_done(cdam_file_engine *engine, const char *text, const char *path) {
  static const char lacks[] = "lacks ";
  Cofferdam__Agent__V1__Error said = COFFERDAM__AGENT__V1__ERROR__INIT;
  cdam_agent_done done = COFFERDAM__AGENT__V1__DONE__INIT;
  cdam_file_request *request = engine->request;
  cdam_error error = {0};
  engine->over = true;
  if (text && strncmp(text, lacks, sizeof lacks - 1) == 0) {
    cdam_fail(&error, CDAM_ERR_NO_AGENT, "the sandbox has no agent, and its image no \"%s\"",
              text + sizeof lacks - 1);
    cdam_file_fail(request, &error);
    return;
  }
  done.skipped = engine->skipped;
  if (text && strcmp(text, "cut") == 0 && !request->failing) {
    cdam_fail(&error, CDAM_ERR_PROTOCOL, "the engine cut off what was sent");
    cdam_file_fail(request, &error);
    return;
  }
  if (text) {
    set_error(&said, text);
    if (path && *path) said.path = cdam_file_bytes(path);
    cdam_link_error(&said, &error);
    done.error = &said;
  }
  request->events->done(request->channel, error.code, &error, &done);
}

void cdam_file_engine_refuse(cdam_error *error) {
  cdam_fail(error, CDAM_ERR_NO_AGENT,
            "the sandbox has no agent, and what its image has as /bin/sh and tools in its place "
            "does not work as such");
}

/* ---- how it ended ---- */

static void ask_how(cdam_operation *op, const cdam_reply *reply);

static cdam_file_engine *of(cdam_operation *op) {
  return ((cdam_file_request *)op)->engine;
}

static void explain_later(cdam_operation *op, const cdam_reply *reply);

static void fail_as_explained(cdam_file_engine *engine) {
  cdam_file_request *request = engine->request;
  cdam_file_fail(request, request->failing ? &request->failure : &engine->trouble);
}

/* Where PID 1 is dying nothing can be started any more: a shell that still could be run proves that
 * the container is well. Else the engine will soon say what has become of it. */
static void ended_rest(cdam_operation *op, cdam_exec_shell_end end, const cdam_error *error) {
  (void)error;
  if (end == CDAM_SHELL_CLEAN || end == CDAM_SHELL_REST)
    fail_as_explained(of(op));
  else
    cdam_operation_after(op, ASK_MS, explain_later);
}

static void end_rest(cdam_file_engine *engine) {
  engine->rest = (cdam_exec_shell){
      .container_id = engine->name.container_id, .marker = engine->name.marker, .done = ended_rest};
  cdam_exec_shell_run(&engine->rest, &engine->request->op);
}

/* What kills all of a container is not done with that at once. */
static void explained(cdam_operation *op, const cdam_reply *reply) {
  cdam_file_engine *engine = of(op);
  cdam_explain(reply, &engine->trouble, NULL); /* else it is what it was taken for */
  if (!engine->killed || engine->trouble.code != CDAM_ERR_EXEC || ++engine->asked >= ASK_TIMES)
    fail_as_explained(engine);
  else if (!engine->rest.done)
    end_rest(engine);
  else
    cdam_operation_after(op, 3 * ASK_MS, explain_later);
}

/* Is the container the reason? */
static void explain(cdam_file_engine *engine) {
  char path[160];
  snprintf(path, sizeof path, "/containers/%s/json", engine->name.container_id);
  cdam_operation_send(&engine->request->op, &(cdam_request){.method = "GET", .path = path},
                      explained);
}

static void explain_later(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  explain(of(op));
}

static void tell_how(cdam_file_engine *engine, const cdam_exec_state *state) {
  if (cdam_exec_was_not_started(state, engine->held.length == 0, engine->said))
    cdam_fail(&engine->trouble, CDAM_ERR_NO_AGENT,
              "the sandbox has no agent, and its image no /bin/sh to do this in its place");
  else if (engine->nonsense)
    cdam_file_engine_refuse(&engine->trouble);
  else
    cdam_fail(&engine->trouble, CDAM_ERR_EXEC,
              "the shell that does it in the sandbox ended before it was done, with status %lld",
              (long long)state->exit_code);
  engine->killed = state->exit_code == KILLED;
  explain(engine);
}

static void told_how(cdam_operation *op, const cdam_reply *reply) {
  cdam_file_engine *engine = of(op);
  cdam_exec_state state;
  if (cdam_exec_read_state(reply, &state, &engine->trouble) != CDAM_OK) {
    explain(engine);
  } else if (state.ended) {
    engine->over = true;
    tell_how(engine, &state);
  } else if (++engine->asked < ASK_TIMES) {
    cdam_operation_after(op, ASK_MS, ask_how);
  } else {
    tell_how(engine, &state);
  }
}

static void ask_how(cdam_operation *op, const cdam_reply *reply) {
  (void)reply;
  char path[CDAM_EXEC_ID_SIZE + 16];
  cdam_exec_path(of(op)->name.id, "json", path, sizeof path);
  cdam_operation_send(op, &(cdam_request){.method = "GET", .path = path}, told_how);
}

static void fail_nonsense(cdam_file_engine *engine) {
  cdam_error error;
  cdam_file_engine_refuse(&error);
  cdam_file_fail(engine->request, &error);
}

/* ---- the stream ---- */

static void stepped(cdam_file_engine *engine) {
  cdam_operation_stepped(&engine->request->op);
}

static void opened(void *user) {
  cdam_file_engine *engine = user;
  cdam_file_request *request = engine->request;
  engine->opened = true;
  if (!request->op.finished && request->kind->opened) request->kind->opened(request);
  stepped(engine);
}

/* On standard error nothing comes from the script; but some engines say there what went wrong. */
static bool take_piece(void *user, cdam_stdcopy_stream from, const char *bytes, size_t length,
                       cdam_error *failure) {
  cdam_file_engine *engine = user;
  if (from == CDAM_STDCOPY_ERR && !*engine->said)
    snprintf(engine->said, sizeof engine->said, "%.*s", (int)length, bytes);
  if (from == CDAM_STDCOPY_ERR || engine->nonsense || engine->over) return true;
  return cdam_file_engine_take(engine, bytes, length, failure) == CDAM_OK;
}

static void received(void *user, const char *bytes, size_t length) {
  cdam_file_engine *engine = user;
  cdam_file_request *request = engine->request;
  cdam_error failure;
  if (request->op.finished) return;
  if (!cdam_stdcopy_feed(&engine->copy, bytes, length, take_piece, engine, &failure))
    cdam_file_fail(request, &failure);
  else if (engine->nonsense && engine->copy.offset > MOST_NONSENSE)
    fail_nonsense(engine);
  else if (!request->kind->changes && request->kind->waits_for_program &&
           request->kind->waits_for_program(request))
    cdam_file_engine_set_reading(engine, false);
  stepped(engine);
}

static void drained(void *user) {
  cdam_file_engine *engine = user;
  cdam_file_request *request = engine->request;
  request->moves++;
  if (request->events->writable) request->events->writable(request->channel);
}

static void closed(void *user, cdam_status status, const cdam_error *error) {
  cdam_file_engine *engine = user;
  cdam_duplex_close(engine->duplex);
  engine->duplex = NULL;
  if (engine->request->op.finished || engine->over) return;
  if (status != CDAM_OK && (!engine->opened || error->code == CDAM_ERR_NO_MEMORY)) {
    engine->over = !engine->opened && error->http_status;
    engine->trouble = *error;
    explain(engine);
  } else {
    ask_how(&engine->request->op, NULL);
  }
  stepped(engine);
}

static const cdam_duplex_events stream_events = {
    .opened = opened, .received = received, .drained = drained, .closed = closed};

static void created(cdam_operation *op, const cdam_reply *reply) {
  cdam_file_engine *engine = of(op);
  cdam_error error;
  if (cdam_exec_read_id(reply, "run a shell", engine->name.id, &engine->trouble) != CDAM_OK) {
    explain(engine);
    return;
  }
  char path[CDAM_EXEC_ID_SIZE + 16];
  cdam_exec_path(engine->name.id, "start", path, sizeof path);
  engine->duplex =
      cdam_duplex_open(op->loop, path, CDAM_EXEC_START, 0, &stream_events, engine, &error);
  engine->sent = engine->duplex != NULL;
  if (!engine->duplex) cdam_file_fail(engine->request, &error);
}

/* ---- its life ---- */

cdam_status cdam_file_engine_new(cdam_file_request *request, const cdam_session *session,
                                 cdam_error *err) {
  cdam_file_engine *engine = calloc(1, sizeof *engine);
  if (!engine) return cdam_fail_memory(err);
  request->engine = engine;
  engine->request = request;
  engine->client = session->client;
  cdam_session_container_id(session, engine->name.container_id);
  cdam_exec_make_marker(engine->name.marker);
  const int body_case = (int)request->message.body_case;
  if (body_case == TO(DOWNLOAD)) {
    engine->tree = calloc(1, sizeof *engine->tree);
    if (!engine->tree) return cdam_fail_memory(err);
  }
  engine->in_file = body_case == TO(WRITE_FILE);
  json_t *options = NULL; /* as they were given to the engine, the workspace among them */
  const Cofferdam__V1__SessionState *state = &session->state->message;
  if (cdam_generated_create_body(state->options, &options, err) != CDAM_OK) return err->code;
  const char *workspace = json_string_value(json_object_get(options, "WorkingDir"));
  engine->has_input = engine->in_file || body_case == TO(UPLOAD);
  engine->body = cdam_file_engine_body(engine, workspace ? workspace : DEFAULT_WORKSPACE);
  json_decref(options);
  return engine->body ? CDAM_OK : cdam_fail_memory(err);
}

void cdam_file_engine_start(cdam_file_request *request) {
  cdam_file_engine *engine = request->engine;
  char path[160];
  snprintf(path, sizeof path, "/containers/%s/exec", engine->name.container_id);
  const cdam_request create = {.method = "POST", .path = path, .body = engine->body};
  cdam_operation_send(&request->op, &create, created);
}

bool cdam_file_engine_is_open(const cdam_file_engine *engine) {
  return engine->opened && engine->duplex && !engine->over;
}

size_t cdam_file_engine_pending(const cdam_file_engine *engine) {
  return engine->duplex ? cdam_duplex_pending(engine->duplex) : 0;
}

bool cdam_file_engine_can_send(const cdam_file_engine *engine) {
  return cdam_file_engine_is_open(engine) && cdam_duplex_is_writable(engine->duplex) &&
         cdam_file_engine_pending(engine) <= CDAM_DUPLEX_LOW;
}

void cdam_file_engine_cancel(cdam_file_engine *engine) {
  if (engine->duplex) cdam_duplex_end_writing(engine->duplex);
}

void cdam_file_engine_set_reading(cdam_file_engine *engine, bool reading) {
  if (engine->duplex) cdam_duplex_set_reading(engine->duplex, reading);
}

void cdam_file_engine_close(cdam_file_engine *engine) {
  cdam_duplex_close(engine->duplex);
  engine->duplex = NULL;
}

void cdam_file_engine_free(cdam_file_engine *engine) {
  if (!engine) return;
  const cdam_operation *op = &engine->request->op;
  cdam_file_engine_close(engine);
  /* One that takes input ends with that, and undoes what it did. */
  if (engine->sent && !engine->over && !engine->has_input)
    cdam_engine_kill_off(&engine->name, engine->client, engine->request->own ? NULL : op->loop);
  cdam_stdcopy_clear(&engine->copy);
  cdam_buffer_clear(&engine->held);
  cdam_buffer_clear(&engine->target);
  if (engine->tree) cdam_tree_links_clear(&engine->tree->links);
  free(engine->tree);
  free(engine->body);
  free(engine);
}
