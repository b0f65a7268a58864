/* SPDX-License-Identifier: Apache-2.0 */
#include "session/agent_archive.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "link/agent_path.h"

/* The kernel does not let anybody look into a process whose program he cannot read. */
#define MODE 0111

#define BLOCK 512

/* The head of an entry, as POSIX has it. */
typedef struct tar_head {
  char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100];
  char magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], rest[12];
} tar_head;

_Static_assert(sizeof(tar_head) == BLOCK, "a block");

static size_t padded(size_t size) {
  return (size + BLOCK - 1) / BLOCK * BLOCK;
}

/* The sum of all bytes, with blanks for itself. */
static unsigned checksum_of(const tar_head *head) {
  tar_head blank = *head;
  const unsigned char *bytes = (const unsigned char *)&blank;
  unsigned sum = 0;
  memset(blank.checksum, ' ', sizeof blank.checksum);
  for (size_t i = 0; i < sizeof blank; i++)
    sum += bytes[i];
  return sum;
}

cdam_status cdam_agent_archive_make(const cdam_agent_binary *binary, cdam_buffer *archive,
                                    cdam_error *err) {
  static const char zeroes[2 * BLOCK];
  tar_head head = {.name = CDAM_AGENT_NAME, .type = '0', .magic = "ustar", .version = {'0', '0'}};
  snprintf(head.mode, sizeof head.mode, "%07o", MODE);
  snprintf(head.uid, sizeof head.uid, "%07o", 0);
  snprintf(head.gid, sizeof head.gid, "%07o", 0);
  snprintf(head.size, sizeof head.size, "%011zo", binary->size);
  snprintf(head.mtime, sizeof head.mtime, "%011o", 0);
  snprintf(head.checksum, sizeof head.checksum, "%06o", checksum_of(&head));
  head.checksum[7] = ' ';
  bool ok = cdam_buffer_append(archive, &head, sizeof head) &&
            cdam_buffer_append(archive, binary->bytes, binary->size) &&
            cdam_buffer_append(archive, zeroes, padded(binary->size) - binary->size) &&
            cdam_buffer_append(archive, zeroes, sizeof zeroes);
  return ok ? CDAM_OK : cdam_fail_memory(err);
}

/* ---- and back ---- */

/* An octal number, with blanks before it, and blanks or NULs behind it. */
static bool read_number(const char *field, size_t size, size_t *number) {
  size_t at = 0, digits = 0;
  *number = 0;
  while (at < size && field[at] == ' ')
    at++;
  for (; at < size && field[at] >= '0' && field[at] <= '7'; at++, digits++)
    *number = *number * 8 + (size_t)(field[at] - '0');
  while (at < size && (field[at] == ' ' || field[at] == '\0'))
    at++;
  return at == size && digits > 0;
}

static bool read_head(const char *bytes, size_t length, tar_head *head, size_t *size) {
  size_t checksum;
  if (length < sizeof *head) return false;
  memcpy(head, bytes, sizeof *head);
  return memcmp(head->magic, "ustar", 5) == 0 &&
         read_number(head->checksum, sizeof head->checksum, &checksum) &&
         checksum == checksum_of(head) && read_number(head->size, sizeof head->size, size) &&
         *size <= length && padded(*size) <= length - sizeof *head;
}

static bool is_program(const tar_head *head, size_t size, const cdam_agent_binary *binary) {
  size_t mode;
  return head->type == '0' && size == binary->size && !head->prefix[0] &&
         memcmp(head->name, CDAM_AGENT_NAME, sizeof CDAM_AGENT_NAME) == 0 &&
         read_number(head->mode, sizeof head->mode, &mode) && (mode & 07777) == MODE;
}

static bool is_end(const char *bytes, size_t length) {
  if (length < BLOCK) return false;
  for (size_t i = 0; i < length; i++)
    if (bytes[i]) return false;
  return true;
}

/* Some engines put an entry of type x with its times before it. */
bool cdam_agent_archive_is(const cdam_agent_binary *binary, const char *bytes, size_t length) {
  tar_head head;
  size_t size;
  do {
    if (!read_head(bytes, length, &head, &size)) return false;
    bytes += sizeof head;
    length -= sizeof head;
    if (head.type != 'x') break;
    bytes += padded(size);
    length -= padded(size);
  } while (true);
  return is_program(&head, size, binary) && memcmp(bytes, binary->bytes, size) == 0 &&
         is_end(bytes + padded(size), length - padded(size));
}
