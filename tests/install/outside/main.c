/* SPDX-License-Identifier: Apache-2.0 */
/* An outside program, C and C++ at once: makes options and reads them back. No engine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cofferdam/cofferdam.h>

static int failed(const char *what, const cdam_error *err) {
  fprintf(stderr, "%s: %s: %s\n", what, cdam_status_name(err->code), err->message);
  return 1;
}

int main(void) {
  static const char text[] = "{\"image\": \"debian:12\", \"networkMode\": \"NETWORK_MODE_NONE\"}";
  cdam_options *options = NULL;
  cdam_error err;
  char *json = NULL;
  int status = 1;

  memset(&err, 0, sizeof err);
  if (strcmp(cdam_version(), CDAM_VERSION) != 0) {
    fprintf(stderr, "the library is %s, the headers are %s\n", cdam_version(), CDAM_VERSION);
    return 1;
  }
  if (cdam_options_from_json(text, strlen(text), &options, &err) != CDAM_OK)
    return failed("from JSON", &err);
  if (cdam_options_to_json(options, &json, &err) != CDAM_OK)
    status = failed("to JSON", &err);
  else if (strcmp(json, text) != 0)
    fprintf(stderr, "other JSON came back: %s\n", json);
  else
    status = 0;
  free(json);
  cdam_options_free(options);
  if (cdam_options_from_json("{\"image\":\"\"}", 12, &options, &err) != CDAM_ERR_INVALID)
    status = 1;
  return status;
}
