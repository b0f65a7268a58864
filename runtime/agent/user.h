/* SPDX-License-Identifier: Apache-2.0 */
/* Users and groups by name, from the sandbox's own /etc/passwd and /etc/group, which may hold
 * anything: read with bounds, and only if they are files. */
#ifndef COFFERDAM_AGENT_USER_H
#define COFFERDAM_AGENT_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { AGENT_MAX_GROUPS = 64 };

typedef struct agent_user {
  uid_t uid;
  gid_t gid;
  gid_t groups[AGENT_MAX_GROUPS];
  size_t group_count;
  char home[256]; /* "" when there is none */
} agent_user;

/* USER, UID, USER:GROUP …, as docker exec --user has it. NULL, or what is wrong with it. */
const char *agent_user_find(const char *text, agent_user *user);

#endif
