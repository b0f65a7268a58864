/* SPDX-License-Identifier: Apache-2.0 */
#include "options/formats.h"

#include <string.h>

static const char lower[] = "abcdefghijklmnopqrstuvwxyz0123456789";
static const char alphanumeric[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

bool cdam_is_uuid(const char *text) {
  static const size_t groups[] = {8, 4, 4, 4, 12};
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
    if (i > 0 && *text++ != '-') return false;
    if (strspn(text, "0123456789abcdef") < groups[i]) return false;
    text += groups[i];
  }
  return *text == '\0';
}

static bool is_one_of(char c, const char *set) {
  return c != '\0' && strchr(set, c) != NULL;
}

/* ---- paths ---- */

/* U+0080 to U+009F as well; what is no UTF-8 is refused elsewhere. */
static bool has_control(const char *text) {
  for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
    if (*at < 0x20 || *at == 0x7f) return true;
    if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0) return true;
  }
  return false;
}

static bool is_dots(const char *part, size_t length) {
  return (length == 1 && part[0] == '.') || (length == 2 && part[0] == '.' && part[1] == '.');
}

bool cdam_is_clean_path(const char *text) {
  if (text[0] != '/' || has_control(text)) return false;
  if (text[1] == '\0') return true;
  for (const char *part = text + 1;; part++) {
    size_t length = strcspn(part, "/");
    if (length == 0 || is_dots(part, length)) return false;
    part += length;
    if (!*part) return true;
  }
}

/* ---- numbers ---- */

bool cdam_decimal_parse(const char *text, size_t length, uint64_t max, uint64_t *number) {
  uint64_t value = 0;
  if (length == 0 || (length > 1 && text[0] == '0')) return false;
  for (size_t i = 0; i < length; i++) {
    if (text[i] < '0' || text[i] > '9') return false;
    uint64_t digit = (uint64_t)(text[i] - '0');
    if (digit > max || value > (max - digit) / 10) return false;
    value = value * 10 + digit;
  }
  *number = value;
  return true;
}

/* ---- users ---- */

#define MAX_ID 2147483647

static bool is_name(const char *text, size_t length) {
  static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  if (length == 0 || length > 32 || !is_one_of(text[0], first)) return false;
  for (size_t i = 1; i < length; i++) {
    if (!is_one_of(text[i], alphanumeric) && !is_one_of(text[i], "_.-")) return false;
  }
  return true;
}

static bool is_name_or_id(const char *text, size_t length) {
  uint64_t id;
  return is_name(text, length) || cdam_decimal_parse(text, length, MAX_ID, &id);
}

bool cdam_is_user(const char *text) {
  size_t length = strcspn(text, ":");
  if (!is_name_or_id(text, length)) return false;
  return !text[length] || is_name_or_id(text + length + 1, strlen(text + length + 1));
}

bool cdam_is_plain_user(const char *text) {
  size_t length = strcspn(text, ":");
  uint64_t uid = 0, gid = 0;
  return text[length] && cdam_decimal_parse(text, length, MAX_ID, &uid) &&
         cdam_decimal_parse(text + length + 1, strlen(text + length + 1), MAX_ID, &gid) &&
         uid != 0 && gid != 0;
}

/* ---- words ---- */

static bool is_made_of(const char *text, size_t length, const char *set, const char *more) {
  if (length == 0) return false;
  for (size_t i = 0; i < length; i++) {
    if (!is_one_of(text[i], set) && !is_one_of(text[i], more)) return false;
  }
  return true;
}

bool cdam_is_word(const char *text) {
  return is_one_of(text[0], alphanumeric) && is_made_of(text, strlen(text), alphanumeric, "_.-");
}

bool cdam_is_hostname(const char *text) {
  for (const char *part = text;; part++) {
    size_t length = strcspn(part, ".");
    if (!is_made_of(part, length, alphanumeric, "-")) return false;
    if (part[0] == '-' || part[length - 1] == '-') return false;
    part += length;
    if (!*part) return true;
  }
}

bool cdam_is_platform(const char *text) {
  size_t parts = 0;
  for (const char *part = text;; part++) {
    size_t length = strcspn(part, "/");
    if (!is_made_of(part, length, lower, "_.") || ++parts > 3) return false;
    part += length;
    if (!*part) return parts >= 2;
  }
}

/* ---- tmpfs ---- */

/* Neither "dev" nor "suid": nothing needs a device or a setuid program there. */
static const struct tmpfs_word {
  const char *word; /* with "=": a value follows */
  const char *subject;
} tmpfs_words[] = {
    {"rw", "rw"},
    {"ro", "rw"},
    {"exec", "exec"},
    {"noexec", "exec"},
    {"nosuid", "suid"},
    {"nodev", "dev"},
    {"size=", "size"},
    {"mode=", "mode"},
    {"uid=", "uid"},
    {"gid=", "gid"},
    {"nr_inodes=", "nr_inodes"},
    {"noatime", "atime"},
};

#define TMPFS_WORDS (sizeof tmpfs_words / sizeof *tmpfs_words)

static const struct tmpfs_word *find_word(const char *word, size_t length) {
  for (size_t i = 0; i < TMPFS_WORDS; i++) {
    size_t size = strlen(tmpfs_words[i].word);
    bool valued = tmpfs_words[i].word[size - 1] == '=';
    if (length < size || strncmp(word, tmpfs_words[i].word, size) != 0) continue;
    if (valued ? length > size : length == size) return &tmpfs_words[i];
  }
  return NULL;
}

static bool is_size(const char *text, size_t length) {
  uint64_t number;
  if (length > 1 && is_one_of(text[length - 1], "kmgKMG")) length--;
  return cdam_decimal_parse(text, length, (uint64_t)1 << 50, &number) && number > 0;
}

static bool is_mode(const char *text, size_t length) {
  if (length == 5 && text[0] == '0') return is_mode(text + 1, 4);
  return length >= 3 && length <= 4 && is_made_of(text, length, "01234567", "");
}

static bool is_right_value(const struct tmpfs_word *known, const char *word, size_t length) {
  size_t size = strlen(known->word);
  const char *value = word + size;
  uint64_t number;
  if (length == size) return true;
  if (strcmp(known->subject, "size") == 0) return is_size(value, length - size);
  if (strcmp(known->subject, "mode") == 0) return is_mode(value, length - size);
  return cdam_decimal_parse(value, length - size, MAX_ID, &number);
}

bool cdam_tmpfs_subject(const char *word, size_t length, char subject[static 16]) {
  const struct tmpfs_word *known = find_word(word, length);
  if (!known) return false;
  memcpy(subject, known->subject, strlen(known->subject) + 1);
  return true;
}

const char *cdam_tmpfs_error(const char *text) {
  bool seen[TMPFS_WORDS] = {false};
  if (!*text) return NULL;
  for (const char *word = text;; word++) {
    size_t length = strcspn(word, ",");
    const struct tmpfs_word *known = find_word(word, length);
    if (!known || !is_right_value(known, word, length)) {
      return "holds something other than size=N[k|m|g], mode=N, uid=N, gid=N, nr_inodes=N, rw, ro, "
             "exec, noexec, nosuid, nodev and noatime";
    }
    for (size_t i = 0; i < TMPFS_WORDS; i++) {
      if (strcmp(tmpfs_words[i].subject, known->subject) != 0) continue;
      if (seen[i]) return "says one thing twice";
      seen[i] = true;
    }
    word += length;
    if (!*word) return NULL;
  }
}

/* ---- limits ---- */

bool cdam_is_ulimit_name(const char *text) {
  /* nice, rtprio and rttime would give a process more than others have. */
  static const char *const names[] = {"core",  "cpu",     "data",       "fsize",
                                      "locks", "memlock", "msgqueue",   "nofile",
                                      "nproc", "rss",     "sigpending", "stack"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(text, names[i]) == 0) return true;
  }
  return false;
}

bool cdam_ulimit_parse(const char *text, uint64_t *soft, uint64_t *hard) {
  size_t length = strcspn(text, ":");
  return text[length] && cdam_decimal_parse(text, length, INT64_MAX, soft) &&
         cdam_decimal_parse(text + length + 1, strlen(text + length + 1), INT64_MAX, hard) &&
         *soft <= *hard;
}
