/* SPDX-License-Identifier: Apache-2.0 */
/* What is inside a client. After cdam_client_new everything but `lock` and what it guards is
 * constant, so threads read it freely. */
#ifndef COFFERDAM_ENGINE_CLIENT_PRIVATE_H
#define COFFERDAM_ENGINE_CLIENT_PRIVATE_H

#include <pthread.h>

#include <cofferdam/client.h>

#include "engine/endpoint.h"
#include "engine/operation.h"

/* An engine's id, with its NUL. */
#define CDAM_ENGINE_ID_SIZE 257

/* A SHA-256 in lower-case hexadecimal digits, with its NUL. */
#define CDAM_DIGEST_SIZE 65

/* The agent's program for one architecture, as it was read from its file. */
typedef struct cdam_agent_binary {
  char digest[CDAM_DIGEST_SIZE];
  unsigned char *bytes; /* NULL until it was read */
  size_t size;
} cdam_agent_binary;

#define CDAM_AGENT_ARCHITECTURES 2

struct cdam_client_config {
  char *endpoint;  /* as given */
  char *cert_path; /* directory, when tls */
  bool tls;
  bool allow_plain_tcp;
  unsigned timeout_ms;
  cdam_options *minimum; /* the policy, or NULL */
  cdam_pull_progress progress;
  void *progress_user;
  char *registry_auth;
  char *agent_directory;
  cdam_agent_policy agent;
};

struct cdam_client {
  cdam_client_config config; /* its own copy */
  cdam_endpoint endpoint;
  char *ca_file; /* these three with TLS only; the last two NULL without a certificate */
  char *cert_file;
  char *key_file;
  pthread_mutex_t lock; /* guards all below */
  cdam_loop *idle_loops;
  unsigned idle_count;
  char api_version[8]; /* "1.41"; "" until settled */
  char engine_id[CDAM_ENGINE_ID_SIZE];
  bool engine_id_known;
  char architecture[16]; /* the engine's, in its own word; "" until its id is known */
  cdam_agent_binary agents[CDAM_AGENT_ARCHITECTURES]; /* constant once read */
  char agent_volume[CDAM_DIGEST_SIZE];                /* the agent whose volume was found filled */
  char agent_engine[CDAM_ENGINE_ID_SIZE];             /* on this engine; see agent_volume.h */
};

/* client_config.c: a deep copy into *to, and its end. */
cdam_status cdam_client_config_copy(const cdam_client_config *from, cdam_client_config *to,
                                    cdam_error *err);
void cdam_client_config_clear(cdam_client_config *config);

/* client.c: takes an idle loop or makes one; NULL when out of memory or of descriptors. */
cdam_loop *cdam_client_borrow_loop(cdam_client *client);

/* Right after there was none: CDAM_ERR_NO_MEMORY, or CDAM_ERR_IO for want of a descriptor. */
cdam_status cdam_fail_loop(cdam_error *err);

void cdam_client_return_loop(cdam_client *client, cdam_loop *loop);

#endif
