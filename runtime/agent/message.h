/* SPDX-License-Identifier: Apache-2.0 */
/* Short names for the generated protocol messages, and the protocol's fixed numbers. */
#ifndef COFFERDAM_AGENT_MESSAGE_H
#define COFFERDAM_AGENT_MESSAGE_H

#include "cofferdam/agent/v1/agent.pb-c.h"

#define MSG(name) Cofferdam__Agent__V1__##name
#define MSG_INIT(NAME) COFFERDAM__AGENT__V1__##NAME##__INIT
#define ERR(NAME) COFFERDAM__AGENT__V1__ERROR_CODE__ERROR_CODE_##NAME
#define STEP(NAME) COFFERDAM__AGENT__V1__STEP__STEP_##NAME
#define TO(NAME) COFFERDAM__AGENT__V1__TO_AGENT__BODY_##NAME
#define FROM(NAME) COFFERDAM__AGENT__V1__FROM_AGENT__BODY_##NAME

enum {
  AGENT_PROTOCOL_MIN = 1,
  AGENT_PROTOCOL_MAX = 1,
  AGENT_MAX_FRAME = 256 * 1024,
  AGENT_MAX_CHANNELS = 4096,
  AGENT_MAX_CLIENTS = 16,
  AGENT_MAX_RUNNING = 4096,
  AGENT_MAX_KEPT = 256,
  AGENT_MAX_RETAIN = 4 * 1024 * 1024,
  AGENT_MAX_RETAIN_ALL = 64 * 1024 * 1024,
  AGENT_MAX_INPUT_ALL = 64 * 1024 * 1024,
  AGENT_MAX_PATH = 4095,
  AGENT_CHUNK = 64 * 1024,            /* payload of one frame that we send */
  AGENT_QUEUE_HIGH = 160 * 1024,      /* above this nothing but answers is queued for a client */
  AGENT_QUEUE_PAUSE = 512 * 1024,     /* above this no more requests are read from it either */
  AGENT_INITIAL_CREDIT = 1024 * 1024, /* what a client may send at first on each channel */
  AGENT_CREDIT_STEP = 256 * 1024      /* and is given back at a time */
};

#endif
