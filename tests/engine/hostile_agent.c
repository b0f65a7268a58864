/* SPDX-License-Identifier: Apache-2.0 */
/* In the place of an agent: a static program that does what the variable HOSTILE says, on every
 * stream that the engine gives it. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put(const void *bytes, size_t length) {
  const char *at = bytes;
  while (length) {
    ssize_t done = write(1, at, length);
    if (done <= 0) exit(0);
    at += done;
    length -= (size_t)done;
  }
}

static void put_frame(const uint8_t *bytes, uint32_t length) {
  const uint8_t head[] = {(uint8_t)length, (uint8_t)(length >> 8), (uint8_t)(length >> 16),
                          (uint8_t)(length >> 24)};
  put(head, 4);
  put(bytes, length);
}

static uint8_t *number(uint8_t *at, unsigned field, uint64_t value) {
  *at++ = (uint8_t)(field << 3);
  for (; value > 127; value >>= 7)
    *at++ = (uint8_t)(value | 128);
  *at++ = (uint8_t)value;
  return at;
}

/* Of a long field: three bytes. */
static uint8_t *length_of(uint8_t *at, unsigned field, uint32_t length) {
  *at++ = (uint8_t)(field << 3 | 2);
  *at++ = (uint8_t)(length | 128);
  *at++ = (uint8_t)(length >> 7 | 128);
  *at++ = (uint8_t)(length >> 14);
  return at;
}

static uint8_t *text(uint8_t *at, unsigned field, const void *bytes, size_t length) {
  *at++ = (uint8_t)(field << 3 | 2);
  *at++ = (uint8_t)length;
  memcpy(at, bytes, length);
  return at + length;
}

/* What an agent says first; it is believed unless the version is another one. */
static void say_hello(unsigned version) {
  uint8_t limits[64], hello[256], frame[300], *end = limits;
  static const uint32_t numbers[] = {262144, 4096, 4096, 256, 4u << 20, 4095, 16};
  for (unsigned i = 0; i < 7; i++)
    end = number(end, i + 1, numbers[i]);
  size_t length = (size_t)(end - limits);
  end = number(hello, 1, version);
  end = number(end, 2, version);
  end = number(end, 3, version);
  end = number(end, 4, 1 << 20);
  end = text(end, 5, limits, length);
  end = text(end, 6, "cofferdam-agent 0.1.0", 21);
  end = text(end, 7, "x86_64", 6);
  end = text(end, 8, "/workspace", 10);
  end = number(end, 11, 1);
  end = text(end, 12, "0123456789abcdef", 16);
  length = (size_t)(end - hello);
  frame[0] = 2 << 3 | 2;
  frame[1] = (uint8_t)(length & 127) | 128;
  frame[2] = (uint8_t)(length >> 7);
  memcpy(frame + 3, hello, length);
  put_frame(frame, (uint32_t)length + 3);
}

static void await_bytes(void) {
  char bytes[4096];
  if (read(0, bytes, sizeof bytes) <= 0) exit(0);
}

static void wait_for_ever(void) {
  for (;;)
    pause();
}

/* Output for channels 1 to 8, as large as a frame may be, and nobody gave credit for it. */
static void flood(void) {
  static uint8_t frame[262144];
  for (unsigned channel = 1;; channel = channel % 8 + 1) {
    const uint32_t data = sizeof frame - 32;
    uint8_t *at = length_of(number(frame, 1, channel), 11, data + 8);
    at = number(number(at, 1, 1), 2, 0);
    at = length_of(at, 3, data);
    put_frame(frame, (uint32_t)(at - frame) + data);
  }
}

static void noise(bool framed) {
  uint8_t bytes[4096];
  uint64_t random = 88172645463325252u ^ (uint64_t)getpid();
  for (;;) {
    for (size_t i = 0; i < sizeof bytes; i++) {
      random ^= random << 13, random ^= random >> 7, random ^= random << 17;
      bytes[i] = (uint8_t)random;
    }
    if (framed)
      put_frame(bytes, 1 + (uint32_t)(random % sizeof bytes));
    else
      put(bytes, sizeof bytes);
  }
}

static void be(const char *what) {
  if (!strcmp(what, "close")) return;
  if (!strcmp(what, "silence")) wait_for_ever();
  if (!strcmp(what, "noise")) noise(false);
  if (!strcmp(what, "huge")) put("\xff\xff\xff\xff", 4), noise(false);
  if (!strcmp(what, "errors"))
    for (;;)
      if (write(2, what, 6) < 0) return;
  await_bytes();
  say_hello(!strcmp(what, "version") ? 9 : 1);
  if (!strcmp(what, "mute")) wait_for_ever();
  await_bytes();
  if (!strcmp(what, "flood")) flood();
  if (!strcmp(what, "frames")) noise(true);
  if (!strcmp(what, "version")) wait_for_ever();
}

/* `init` stays, as PID 1, whatever it says; a relay ends. */
int main(int count, char **arguments) {
  const char *what = getenv("HOSTILE");
  bool init = count > 1 && !strcmp(arguments[1], "init");
  if (!what || !strcmp(what, "end")) return 0;
  if (!init || !strcmp(arguments[count - 1], "--stdio")) {
    pid_t child = init ? fork() : 0;
    if (child == 0) {
      be(what);
      return 0;
    }
  }
  if (init) wait_for_ever();
  return 0;
}
