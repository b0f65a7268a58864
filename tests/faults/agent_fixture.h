/* SPDX-License-Identifier: Apache-2.0 */
/* A directory with programs that look like the agent's, and sandboxes on the model that get one. */
#ifndef COFFERDAM_TESTS_AGENT_FIXTURE_H
#define COFFERDAM_TESTS_AGENT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model_engine.h"

#define AGENT_SIZE 150001

typedef struct agent_fixture {
  model_engine *model;
  char directory[64];
  char path[128]; /* of the program for amd64 */
} agent_fixture;

static inline void write_file(const char *path, const void *bytes, size_t size) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, bytes, size), size);
  close(fd);
}

/* A program as far as its head tells. */
static inline void write_program(const char *path, unsigned machine, size_t size, char filler) {
  Elf64_Ehdr head = {.e_type = ET_EXEC, .e_machine = (Elf64_Half)machine};
  memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_ident[EI_DATA] = ELFDATA2LSB;
  char *bytes = malloc(size < sizeof head ? sizeof head : size);
  assert_non_null(bytes);
  memset(bytes, filler, size);
  memcpy(bytes, &head, sizeof head);
  write_file(path, bytes, size);
  free(bytes);
}

static inline int agent_setup(void **state) {
  agent_fixture *this = calloc(1, sizeof *this);
  assert_non_null(this);
  snprintf(this->directory, sizeof this->directory, "/tmp/cofferdam-agent-XXXXXX");
  assert_non_null(mkdtemp(this->directory));
  snprintf(this->path, sizeof this->path, "%s/cofferdam-agent-amd64", this->directory);
  write_program(this->path, EM_X86_64, AGENT_SIZE, 'x');
  this->model = model_start();
  model_use_agent(this->model, this->directory, CDAM_AGENT_REQUIRED);
  *state = this;
  return 0;
}

static inline int agent_teardown(void **state) {
  agent_fixture *this = *state;
  char other[128];
  model_stop(this->model);
  snprintf(other, sizeof other, "%s/cofferdam-agent-arm64", this->directory);
  unlink(this->path);
  unlink(other);
  assert_int_equal(rmdir(this->directory), 0);
  free(this);
  return 0;
}

/* One more sandbox, whose container the model then forgets, and the session freed. `session` may be
 * NULL. */
static inline cdam_status agent_create(agent_fixture *this, cdam_session **session,
                                       cdam_error *err) {
  cdam_options *options = model_options(CDAM_NETWORK_MODE_NONE);
  cdam_session *made;
  cdam_status status = cdam_create(this->model->client, options, &made, err);
  cdam_options_free(options);
  if (status != CDAM_OK) assert_null(made);
  if (session)
    *session = made;
  else
    cdam_session_free(made);
  if (status == CDAM_OK) {
    assert_true(model_has_container(this->model));
    if (!session) this->model->id[0] = '\0';
  }
  return status;
}

static inline void assert_created(agent_fixture *this) {
  cdam_session *session;
  cdam_error err = {0};
  if (agent_create(this, &session, &err) != CDAM_OK) fail_msg("%s", err.message);
  assert_true(cdam_session_has_agent(session));
  cdam_session_free(session);
  this->model->id[0] = '\0';
  assert_false(this->model->volumes.helper);
  assert_true(this->model->volumes.tar_size >= AGENT_SIZE);
}

/* How many requests a client makes for the volume alone. */
static inline size_t volume_requests(agent_fixture *this) {
  model_engine *model = this->model;
  return model_requests(model, NULL, "/volumes/*") +
         model_requests(model, NULL, "*cofferdam-agent-*-fill*") +
         model_requests(model, NULL, "/containers/" MODEL_HELPER_ID "*");
}

#define AGENT_TEST(name) cmocka_unit_test_setup_teardown(name, agent_setup, agent_teardown)

#endif
