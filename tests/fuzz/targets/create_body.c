/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of POST /containers/create, from options in ProtoJSON (when the input begins with
 * "{") or in protobuf. It is JSON without a name twice, and has HostConfig.NetworkMode, "none", if
 * and only if the options say NONE. The checker (Python) makes the whole body on its own.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "engine/answer.h"
#include "fuzz.h"
#include "session/create_request.h"
#include "state/pack.h"
#include "state/wire.h"
#include "state_checks.h"

#define SESSION_ID "6f1c2f4e-0a1b-4c3d-9e5f-8a7b6c5d4e3f"
#define CREATION_ID "00000000-0000-4000-8000-000000000000"

static cdam_options *from_protobuf(const uint8_t *data, size_t size) {
  if (cdam_wire_check(&cofferdam__v1__sandbox_options__descriptor, data, size, NULL)) return NULL;
  Cofferdam__V1__SandboxOptions *message = cofferdam__v1__sandbox_options__unpack(NULL, size, data);
  FUZZ_CHECK(message != NULL);
  cdam_options *options = (cdam_options *)message;
  if (!cdam_sort_maps(&message->base, NULL) && !cdam_options_validate(options, NULL))
    return options;
  cdam_options_free(options);
  return NULL;
}

static cdam_options *from_json(const uint8_t *data, size_t size) {
  cdam_options *options;
  char *text = fuzz_copy(data, size);
  cdam_status status = cdam_options_from_json(text, size, &options, NULL);
  free(text);
  FUZZ_CHECK((status == CDAM_OK) == (options != NULL));
  return options;
}

static void check_body(const cdam_options *options, const char *body, const char *image) {
  json_error_t why;
  json_t *json = json_loads(body, JSON_REJECT_DUPLICATES, &why);
  FUZZ_CHECK(json_is_object(json));
  const json_t *mode = json_object_get(json_object_get(json, "HostConfig"), "NetworkMode");
  if (cdam_options_network_mode(options) == CDAM_NETWORK_MODE_NONE)
    FUZZ_CHECK(json_is_string(mode) && strcmp(json_string_value(mode), "none") == 0);
  else
    FUZZ_CHECK(!mode);
  FUZZ_CHECK(!json_object_get(json, "NetworkMode") && !json_object_get(json, "NetworkingConfig"));
  FUZZ_CHECK(strcmp(json_string_value(json_object_get(json, "Image")), image) == 0);
  json_decref(json);
}

static void check_image(const cdam_options *options, const char *image) {
  cdam_state state;
  cofferdam__v1__session_state__init(&state.message);
  char session_id[] = SESSION_ID;
  state.message.session_id = session_id;
  state.message.options = (Cofferdam__V1__SandboxOptions *)(uintptr_t)&options->message;
  char *body;
  FUZZ_CHECK(cdam_create_request_body(&state, image, NULL, CREATION_ID, NULL, &body, NULL) ==
             CDAM_OK);
  check_body(options, body, image);
  size_t length;
  unsigned char *bytes = fuzz_pack(&options->message.base, &length);
  FUZZ_CHECK(bytes != NULL);
  fuzz_tell(
      (fuzz_piece[]){{"body", 4}, {bytes, length}, {image, strlen(image)}, {body, strlen(body)}},
      4);
  free(bytes);
  free(body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  cdam_options *options =
      size && data[0] == '{' ? from_json(data, size) : from_protobuf(data, size);
  if (!options) return 0;
  check_image(options, cdam_options_image(options));
  check_image(options, "sha256:6105d6cc76af400325e94d588ce511be5bfdbb73b437dc51eca43917d7a43e3d");
  fuzz_check_options(options);
  cdam_options_free(options);
  return 0;
}
