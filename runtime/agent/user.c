/* SPDX-License-Identifier: Apache-2.0 */
#include "user.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_DATABASE = 256 * 1024, MAX_FIELDS = 7 };

/* The file as text, or NULL. */
static char *read_database(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return NULL;
  struct stat info;
  char *text = NULL;
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size <= MAX_DATABASE)
    text = malloc((size_t)info.st_size + 1);
  size_t length = 0;
  while (text && length < (size_t)info.st_size) {
    ssize_t n = read(fd, text + length, (size_t)info.st_size - length);
    if (n <= 0) break;
    length += (size_t)n;
  }
  close(fd);
  if (text) text[length] = '\0';
  return text;
}

/* Splits the line at `*at`, which moves on. The number of fields; -1 at the end. */
static int next_line(char **at, char *fields[MAX_FIELDS]) {
  char *line = *at;
  if (!*line) return -1;
  size_t length = strcspn(line, "\n");
  *at = line + length + (line[length] == '\n');
  line[length] = '\0';
  int count = 0;
  while (count < MAX_FIELDS) {
    fields[count++] = line;
    line += strcspn(line, ":");
    if (!*line) break;
    *line++ = '\0';
  }
  return count;
}

static bool parse_id(const char *text, uint32_t *id) {
  char *end;
  if (*text < '0' || *text > '9') return false;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 10);
  if (*end || errno || value >= UINT32_MAX) return false;
  *id = (uint32_t)value;
  return true;
}

/* What looks like a number is never the name of an entry: whoever writes the databases would say
 * which number it stands for. */
static bool is_number(const char *text) {
  return *text && text[strspn(text, "0123456789")] == '\0';
}

/* The user's entry: by number or by name. */
static bool find_entry(char *database, const char *name, bool numeric, agent_user *user,
                       char *entry_name, size_t room) {
  char *fields[MAX_FIELDS];
  char *at = database;
  int count;
  while ((count = next_line(&at, fields)) >= 0) {
    uint32_t uid;
    uint32_t gid;
    if (count < 6 || !parse_id(fields[2], &uid) || !parse_id(fields[3], &gid)) continue;
    if (numeric ? uid != user->uid : strcmp(fields[0], name) != 0) continue;
    user->uid = uid;
    user->gid = gid;
    if (strlen(fields[5]) < sizeof user->home) memcpy(user->home, fields[5], strlen(fields[5]) + 1);
    if (strlen(fields[0]) < room) memcpy(entry_name, fields[0], strlen(fields[0]) + 1);
    return true;
  }
  return false;
}

static bool lists(const char *members, const char *name) {
  size_t length = strlen(name);
  for (const char *at = members; *at;) {
    size_t n = strcspn(at, ",");
    if (n == length && memcmp(at, name, n) == 0) return true;
    at += n + (at[n] == ',');
  }
  return false;
}

/* Adds the groups that list the member; looks up `wanted`, when there is one. */
static bool read_groups(const char *member, const char *wanted, agent_user *user) {
  char *database = read_database("/etc/group");
  if (!database) return false;
  char *fields[MAX_FIELDS];
  char *at = database;
  int count;
  bool found = false;
  while ((count = next_line(&at, fields)) >= 0) {
    uint32_t gid;
    if (count < 3 || !parse_id(fields[2], &gid)) continue;
    if (wanted && strcmp(fields[0], wanted) == 0) {
      user->gid = gid;
      found = true;
    }
    if (!wanted && *member && count > 3 && user->group_count < AGENT_MAX_GROUPS &&
        lists(fields[3], member))
      user->groups[user->group_count++] = gid;
  }
  free(database);
  return found;
}

const char *agent_user_find(const char *text, agent_user *user) {
  char name[256];
  char entry_name[256] = "";
  *user = (agent_user){0};
  const char *group = strchr(text, ':');
  size_t length = group ? (size_t)(group - text) : strlen(text);
  if (length == 0 || length >= sizeof name) return "bad user";
  memcpy(name, text, length);
  name[length] = '\0';
  bool numeric = is_number(name);
  if (numeric && !parse_id(name, &user->uid)) return "no such user";
  char *database = read_database("/etc/passwd");
  bool found = database && find_entry(database, name, numeric, user, entry_name, sizeof entry_name);
  free(database);
  if (!found && !numeric) return "no such user";
  if (!group) {
    read_groups(entry_name, NULL, user);
    return NULL;
  }
  if (is_number(group + 1)) return parse_id(group + 1, &user->gid) ? NULL : "no such group";
  if (!group[1]) return "bad group";
  return read_groups("", group + 1, user) ? NULL : "no such group";
}
