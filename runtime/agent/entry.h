/* SPDX-License-Identifier: Apache-2.0 */
/* Entry messages from what stat says. */
#ifndef COFFERDAM_AGENT_ENTRY_H
#define COFFERDAM_AGENT_ENTRY_H

#include "peer.h"

#include <sys/stat.h>

void agent_entry_fill(MSG(Entry) * entry, const struct stat *info);
void agent_entry_send(agent_channel *channel, MSG(Entry) * entry);
/* The entry called `name` in a directory, with a link's target; `name` is its path. 0 or errno. */
int agent_entry_send_at(agent_channel *channel, int directory, const char *name);
void agent_data_send(agent_channel *channel, const uint8_t *data, size_t length, bool end);
/* An open file, with this path. */
int agent_entry_send_fd(agent_channel *channel, int fd, const char *path);

#endif
