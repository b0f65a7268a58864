/* SPDX-License-Identifier: Apache-2.0 */
#include "failing_malloc.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* glibc's own, under the names that it exports for this purpose. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

#define FRAMES 28
#define SLOTS 65536

typedef struct block {
  void *address; /* NULL: free; TOMBSTONE: was used */
  size_t size;
  int depth;
  void *frames[FRAMES];
} block;

#define TOMBSTONE ((void *)1)

static __thread bool armed;
static __thread bool all;
static __thread bool fired;
static __thread long countdown;
static __thread block failure;

static block blocks[SLOTS];
static atomic_size_t live;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The first backtrace of a program loads a library. */
__attribute__((constructor)) static void load_backtrace(void) {
  void *frames[2];
  backtrace(frames, 2);
}

static void trace(block *into, size_t size) {
  bool was = armed;
  armed = false;
  into->size = size;
  into->depth = backtrace(into->frames, FRAMES);
  armed = was;
}

static size_t slot_of(const void *address) {
  return (size_t)(((uintptr_t)address >> 4) * 0x9E3779B97F4A7C15u >> 40) % SLOTS;
}

static void remember(void *address, size_t size) {
  if (!address) return;
  block made = {.address = address};
  trace(&made, size);
  pthread_mutex_lock(&lock);
  if (atomic_load(&live) > SLOTS / 2) abort();
  size_t slot = slot_of(address);
  while (blocks[slot].address && blocks[slot].address != TOMBSTONE)
    slot = (slot + 1) % SLOTS;
  blocks[slot] = made;
  atomic_fetch_add(&live, 1);
  pthread_mutex_unlock(&lock);
}

static bool forget(const void *address) {
  bool found = false;
  if (!address || atomic_load(&live) == 0) return false;
  pthread_mutex_lock(&lock);
  size_t slot = slot_of(address);
  while (blocks[slot].address && blocks[slot].address != address)
    slot = (slot + 1) % SLOTS;
  if (blocks[slot].address) {
    blocks[slot].address = TOMBSTONE;
    atomic_fetch_sub(&live, 1);
    found = true;
  }
  pthread_mutex_unlock(&lock);
  return found;
}

/* Is it this allocation's turn to fail? */
static bool fails(size_t size) {
  if (!armed) return false;
  if (countdown > 0) countdown--;
  if (countdown > 0 || (fired && !all)) return false;
  if (!fired) trace(&failure, size);
  fired = true;
  errno = ENOMEM;
  return true;
}

/* The libraries are to find these. */
#pragma GCC visibility push(default)

void *malloc(size_t size) {
  if (fails(size)) return NULL;
  void *made = __libc_malloc(size);
  if (armed) remember(made, size);
  return made;
}

void *calloc(size_t count, size_t size) {
  if (fails(count * size)) return NULL;
  void *made = __libc_calloc(count, size);
  if (armed) remember(made, count * size);
  return made;
}

void *realloc(void *old, size_t size) {
  if (fails(size)) return NULL;
  bool known = forget(old);
  void *made = __libc_realloc(old, size);
  if (made && (armed || known)) remember(made, size);
  if (!made && size && known) remember(old, 0);
  return made;
}

void *memalign(size_t alignment, size_t size) {
  if (fails(size)) return NULL;
  void *made = __libc_memalign(alignment, size);
  if (armed) remember(made, size);
  return made;
}

void *aligned_alloc(size_t alignment, size_t size) {
  return memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size) {
  void *made = memalign(alignment, size);
  if (!made) return ENOMEM;
  *out = made;
  return 0;
}

void free(void *address) {
  forget(address);
  __libc_free(address);
}

#pragma GCC visibility pop

void failing_malloc_arm(long nth, bool all_later) {
  countdown = nth;
  all = all_later;
  fired = false;
  armed = true;
}

bool failing_malloc_disarm(void) {
  armed = false;
  return fired;
}

static void show(const char *what, const block *at) {
  dprintf(STDERR_FILENO, "# %s of %zu bytes:\n", what, at->size);
  backtrace_symbols_fd(at->frames, at->depth, STDERR_FILENO);
}

static bool is_in(void *address, const char *file) {
  Dl_info info;
  return dladdr(address, &info) && info.dli_fname && strstr(info.dli_fname, file);
}

/* Where we called libcrypto: the frame outside of it, when the innermost frames are this file's and
 * then libcrypto's. NULL when they are not. */
static void *crypto_call(const block *at) {
  Dl_info here, info;
  int i = 0;
  dladdr((void *)(uintptr_t)failing_malloc_arm, &here);
  while (i < at->depth && dladdr(at->frames[i], &info) && info.dli_fbase == here.dli_fbase)
    i++;
  if (i == at->depth || !is_in(at->frames[i], "libcrypto")) return NULL;
  while (i < at->depth && is_in(at->frames[i], "libcrypto"))
    i++;
  return i < at->depth ? at->frames[i] : NULL;
}

static size_t others;

static bool lost_by_others(const block *at) {
  void *call = fired ? crypto_call(&failure) : NULL;
  if (!call || crypto_call(at) != call) return false;
  others++;
  return true;
}

size_t failing_malloc_lost_by_others(void) {
  return others;
}

size_t failing_malloc_leaks(bool shown) {
  static block left[64]; /* looked at without the lock: that allocates */
  size_t count = 0, leaks = 0;
  pthread_mutex_lock(&lock);
  for (size_t slot = 0; slot < SLOTS; slot++) {
    if (blocks[slot].address && blocks[slot].address != TOMBSTONE) {
      if (count < sizeof left / sizeof *left) left[count] = blocks[slot];
      count++;
    }
    blocks[slot].address = NULL;
  }
  atomic_store(&live, 0);
  pthread_mutex_unlock(&lock);
  for (size_t i = 0; i < count && i < sizeof left / sizeof *left; i++) {
    if (lost_by_others(&left[i])) continue;
    if (shown && leaks < 5) show("not freed, an allocation", &left[i]);
    leaks++;
  }
  return count > sizeof left / sizeof *left ? count : leaks;
}

void failing_malloc_show_failure(void) {
  show("made to fail, an allocation", &failure);
}
