/* SPDX-License-Identifier: Apache-2.0 */
/* Paths in the workspace. Whatever a link or a rename inside does meanwhile, what is opened here
 * is below the workspace: the kernel resolves with RESOLVE_BENEATH, or, where it cannot, every
 * component is opened by itself and no link is followed. */
#ifndef COFFERDAM_AGENT_PATH_H
#define COFFERDAM_AGENT_PATH_H

#include "message.h"

#include <stdbool.h>
#include <sys/types.h>

typedef struct agent_server agent_server;

/* A path of a request: its parent directory, open, and its last component. */
typedef struct agent_place {
  int root;   /* the workspace */
  int parent; /* O_PATH; -1 for the workspace itself */
  bool follows_links;
  char *name;                    /* in `text`; "." for the workspace itself */
  char text[AGENT_MAX_PATH + 1]; /* relative to the workspace, never empty */
  char parent_text[AGENT_MAX_PATH + 1];
} agent_place;

bool agent_path_have_openat2(void);

/* Makes the workspace if it is still to be made. */
void agent_workspace_need(agent_server *server);

/* Opens the workspace and takes the path apart, without touching it. 0, or an error code of the
 * protocol with errno for SYSTEM. The place is to be closed in either case. */
int agent_place_open(const agent_server *server, const ProtobufCBinaryData *path,
                     agent_place *place);
void agent_place_close(agent_place *place);

/* Opens the parent as well, making what is missing of it when `make` is set. False: errno. */
bool agent_place_open_parent(agent_place *place, bool make);

/* Opens the place itself, following links that stay inside. -1: errno. */
int agent_place_open_target(const agent_place *place, int flags, mode_t mode);

/* Opens `path` below `root`; links are followed only if told so. -1: errno. */
int agent_open_beneath(int root, const char *path, int flags, mode_t mode, bool follow,
                       bool have_openat2);

/* chmod of what has this name and this type (S_IFDIR …), and of nothing that a link leads to. */
bool agent_chmod_at(int directory, const char *name, mode_t type, mode_t mode);

/* A name for a temporary file, of 32 bytes with the NUL. */
void agent_temporary_name(char name[32]);

#endif
