/* SPDX-License-Identifier: Apache-2.0 */
#include "session/agent_archive.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <archive.h>
#include <archive_entry.h>

#include "base/fail.h"
#include "link/agent_path.h"

/* The kernel does not let anybody look into a process whose program he cannot read. */
#define MODE 0111

static la_ssize_t append(struct archive *archive, void *user, const void *bytes, size_t length) {
  if (cdam_buffer_append(user, bytes, length)) return (la_ssize_t)length;
  archive_set_error(archive, ENOMEM, "out of memory");
  return -1;
}

static bool write_entry(struct archive *archive, const cdam_agent_binary *binary) {
  struct archive_entry *entry = archive_entry_new();
  if (!entry) return false;
  archive_entry_set_pathname(entry, CDAM_AGENT_NAME);
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_entry_set_perm(entry, MODE);
  archive_entry_set_size(entry, (la_int64_t)binary->size);
  archive_entry_set_mtime(entry, 0, 0);
  bool ok = archive_write_header(archive, entry) == ARCHIVE_OK &&
            archive_write_data(archive, binary->bytes, binary->size) == (la_ssize_t)binary->size;
  archive_entry_free(entry);
  return ok;
}

cdam_status cdam_agent_archive_make(const cdam_agent_binary *binary, cdam_buffer *archive,
                                    cdam_error *err) {
  struct archive *writer = archive_write_new();
  bool ok = writer && archive_write_set_format_ustar(writer) == ARCHIVE_OK &&
            archive_write_open(writer, archive, NULL, append, NULL) == ARCHIVE_OK &&
            write_entry(writer, binary) && archive_write_close(writer) == ARCHIVE_OK;
  archive_write_free(writer);
  return ok ? CDAM_OK : cdam_fail_memory(err);
}

/* ---- and back ---- */

static bool is_entry(struct archive_entry *entry, const cdam_agent_binary *binary) {
  const char *name = archive_entry_pathname(entry);
  return name && strcmp(name, CDAM_AGENT_NAME) == 0 && archive_entry_filetype(entry) == AE_IFREG &&
         !archive_entry_hardlink(entry) && archive_entry_perm(entry) == MODE &&
         archive_entry_size(entry) == (la_int64_t)binary->size;
}

static bool is_content(struct archive *reader, const cdam_agent_binary *binary) {
  char piece[16384];
  size_t done = 0;
  la_ssize_t n;
  while ((n = archive_read_data(reader, piece, sizeof piece)) > 0) {
    if ((size_t)n > binary->size - done || memcmp(binary->bytes + done, piece, (size_t)n) != 0)
      return false;
    done += (size_t)n;
  }
  return n == 0 && done == binary->size;
}

cdam_status cdam_agent_archive_check(const cdam_agent_binary *binary, const char *bytes,
                                     size_t length, cdam_error *err) {
  struct archive *reader = archive_read_new();
  struct archive_entry *entry;
  bool ok = reader && archive_read_support_format_tar(reader) == ARCHIVE_OK &&
            archive_read_open_memory(reader, bytes, length) == ARCHIVE_OK &&
            archive_read_next_header(reader, &entry) == ARCHIVE_OK && is_entry(entry, binary) &&
            is_content(reader, binary) && archive_read_next_header(reader, &entry) == ARCHIVE_EOF;
  bool memory = !reader || archive_errno(reader) == ENOMEM;
  archive_read_free(reader);
  if (ok) return CDAM_OK;
  return memory ? cdam_fail_memory(err)
                : cdam_fail(err, CDAM_ERR_NO_AGENT,
                            "what is in the agent's volume is not what was written");
}
