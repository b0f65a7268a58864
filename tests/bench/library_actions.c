/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include <cofferdam/cofferdam.h>

#include "actions.h"

static const char *image;

static cdam_client *client;
static cdam_session *session;
static cdam_error err;

static void must(cdam_status status) {
  if (status != CDAM_OK) die(cdam_status_name(status), err.message);
}

static void create(void) {
  cdam_options *options;
  must(cdam_options_new(&options, &err));
  must(cdam_options_set_image(options, image, &err));
  cdam_options_set_network_mode(options, CDAM_NETWORK_MODE_NONE);
  must(cdam_create(client, options, &session, &err));
  cdam_options_free(options);
}

static void exec(void) {
  const char *const argv[] = {"true", NULL};
  cdam_exec_result *result;
  must(cdam_exec(session, &(cdam_exec_command){.argv = argv}, &result, &err));
  if (cdam_exec_result_exit_code(result) != 0) die("exec", "status is not 0");
  cdam_exec_result_free(result);
}

static void resume(void) {
  cdam_session *again;
  must(cdam_resume(client, cdam_session_state(session), NULL, &again, &err));
  cdam_session_free(again);
}

static void destroy(void) {
  must(cdam_delete(client, cdam_session_state(session), &err));
  cdam_session_free(session);
}

actions make_actions(const char *name_of_image) {
  image = name_of_image;
  must(cdam_client_new(NULL, &client, &err));
  return (actions){create, exec, resume, destroy};
}
