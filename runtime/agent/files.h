/* SPDX-License-Identifier: Apache-2.0 */
/* Requests about files. They are done in the agent itself, a piece of bounded size at a time. */
#ifndef COFFERDAM_AGENT_FILES_H
#define COFFERDAM_AGENT_FILES_H

#include "path.h"
#include "peer.h"

/* False: the message is none of them. */
bool agent_file_request(agent_peer *peer, const MSG(ToAgent) * message);

/* The place of a request, or the answer why not. */
bool agent_place_or_fail(agent_peer *peer, uint32_t number, const ProtobufCBinaryData *path,
                         agent_place *place);

void agent_read_file(agent_peer *peer, uint32_t number, const MSG(ReadFile) * request);
void agent_write_file(agent_peer *peer, uint32_t number, const MSG(WriteFile) * request);
void agent_list(agent_peer *peer, uint32_t number, const MSG(List) * request);
void agent_remove(agent_peer *peer, uint32_t number, const MSG(Remove) * request);
void agent_watch(agent_peer *peer, uint32_t number, const MSG(Watch) * request);
void agent_download(agent_peer *peer, uint32_t number, const MSG(Download) * request);
void agent_upload(agent_peer *peer, uint32_t number, const MSG(Upload) * request);
void agent_set_attributes(agent_peer *peer, uint32_t number, const MSG(SetAttributes) * request);

#endif
