/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's volume on the model: what somebody put into it, and requests that fail. */
#ifndef COFFERDAM_TESTS_VOLUME_FIXTURE_H
#define COFFERDAM_TESTS_VOLUME_FIXTURE_H

#include <archive.h>
#include <archive_entry.h>

#include "agent_fixture.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* The engine's own no. */
static const scripted_reply refusal = {500, .body = "{\"message\":\"the first failure\"}"};

/* What the request is answered with that matches, after so many that do; done all the same if told.
 */
static inline void fail_at(model_engine *model, const char *path, int after, scripted_reply reply,
                           bool but_do) {
  model->fail_path = path;
  model->fail_after = after;
  model->fail_reply = reply;
  model->fail_but_do = but_do;
}

static inline void begin_anew(agent_fixture *this, cdam_agent_policy policy) {
  model_engine *model = this->model;
  model->fail_path = NULL;
  model->id[0] = '\0';
  free(model->volumes.tar);
  model->volumes = (model_volumes){.clock = model->volumes.clock + 1000};
  model_use_agent(model, this->directory, policy);
}

typedef struct content {
  const char *name;
  unsigned mode;
  size_t size;
  char filler;
  bool twice, link;
} content;

static inline void add_entry(struct archive *writer, const content *what, const char *bytes) {
  struct archive_entry *entry = archive_entry_new();
  archive_entry_set_pathname(entry, what->name);
  archive_entry_set_filetype(entry, what->link ? AE_IFLNK : AE_IFREG);
  if (what->link) archive_entry_set_symlink(entry, "/bin/sh");
  archive_entry_set_perm(entry, (mode_t)what->mode);
  archive_entry_set_size(entry, what->link ? 0 : (la_int64_t)what->size);
  assert_int_equal(archive_write_header(writer, entry), ARCHIVE_OK);
  if (!what->link) archive_write_data(writer, bytes, what->size);
  archive_entry_free(entry);
}

static inline void put_content(agent_fixture *this, const content *what) {
  static char tar[1024 * 1024];
  size_t length = 0;
  char *bytes = malloc(what->size + 1), *right = malloc(AGENT_SIZE);
  int fd = open(this->path, O_RDONLY | O_CLOEXEC);
  assert_int_equal(read(fd, right, AGENT_SIZE), AGENT_SIZE);
  close(fd);
  memset(bytes, what->filler, what->size);
  memcpy(bytes, right, what->size < sizeof(Elf64_Ehdr) ? what->size : sizeof(Elf64_Ehdr));
  struct archive *writer = archive_write_new();
  archive_write_set_format_ustar(writer);
  assert_int_equal(archive_write_open_memory(writer, tar, sizeof tar, &length), ARCHIVE_OK);
  add_entry(writer, what, bytes);
  if (what->twice) add_entry(writer, what, bytes);
  archive_write_close(writer);
  archive_write_free(writer);
  free(bytes);
  free(right);
  model_fill_volume(this->model, tar, length);
}

static const content right_one = {"cofferdam-agent", 0111, AGENT_SIZE, 'x', false, false};

static inline void empty_volume(agent_fixture *this) {
  free(this->model->volumes.tar);
  this->model->volumes.tar = NULL;
}

#endif
