/* SPDX-License-Identifier: Apache-2.0 */
/* A session without the agent, on a scripted engine whose sandbox has a shell that does as the
 * script of file/engine_*.sh would; the engine's part of it can be cut and come in pieces. */
#ifndef COFFERDAM_TESTS_FILE_SHELL_H
#define COFFERDAM_TESTS_FILE_SHELL_H

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cofferdam/tree.h>

#include "exec_fixture.h"
#include "link/session_link.h"

typedef struct shell {
  char word[16];
  char marker[40];
  size_t cut;   /* of what it says, before the connection ends; 0: nothing is cut */
  size_t piece; /* in each write; 0: all */
  size_t length;
} shell;

static Cofferdam__V1__SandboxOptions shell_options = COFFERDAM__V1__SANDBOX_OPTIONS__INIT;

static const char *shell_argument(const json_t *body, size_t index) {
  const char *text = json_string_value(json_array_get(json_object_get(body, "Cmd"), index));
  return text ? text : "";
}

static inline void shell_asked(void *user, const scripted_request *request, scripted_reply *reply) {
  (void)reply;
  shell *this = user;
  json_t *body = json_loads(request->body, 0, NULL);
  snprintf(this->marker, sizeof this->marker, "%s", shell_argument(body, 4));
  snprintf(this->word, sizeof this->word, "%s", shell_argument(body, 6));
  json_decref(body);
}

/* What it says, by the word; the markers are three at most. */
static inline const char *shell_answer(const char *word) {
  if (strcmp(word, "stat") == 0) return "t\ntext%sea1ff 0 0 4 1 1 1 1 ./l/\n.\n";
  if (strcmp(word, "list") == 0)
    return "e81a4 0 0 5 1 1 1 1 ./one/\ne81a4 0 0 5 1 1 1 1 ./a\nb/\n.\n";
  if (strcmp(word, "read") == 0) return "e81a4 0 0 5 1 1 1 1 ./f/\nc\nhello%s.\n";
  if (strcmp(word, "write") == 0) return "e81a4 0 0 5 1 1 1 1 ./f/\n.\n";
  if (strcmp(word, "remove") == 0) return "!\nNo such file or directory%s";
  if (strcmp(word, "download") == 0)
    return "e41ed 0 0 5 1 2 1 2 ./d/\ne81a4 0 0 5 1 3 1 2 ./f/\nc\nhello%s"
           "e81a4 0 0 5 1 3 1 2 ./g/\nc\nhello%su\n.\n";
  return ".\n";
}

/* All of its input up to the last line. */
static inline bool shell_listen(int fd, const char *end) {
  char text[4096];
  size_t used = 0;
  ssize_t n;
  while (used < sizeof text - 1 && (n = read(fd, text + used, sizeof text - 1 - used)) > 0) {
    used += (size_t)n;
    text[used] = '\0';
    if (used >= strlen(end) && strcmp(text + used - strlen(end), end) == 0) return true;
  }
  return false;
}

static inline void shell_talk(void *user, int fd, const scripted_request *request,
                              const char *early, size_t early_length) {
  (void)request, (void)early, (void)early_length;
  shell *this = user;
  char text[1024] = {0};
  const char *m = this->marker;
  if (send(fd, HEAD, HEAD_LENGTH, MSG_NOSIGNAL) < 0) return;
  const char *says = shell_answer(this->word);
  if (strcmp(this->word, "write") == 0 && !shell_listen(fd, "E\n")) says = "!\ncut%s";
  if (strcmp(this->word, "upload") == 0 && !shell_listen(fd, "\n.\n")) says = "!\ncut%s";
  size_t at = 8;
  for (const char *c = says; *c; c++) {
    if (c[0] == '%' && c[1] == 's') {
      at += (size_t)snprintf(text + at, sizeof text - at, "%s", m);
      c++;
    } else {
      text[at++] = *c;
    }
  }
  text[0] = 1;
  text[6] = (char)((at - 8) >> 8);
  text[7] = (char)(at - 8);
  this->length = at;
  size_t length = this->cut && this->cut < at ? this->cut : at;
  size_t piece = this->piece ? this->piece : length;
  for (size_t i = 0; i < length; i += piece)
    if (send(fd, text + i, length - i < piece ? length - i : piece, MSG_NOSIGNAL) < 0) return;
}

#define SHELL_RULES(user_)                                                                         \
  {                                                                                                \
    {.method = "POST", .path = CREATE, .answer = shell_asked, .user = user_, .reply = CREATED},    \
        {.path = "/exec/aaaa/start", .talk = shell_talk, .user = user_},                           \
        {.path = "/exec/aaaa/json", .reply = {200, .body = ENDED("0")}},                           \
        {.path = "/containers/" CONTAINER "/json", .reply = {200, .body = RUNNING_CONTAINER}},     \
  }

#endif
