/* SPDX-License-Identifier: Apache-2.0 */
/* What tests against a real engine share. */
#ifndef COFFERDAM_TESTS_REAL_ENGINE_H
#define COFFERDAM_TESTS_REAL_ENGINE_H

#include <cofferdam/cofferdam.h>

/* The image that every engine for tests has: busybox with its applets. */
#define TEST_IMAGE "cofferdam-test:latest"

/* A group setup: skips the whole program, and says so, when DOCKER_HOST is not set. */
void require_engine(void);

/* Fails the test with the error's message unless the status is CDAM_OK. */
void assert_ok(cdam_status status, const cdam_error *err);

/* A client of the engine that the environment names. */
cdam_client *engine_client(void);

/* Runs `docker` with these arguments (a printf) behind the library's back; its stdout, the final
 * newline cut off, lives until the next call. Fails the test when docker fails. */
const char *docker(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, and whether it succeeded. */
int try_docker(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Of TEST_IMAGE, or of the image that COFFERDAM_TEST_IMAGE names. */
cdam_options *options_with(cdam_network_mode mode);
cdam_session *create_with(cdam_client *client, cdam_network_mode mode);

/* The stdout of a command that must succeed; free with free(). */
char *output_of(cdam_session *session, const char *const *argv);

/* How many containers bear the label of this session. */
int containers_of(const char *session_id);

/* Deletes the sandbox and frees the session. */
void end_session(cdam_client *client, cdam_session *session);

#endif
