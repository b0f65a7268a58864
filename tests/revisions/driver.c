/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the library of one revision does with a state, on the public interface alone:
 *
 *   driver keep|show|resume bytes|json IN OUT
 *   driver create json IN OUT                    IN has options
 *
 * Three lines come out: the name of the status, the field, the message. OUT gets the state's bytes;
 * with `show` its ProtoJSON.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cofferdam/cofferdam.h>

static char *read_file(const char *path, size_t *length) {
  char *text = malloc(CDAM_STATE_MAX_BYTES);
  FILE *file = fopen(path, "rb");
  if (!file || !text) exit(3);
  *length = fread(text, 1, CDAM_STATE_MAX_BYTES, file);
  fclose(file);
  return text;
}

static void write_file(const char *path, const void *bytes, size_t length) {
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(bytes, 1, length, file) != length || fclose(file) != 0) exit(3);
}

static cdam_status load(const char *form, const char *path, cdam_state **state, cdam_error *err) {
  size_t length;
  char *text = read_file(path, &length);
  cdam_status status = strcmp(form, "json") == 0
                           ? cdam_state_from_json(text, length, NULL, state, err)
                           : cdam_state_parse(text, length, NULL, state, err);
  free(text);
  return status;
}

static cdam_status keep(const cdam_state *state, const char *out, cdam_error *err) {
  unsigned char *bytes;
  size_t length;
  cdam_status status = cdam_state_serialize(state, NULL, &bytes, &length, err);
  if (status) return status;
  write_file(out, bytes, length);
  free(bytes);
  return CDAM_OK;
}

static cdam_status show(const cdam_state *state, const char *out, cdam_error *err) {
  char *json;
  cdam_status status = cdam_state_to_json(state, &json, err);
  if (status) return status;
  write_file(out, json, strlen(json));
  free(json);
  return CDAM_OK;
}

static cdam_status resume(const cdam_state *state, const char *out, cdam_error *err) {
  cdam_client *client;
  cdam_session *session;
  cdam_status status = cdam_client_new(NULL, &client, err);
  if (status) return status;
  status = cdam_resume(client, state, NULL, &session, err);
  if (!status) {
    status = keep(cdam_session_state(session), out, err);
    cdam_session_free(session);
  }
  cdam_client_free(client);
  return status;
}

static cdam_status create(const char *path, const char *out, cdam_error *err) {
  size_t length;
  char *text = read_file(path, &length);
  cdam_options *options;
  cdam_client *client = NULL;
  cdam_session *session = NULL;
  cdam_status status = cdam_options_from_json(text, length, &options, err);
  free(text);
  if (status) return status;
  status = cdam_client_new(NULL, &client, err);
  if (!status) status = cdam_create(client, options, &session, err);
  if (!status) status = keep(cdam_session_state(session), out, err);
  cdam_session_free(session);
  cdam_client_free(client);
  cdam_options_free(options);
  return status;
}

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  const char *action = argv[1], *form = argv[2], *in = argv[3], *out = argv[4];
  cdam_error err = {0};
  cdam_state *state = NULL;
  cdam_status status = CDAM_OK;
  if (strcmp(action, "create") == 0)
    status = create(in, out, &err);
  else
    status = load(form, in, &state, &err);
  if (state && strcmp(action, "keep") == 0) status = keep(state, out, &err);
  if (state && strcmp(action, "show") == 0) status = show(state, out, &err);
  if (state && strcmp(action, "resume") == 0) status = resume(state, out, &err);
  cdam_state_free(state);
  printf("%s\n%s\n%s\n", cdam_status_name(status), err.field, err.message);
  return 0;
}
