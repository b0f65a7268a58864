/* SPDX-License-Identifier: Apache-2.0 */
#include "session/agent_binary.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "session/digest.h"

#define MAX_PROGRAM (1024 * 1024)

/* What engines call an architecture, and what it is in the program's file and name. */
static const struct architecture {
  const char *words[2];
  unsigned machine;
  const char *name;
} architectures[CDAM_AGENT_ARCHITECTURES] = {
    {{"x86_64", "amd64"}, EM_X86_64, "amd64"},
    {{"aarch64", "arm64"}, EM_AARCH64, "arm64"},
};

static int find_architecture(const char *word) {
  for (int i = 0; i < CDAM_AGENT_ARCHITECTURES; i++)
    if (strcmp(word, architectures[i].words[0]) == 0 ||
        strcmp(word, architectures[i].words[1]) == 0)
      return i;
  return -1;
}

static bool is_program(const unsigned char *bytes, size_t size, unsigned machine) {
  Elf64_Ehdr head;
  if (size < sizeof head) return false;
  memcpy(&head, bytes, sizeof head);
  return memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64 &&
         head.e_ident[EI_DATA] == ELFDATA2LSB &&
         (head.e_type == ET_EXEC || head.e_type == ET_DYN) && head.e_machine == machine;
}

/* ---- the file ---- */

static cdam_status unusable(cdam_error *err, const char *path, const char *why) {
  return cdam_fail(err, CDAM_ERR_NO_AGENT, "the agent's program %.300s %s", path, why);
}

/* Not blocking: what is opened may be anything. */
static int open_program(const char *path, size_t *size, cdam_error *err) {
  int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    cdam_fail(err, CDAM_ERR_NO_AGENT, "the agent's program %.300s: %s", path,
              errno == ELOOP ? "it is a link" : strerrordesc_np(errno));
    return -1;
  }
  struct stat info;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    unusable(err, path, "is not a file");
  } else if (info.st_size <= 0 || info.st_size > MAX_PROGRAM) {
    unusable(err, path, "is empty, or larger than 1 MiB");
  } else {
    *size = (size_t)info.st_size;
    return fd;
  }
  close(fd);
  return -1;
}

static bool read_all(int fd, unsigned char *bytes, size_t size) {
  for (size_t done = 0; done < size;) {
    ssize_t n = read(fd, bytes + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += (size_t)n;
  }
  return true;
}

static cdam_status read_program(const char *path, cdam_agent_binary *binary, cdam_error *err) {
  size_t size;
  int fd = open_program(path, &size, err);
  if (fd < 0) return CDAM_ERR_NO_AGENT;
  binary->bytes = malloc(size);
  binary->size = size;
  cdam_status status = CDAM_OK;
  if (!binary->bytes)
    status = cdam_fail_memory(err);
  else if (!read_all(fd, binary->bytes, size))
    status = unusable(err, path, "cannot be read");
  close(fd);
  return status;
}

static cdam_status load(const char *directory, const struct architecture *architecture,
                        cdam_agent_binary *binary, cdam_error *err) {
  char *path;
  if (asprintf(&path, "%s/cofferdam-agent-%s", directory, architecture->name) < 0)
    return cdam_fail_memory(err);
  cdam_agent_binary found = {0};
  cdam_status status = read_program(path, &found, err);
  if (status == CDAM_OK && !is_program(found.bytes, found.size, architecture->machine))
    status = unusable(err, path, "is no program for the engine's architecture");
  if (status == CDAM_OK && !cdam_digest(found.bytes, found.size, found.digest))
    status = cdam_fail_memory(err);
  if (status == CDAM_OK)
    *binary = found;
  else
    free(found.bytes);
  free(path);
  return status;
}

cdam_status cdam_agent_binary_get(cdam_client *client, const cdam_agent_binary **out,
                                  cdam_error *err) {
  cdam_status status = CDAM_OK;
  pthread_mutex_lock(&client->lock);
  int index = find_architecture(client->architecture);
  if (index < 0)
    status = cdam_fail(err, CDAM_ERR_NO_AGENT, "there is no agent for the engine's architecture %s",
                       client->architecture[0] ? client->architecture : "(it tells none)");
  else if (!client->agents[index].bytes)
    status =
        load(client->config.agent_directory, &architectures[index], &client->agents[index], err);
  if (status == CDAM_OK) *out = &client->agents[index];
  pthread_mutex_unlock(&client->lock);
  return status;
}
