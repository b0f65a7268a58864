/* SPDX-License-Identifier: Apache-2.0 */
#include "spawn.h"

#include <sys/mman.h>
#include <unistd.h>

static size_t page_bytes(void) {
  return (size_t)sysconf(_SC_PAGESIZE);
}

void *agent_stack_take(agent_stacks *stacks) {
  if (stacks->count) return stacks->spare[--stacks->count];
  size_t page = page_bytes();
  char *memory = mmap(NULL, page + AGENT_STACK_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  if (mprotect(memory, page, PROT_NONE) == 0) return memory + page;
  munmap(memory, page + AGENT_STACK_BYTES);
  return NULL;
}

void agent_stack_give(agent_stacks *stacks, void *stack) {
  size_t page = page_bytes();
  if (!stack) return;
  if (stacks->count < sizeof stacks->spare / sizeof *stacks->spare)
    stacks->spare[stacks->count++] = stack;
  else
    munmap((char *)stack - page, page + AGENT_STACK_BYTES);
}
