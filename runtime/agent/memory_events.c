/* SPDX-License-Identifier: Apache-2.0 */
#include "memory_events.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int agent_memory_events_open(void) {
  int fd = open("/sys/fs/cgroup/memory.events", O_RDONLY | O_CLOEXEC);
  if (fd < 0) fd = open("/sys/fs/cgroup/memory/memory.oom_control", O_RDONLY | O_CLOEXEC);
  return fd;
}

uint64_t agent_memory_events(const agent_server *server) {
  char text[512] = "\n";
  if (server->memory_events < 0) return 0;
  ssize_t n = pread(server->memory_events, text + 1, sizeof text - 2, 0);
  if (n <= 0) return 0;
  text[n + 1] = '\0';
  /* "oom_kill_disable" is another line of version 1's file. */
  const char *at = strstr(text, "\noom_kill ");
  return at ? strtoull(at + 10, NULL, 10) : 0;
}
