/* SPDX-License-Identifier: Apache-2.0 */
/* A container of the OpenAI Agents SDK on the scripted engine. */
#ifndef COFFERDAM_TESTS_SDK_CONTAINER_H
#define COFFERDAM_TESTS_SDK_CONTAINER_H

#include <stdio.h>
#include <string.h>

#include "model_engine.h"

#define SDK_SESSION "7d352bde-f197-4d85-8fd3-c63caa5cc700"

/* As Docker shows a container of the SDK; the model knows only what the library sends. */
static inline void as_the_sdk_makes_it(json_t *inspect) {
  json_t *config = json_object_get(inspect, "Config");
  json_t *host = json_object_get(inspect, "HostConfig");
  char name[100];
  snprintf(name, sizeof name, "/%s", json_string_value(json_object_get(inspect, "Name")));
  json_object_set_new(inspect, "Name", json_string(name));
  json_object_set_new(inspect, "Mounts", json_array());
  json_object_set_new(config, "Image", json_string("busybox:1"));
  json_object_set_new(config, "Entrypoint", json_pack("[s]", "tail"));
  json_object_set_new(config, "Cmd", json_pack("[ss]", "-f", "/dev/null"));
  json_object_update_new(host, json_pack("{s:b, s:n, s:n, s:n, s:s, s:s, s:s, s:s, s:n, s:n, s:b}",
                                         "Privileged", 0, "CapAdd", "Binds", "Devices", "PidMode",
                                         "", "IpcMode", "private", "UsernsMode", "", "UTSMode", "",
                                         "SecurityOpt", "VolumesFrom", "PublishAllPorts", 0));
}

/* Puts one there, with NONE, and gives the state of its document. */
static inline cdam_state *put_sdk_container(model_engine *model) {
  model_put_container(
      model, model_id('c'), "gifted_name",
      json_pack("{s:s, s:{s:s}}", "Image", "busybox:1", "HostConfig", "NetworkMode", "none"));
  char text[512];
  int length =
      snprintf(text, sizeof text,
               "{\"type\":\"docker\",\"session_id\":\"" SDK_SESSION "\",\"image\":\"busybox:1\","
               "\"container_id\":\"%s\",\"network_mode\":\"none\",\"manifest\":{},"
               "\"snapshot\":{\"type\":\"noop\",\"id\":\"x\"}}",
               model_id('c'));
  cdam_state *state = NULL;
  cdam_agents_report *report;
  cdam_error err;
  if (cdam_state_from_agents_json(text, (size_t)length, &state, &report, &err) == CDAM_OK)
    cdam_agents_report_free(report);
  return state;
}

#endif
