/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/duplex_head.h"

#include <string.h>
#include <strings.h>

#include "base/fail.h"

#define MAX_HEAD (64 * 1024)
#define MAX_BODY (1024 * 1024)

static cdam_head_verdict bad(cdam_error *failure, const char *why) {
  cdam_fail(failure, CDAM_ERR_PROTOCOL, "the engine's answer makes no sense: %s", why);
  return CDAM_HEAD_BAD;
}

static cdam_head_verdict no_memory(cdam_error *failure) {
  cdam_fail_memory(failure);
  return CDAM_HEAD_BAD;
}

/* ---- numbers ---- */

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Up to 18 digits, which is no overflow. */
static bool read_length(const char *text, size_t length, uint64_t *number) {
  *number = 0;
  if (length == 0 || length > 18) return false;
  for (size_t i = 0; i < length; i++) {
    if (!is_digit(text[i])) return false;
    *number = *number * 10 + (unsigned)(text[i] - '0');
  }
  return true;
}

/* ---- the head ---- */

static bool is_token(char c) {
  return c && (is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               strchr("!#$%&'*+-.^_`|~", c));
}

/* "HTTP/1.1 101 UPGRADED"; the reason may be missing, and the space before it, too. */
static bool read_status(const char *line, size_t length, int *http) {
  if (length < 12 || memcmp(line, "HTTP/1.", 7) != 0) return false;
  if ((line[7] != '0' && line[7] != '1') || line[8] != ' ') return false;
  if (line[9] < '1' || line[9] > '5' || !is_digit(line[10]) || !is_digit(line[11])) return false;
  *http = (line[9] - '0') * 100 + (line[10] - '0') * 10 + (line[11] - '0');
  return length == 12 || line[12] == ' ';
}

static bool is_named(const char *line, size_t name, const char *wanted) {
  return name == strlen(wanted) && strncasecmp(line, wanted, name) == 0;
}

/* Says why it is bad, or NULL. */
static const char *take_field(cdam_duplex_head *head, const char *line, size_t length) {
  size_t name = 0;
  while (name < length && is_token(line[name]))
    name++;
  if (name == 0 || name == length || line[name] != ':') return "a line of its head is no header";
  const char *value = line + name + 1, *end = line + length;
  while (value < end && (*value == ' ' || *value == '\t'))
    value++;
  while (value < end && (end[-1] == ' ' || end[-1] == '\t'))
    end--;
  size_t value_length = (size_t)(end - value);
  if (is_named(line, name, "Content-Length")) {
    if (head->has_length) return "it has two lengths";
    head->has_length = true;
    if (!read_length(value, value_length, &head->left)) return "its length is no number";
  } else if (is_named(line, name, "Transfer-Encoding")) {
    if (head->chunked || !is_named(value, value_length, "chunked"))
      return "its transfer encoding is not known";
    head->chunked = true;
  }
  return NULL;
}

static const char *take_fields(cdam_duplex_head *head, const char *line) {
  for (;;) {
    size_t length = strcspn(line, "\r");
    if (length == 0) break;
    const char *why = take_field(head, line, length);
    if (why) return why;
    line += length + 2;
  }
  return head->has_length && head->chunked ? "it has a length and is chunked as well" : NULL;
}

static cdam_head_verdict choose(cdam_duplex_head *head, cdam_error *failure) {
  if (head->http == 101 || head->http == 200) {
    if (!head->has_length && !head->chunked) return CDAM_HEAD_STREAM;
    cdam_fail(failure, CDAM_ERR_PROTOCOL, "the engine sent a body instead of a stream");
    failure->http_status = head->http;
    return CDAM_HEAD_BAD;
  }
  if (head->http == 204 || head->http == 304 || (head->has_length && !head->left))
    return CDAM_HEAD_ANSWER;
  head->stage = head->chunked ? CDAM_STAGE_CHUNK_SIZE : CDAM_STAGE_BODY;
  return CDAM_HEAD_MORE;
}

/* The head is whole. After one that is only for the time being another follows. */
static cdam_head_verdict read_head(cdam_duplex_head *head, cdam_error *failure) {
  const char *text = head->line.data;
  size_t length = strcspn(text, "\r");
  if (!read_status(text, length, &head->http)) return bad(failure, "it does not begin as HTTP/1");
  const char *why = take_fields(head, text + length + 2);
  if (why) return bad(failure, why);
  head->line.length = 0;
  if (head->http >= 200 || head->http == 101) return choose(head, failure);
  return head->has_length || head->chunked ? bad(failure, "a body before the answer")
                                           : CDAM_HEAD_MORE;
}

/* A line ends in CR LF and neither stands alone; other control characters have no place in it. */
static bool may_follow(char before, char c) {
  if (before == '\r' || c == '\n') return before == '\r' && c == '\n';
  return c == '\r' || c == '\t' || ((unsigned char)c >= ' ' && c != 127);
}

/* Takes one byte of a line, or of a head. */
static cdam_head_verdict take_byte(cdam_duplex_head *head, char c, cdam_error *failure) {
  static const char beginning[] = "HTTP/1.";
  size_t at = head->line.length;
  char before = at ? head->line.data[at - 1] : '\0';
  if (++head->taken > MAX_HEAD) return bad(failure, "its head is larger than 64 KiB");
  if (head->stage == CDAM_STAGE_HEAD && at < sizeof beginning - 1 && c != beginning[at])
    return bad(failure, "it does not begin as HTTP/1");
  if (!may_follow(before, c)) return bad(failure, "a control character in its head");
  return cdam_buffer_append(&head->line, &c, 1) ? CDAM_HEAD_MORE : no_memory(failure);
}

static bool ends_with(const cdam_buffer *line, const char *end, size_t length) {
  return line->length >= length && memcmp(line->data + line->length - length, end, length) == 0;
}

static cdam_head_verdict feed_head(cdam_duplex_head *head, const char *bytes, size_t length,
                                   size_t *used, cdam_error *failure) {
  while (*used < length) {
    cdam_head_verdict verdict = take_byte(head, bytes[(*used)++], failure);
    if (verdict != CDAM_HEAD_MORE) return verdict;
    if (ends_with(&head->line, "\r\n\r\n", 4)) return read_head(head, failure);
  }
  return CDAM_HEAD_MORE;
}

/* ---- the body ---- */

/* As much as is kept of an error's body is enough of it. */
static cdam_head_verdict keep(cdam_duplex_head *head, const char *bytes, size_t length,
                              cdam_error *failure) {
  size_t room = MAX_BODY - head->body.length;
  bool enough = length > room;
  if (!cdam_buffer_append(&head->body, bytes, enough ? room : length)) return no_memory(failure);
  return enough ? CDAM_HEAD_ANSWER : CDAM_HEAD_MORE;
}

static cdam_head_verdict feed_body(cdam_duplex_head *head, const char *bytes, size_t length,
                                   size_t *used, cdam_error *failure) {
  bool bounded = head->has_length || head->chunked;
  size_t part = length - *used;
  if (bounded && part > head->left) part = (size_t)head->left;
  cdam_head_verdict verdict = keep(head, bytes + *used, part, failure);
  *used += part;
  if (bounded) head->left -= part;
  if (verdict != CDAM_HEAD_MORE || !bounded || head->left) return verdict;
  if (!head->chunked) return CDAM_HEAD_ANSWER;
  head->stage = CDAM_STAGE_CHUNK_END;
  return CDAM_HEAD_MORE;
}

/* "1a2b" or "1a2b;whatever" */
static bool read_chunk_size(const char *line, uint64_t *size) {
  size_t digits = 0;
  for (*size = 0; hex_value(line[digits]) >= 0 && digits < 16; digits++)
    *size = *size << 4 | (unsigned)hex_value(line[digits]);
  return digits > 0 && digits < 16 && strchr("\r;", line[digits]) != NULL;
}

static cdam_head_verdict take_line(cdam_duplex_head *head, cdam_error *failure) {
  const char *line = head->line.data;
  bool empty = head->line.length == 2;
  if (head->stage == CDAM_STAGE_TRAILER) return empty ? CDAM_HEAD_ANSWER : CDAM_HEAD_MORE;
  if (head->stage == CDAM_STAGE_CHUNK_END) {
    head->stage = CDAM_STAGE_CHUNK_SIZE;
    return empty ? CDAM_HEAD_MORE : bad(failure, "a chunk does not end where it should");
  }
  if (!read_chunk_size(line, &head->left)) return bad(failure, "the size of a chunk is no number");
  head->stage = head->left ? CDAM_STAGE_CHUNK : CDAM_STAGE_TRAILER;
  return CDAM_HEAD_MORE;
}

static cdam_head_verdict feed_line(cdam_duplex_head *head, const char *bytes, size_t length,
                                   size_t *used, cdam_error *failure) {
  while (*used < length) {
    cdam_head_verdict verdict = take_byte(head, bytes[(*used)++], failure);
    if (verdict != CDAM_HEAD_MORE) return verdict;
    if (!ends_with(&head->line, "\r\n", 2)) continue;
    verdict = take_line(head, failure);
    head->line.length = 0;
    return verdict;
  }
  return CDAM_HEAD_MORE;
}

cdam_head_verdict cdam_duplex_head_feed(cdam_duplex_head *head, const char *bytes, size_t length,
                                        size_t *used, cdam_error *failure) {
  cdam_head_verdict verdict = CDAM_HEAD_MORE;
  *used = 0;
  while (*used < length && verdict == CDAM_HEAD_MORE) {
    if (head->stage == CDAM_STAGE_HEAD)
      verdict = feed_head(head, bytes, length, used, failure);
    else if (head->stage == CDAM_STAGE_BODY || head->stage == CDAM_STAGE_CHUNK)
      verdict = feed_body(head, bytes, length, used, failure);
    else
      verdict = feed_line(head, bytes, length, used, failure);
  }
  return verdict;
}

bool cdam_duplex_head_may_end(const cdam_duplex_head *head) {
  return head->stage == CDAM_STAGE_BODY && !head->has_length;
}

void cdam_duplex_head_clear(cdam_duplex_head *head) {
  cdam_buffer_clear(&head->line);
  cdam_buffer_clear(&head->body);
}
