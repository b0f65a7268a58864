/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files without an agent. Each request is one exec of the image's /bin/sh with a fixed script,
 * which does as the agent would and answers on its standard output. What it says becomes the
 * messages that the agent would have sent, so all that a request does with those is the same; and
 * what a request sends (entries and data) becomes lines on the script's standard input.
 *
 *     engine.c          the exec: its request, its stream, its end
 *     engine_ask.c      a request as arguments, entries and data as input
 *     engine_answer.c   output as messages
 *     engine_walk.sh    the script, of which embed.sh makes a text of the library's: paths, errors
 *     engine_tree.sh    trees
 *     engine_calls.sh   all other calls, and the beginning
 *
 * Not the engine's archive: that sees no tmpfs, needs a root that can be written, and knows no
 * workspace. Paths and texts are arguments or lines with every odd byte as \0ooo, which printf
 * undoes; they are never a part of the script.
 *
 * Output:
 *     e MODE UID GID SIZE MTIME INODE DEVICE LINKS ./NAME/   what stat says; a name has no /
 *     t, then TEXT MARKER                                    the text of the link that follows
 *     c, then CONTENT MARKER                                 of the file that was just told
 *     u                                                      a directory is left
 *     s                                                      something is left out
 *     a                                                      the end of an answer in an upload
 *     . or !, then WHY MARKER                                the end
 * Input:
 *     D L F S P H MODE OWNER MTIME NAME TARGET               an entry, by its type
 *     A ... NAME                                             what is there?
 *     d N, and N bytes; E                                    content, and its end
 *     .                                                      the end
 *
 * The marker is a UUID of this request's own. Each path is walked name by name: the shell goes into
 * a directory (cd -P) and asks the kernel where it has come to, so that no link leads out; only a
 * link that takes the place of the last name just then is followed. Used are test, cd, printf, read
 * and trap of the shell, and cat chmod chown dd head ln mkdir mkfifo mv readlink rm rmdir stat sync
 * tail touch xargs as busybox, Debian and Alpine have them.
 */
#ifndef COFFERDAM_FILE_ENGINE_H
#define COFFERDAM_FILE_ENGINE_H

#include "base/buffer.h"
#include "engine/duplex.h"
#include "engine/stdcopy.h"
#include "file/request.h"
#include "process/engine_exec.h"
#include "session/exec_shell.h"
#include "tree/links.h"
#include "tree/part.h"

/* Of a marker, without its NUL. */
#define CDAM_FILE_MARKER ((size_t)CDAM_EXEC_MARKER_SIZE - 1)

/* A directory of a tree that is being told. */
typedef struct cdam_file_level {
  size_t length; /* of its path */
  Cofferdam__Agent__V1__Entry entry;
} cdam_file_level;

/* A tree that is being told. */
typedef struct cdam_file_tree {
  size_t depth;
  cdam_file_level levels[CDAM_TREE_DEPTH];
  cdam_tree_links links; /* files that may get more names */
  char path[CDAM_FILE_MAX_PATH + 1];
} cdam_file_tree;

struct cdam_file_engine {
  cdam_file_request *request;
  cdam_client *client;
  cdam_engine_name name;
  char *body;
  cdam_duplex *duplex;
  cdam_stdcopy copy;
  bool sent;   /* the start request: the script may run */
  bool opened; /* the stream is there */
  bool has_input;
  bool over;            /* and nothing runs any more */
  bool killed;          /* by a signal, maybe the end of the container */
  cdam_exec_shell rest; /* ends what the shell has left behind */
  unsigned asked;       /* how often how it ended */
  cdam_error trouble;
  char said[256]; /* on standard error */

  /* engine_answer.c */
  cdam_buffer held;   /* output that is not used yet */
  bool nonsense;      /* it is none of the script's */
  char kind;          /* of what is told until the next marker: 'c', 't', '!'; or 0 */
  cdam_buffer target; /* of the link that follows */
  uint64_t skipped;
  cdam_file_tree *tree; /* of a download */
  bool muted;           /* the content that comes is known */

  /* engine_ask.c */
  bool in_file; /* content is being sent */
  cdam_channel *asker;
  const cdam_channel_events *asker_events;
};

/* ---- engine.c ---- */

/* Gives a request its engine. CDAM_ERR_NO_MEMORY. */
cdam_status cdam_file_engine_new(cdam_file_request *request, const cdam_session *session,
                                 cdam_error *err);

void cdam_file_engine_start(cdam_file_request *request);

/* Is there something that answers? */
bool cdam_file_engine_is_open(const cdam_file_engine *engine);

/* What is waiting to be sent. */
size_t cdam_file_engine_pending(const cdam_file_engine *engine);
bool cdam_file_engine_can_send(const cdam_file_engine *engine);

/* The script undoes what it can, and ends. */
void cdam_file_engine_cancel(cdam_file_engine *engine);

/* Output is read, or not. */
void cdam_file_engine_set_reading(cdam_file_engine *engine, bool reading);

/* Nothing comes any more. */
void cdam_file_engine_close(cdam_file_engine *engine);

/* What still runs is ended. NULL is fine. */
void cdam_file_engine_free(cdam_file_engine *engine);

/* The end, as the agent's Done: `text` is a word of the script's or what a tool said; NULL: it went
 * well. `path`: what it is about, or NULL. */
void cdam_file_engine_done(cdam_file_engine *engine, const char *text, const char *path);

/* CDAM_ERR_NO_AGENT: what answers is no shell, or its tools are none. */
void cdam_file_engine_refuse(cdam_error *error);

/* ---- engine_ask.c ---- */

/* The body of the exec; NULL when out of memory. */
char *cdam_file_engine_body(const cdam_file_engine *engine, const char *workspace);

cdam_status cdam_file_engine_send_entry(cdam_file_engine *engine,
                                        const Cofferdam__Agent__V1__Entry *entry, cdam_error *err);
cdam_status cdam_file_engine_send_data(cdam_file_engine *engine, const void *bytes, size_t length,
                                       bool end, cdam_error *err);

/* What is there at a path of the upload's own? Told as a channel is. */
cdam_status cdam_file_engine_ask(cdam_file_engine *engine, const ProtobufCBinaryData *path,
                                 cdam_channel *channel, const cdam_channel_events *events,
                                 cdam_error *err);

/* ---- engine_answer.c ---- */

/* Takes output. Sets `nonsense` for what the script never says. */
cdam_status cdam_file_engine_take(cdam_file_engine *engine, const char *bytes, size_t length,
                                  cdam_error *err);

/* ---- by embed.sh ---- */

extern const char cdam_file_engine_script[];

#endif
