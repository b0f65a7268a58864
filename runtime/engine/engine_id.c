/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/engine_id.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "engine/answer.h"

bool cdam_client_engine_id(cdam_client *client, char id[CDAM_ENGINE_ID_SIZE]) {
  pthread_mutex_lock(&client->lock);
  bool known = client->engine_id_known;
  memcpy(id, client->engine_id, CDAM_ENGINE_ID_SIZE);
  pthread_mutex_unlock(&client->lock);
  return known;
}

/* As the schema has it: printable ASCII without blanks. */
static bool is_engine_id(const char *id) {
  if (strlen(id) >= CDAM_ENGINE_ID_SIZE) return false;
  for (; *id; id++)
    if (*id <= ' ' || *id > '~') return false;
  return true;
}

/* Podman, which alone shows a version of Buildah, makes up another id for every answer: kept, it
 * would make each of its containers one of another engine. That is to have no id. */
static const char *lasting_id(const json_t *info) {
  const char *id = cdam_json_string_at(info, "ID");
  return id && !cdam_json_at(info, "BuildahVersion") ? id : "";
}

cdam_status cdam_client_learn_engine_id(cdam_client *client, const cdam_reply *reply,
                                        char id[CDAM_ENGINE_ID_SIZE], cdam_error *err) {
  json_t *info = NULL;
  cdam_status status = cdam_answer_json(reply, "ask for the engine's id", &info, err);
  if (status != CDAM_OK) return status;
  const char *found = lasting_id(info);
  const char *architecture = cdam_json_string_at(info, "Architecture");
  if (is_engine_id(found)) {
    snprintf(id, CDAM_ENGINE_ID_SIZE, "%s", found);
    pthread_mutex_lock(&client->lock);
    memcpy(client->engine_id, id, CDAM_ENGINE_ID_SIZE);
    client->engine_id_known = true;
    snprintf(client->architecture, sizeof client->architecture, "%s",
             architecture ? architecture : "");
    pthread_mutex_unlock(&client->lock);
  } else {
    status = cdam_fail(err, CDAM_ERR_PROTOCOL, "the engine's id is no id: %.64s", found);
  }
  json_decref(info);
  return status;
}
