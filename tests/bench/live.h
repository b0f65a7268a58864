/* SPDX-License-Identifier: Apache-2.0 */
/* What a client that works in a live sandbox can do. One of live_library.c and live_floor.c is
 * linked; the programs in peers/ do the same with other libraries. Errors end the program. */
#ifndef COFFERDAM_BENCH_LIVE_H
#define COFFERDAM_BENCH_LIVE_H

#include <stddef.h>

typedef struct sandbox sandbox;

#define LIVE_SMALL 4096
#define LIVE_BULK (256L << 20)
#define LIVE_ENTRIES 10000

sandbox *live_create(const char *image);
void live_delete(sandbox *box);

/* A command with its output thrown away; ends in NULL. */
void live_run(sandbox *box, const char *const *argv);

/* `count` commands at once, spread over the sandboxes. */
void live_at_once(sandbox **boxes, size_t box_count, size_t count);

/* LIVE_BULK bytes out of, and into, a command. */
void live_stdout(sandbox *box);
void live_stdin(sandbox *box);

/* The file /workspace/file. */
void live_write(sandbox *box, long size);
void live_read(sandbox *box, long size);

/* The LIVE_ENTRIES names in /workspace/many, with their attributes. */
void live_list(sandbox *box);

void die(const char *what, const char *why);

#endif
