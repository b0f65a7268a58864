/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/archive_write.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"

typedef struct writer {
  cdam_tree_target target;
  struct archive *archive;
  struct archive_entry *entry;
  cdam_archive_take take;
  void *user;
  bool keep_owner;
  char *name;         /* of the top */
  cdam_error trouble; /* of `take` */
} writer;

static la_ssize_t take_bytes(struct archive *archive, void *user, const void *bytes,
                             size_t length) {
  writer *w = user;
  if (w->take(w->user, bytes, length, &w->trouble)) return (la_ssize_t)length;
  archive_set_error(archive, EIO, "the sink failed");
  return ARCHIVE_FATAL;
}

static cdam_status fail_archive(const writer *w, cdam_error *err) {
  if (w->trouble.code) {
    if (err) *err = w->trouble;
    return w->trouble.code;
  }
  const char *why = archive_error_string(w->archive);
  return cdam_fail(err, CDAM_ERR_IO, "the archive cannot be written: %s", why ? why : "?");
}

static void set_text(char *text, const ProtobufCBinaryData *bytes) {
  if (bytes->len) memcpy(text, bytes->data, bytes->len);
  text[bytes->len] = '\0';
}

static void set_type(writer *w, const cdam_entry *entry) {
  char text[CDAM_TREE_PATH + 1];
  set_text(text, &entry->target);
  switch ((int)entry->type) {
  case CDAM_ENTRY(DIRECTORY):
    archive_entry_set_filetype(w->entry, AE_IFDIR);
    break;
  case CDAM_ENTRY(LINK):
    archive_entry_set_filetype(w->entry, AE_IFLNK);
    archive_entry_set_symlink(w->entry, text);
    break;
  case CDAM_ENTRY(PIPE):
    archive_entry_set_filetype(w->entry, AE_IFIFO);
    break;
  case CDAM_ENTRY(HARD_LINK):
    archive_entry_set_filetype(w->entry, AE_IFREG);
    archive_entry_set_hardlink(w->entry, text);
    break;
  default:
    archive_entry_set_filetype(w->entry, AE_IFREG);
    archive_entry_set_size(w->entry, (la_int64_t)entry->size);
  }
}

static void set_name(writer *w, const cdam_entry *entry) {
  char text[CDAM_TREE_PATH + 1];
  set_text(text, &entry->path);
  if (*text)
    archive_entry_set_pathname(w->entry, text);
  else
    archive_entry_set_pathname(w->entry, entry->type == CDAM_ENTRY(DIRECTORY) ? "./" : w->name);
}

static cdam_status take_entry(cdam_tree_target *target, const cdam_entry *entry, const char *name,
                              bool *made, cdam_error *err) {
  (void)name;
  writer *w = (writer *)target;
  *made = true;
  if (entry->type == CDAM_ENTRY(LEAVE_DIRECTORY)) return CDAM_OK;
  if (entry->size > INT64_MAX)
    return cdam_fail(err, CDAM_ERR_AGENT, "the agent sent a tree that is none: a file too large");
  archive_entry_clear(w->entry);
  set_name(w, entry);
  archive_entry_set_size(w->entry, 0);
  set_type(w, entry);
  archive_entry_set_perm(w->entry, entry->mode & 07777);
  archive_entry_set_uid(w->entry, w->keep_owner ? entry->uid : getuid());
  archive_entry_set_gid(w->entry, w->keep_owner ? entry->gid : getgid());
  archive_entry_set_mtime(w->entry, entry->mtime_s, (long)entry->mtime_ns);
  if (archive_write_header(w->archive, w->entry) < ARCHIVE_WARN) return fail_archive(w, err);
  return CDAM_OK;
}

static cdam_status take_data(cdam_tree_target *target, const void *bytes, size_t length, bool end,
                             cdam_error *err) {
  writer *w = (writer *)target;
  if (length && archive_write_data(w->archive, bytes, length) != (la_ssize_t)length)
    return fail_archive(w, err);
  /* A file that came out shorter is filled up with zeros: its size has been written. */
  if (end && archive_write_finish_entry(w->archive) < ARCHIVE_WARN) return fail_archive(w, err);
  return CDAM_OK;
}

static cdam_status finish(cdam_tree_target *target, cdam_error *err) {
  writer *w = (writer *)target;
  if (archive_write_close(w->archive) < ARCHIVE_WARN) return fail_archive(w, err);
  return CDAM_OK;
}

static bool take_nothing(void *user, const void *bytes, size_t length, cdam_error *err) {
  (void)user, (void)bytes, (void)length;
  cdam_fail(err, CDAM_ERR_IO, "it was abandoned");
  return false;
}

static void free_writer(cdam_tree_target *target) {
  writer *w = (writer *)target;
  w->take = take_nothing; /* freeing one that is not complete would write its end */
  archive_write_free(w->archive);
  archive_entry_free(w->entry);
  free(w->name);
  free(w);
}

/* A name that is no text in the program's locale is written as bytes, and said to be so. */
static bool configure(writer *w) {
  struct archive *a = w->archive;
  return archive_write_set_format_pax(a) == ARCHIVE_OK &&
         archive_write_add_filter_none(a) == ARCHIVE_OK &&
         archive_write_set_bytes_per_block(a, CDAM_TREE_PIECE) == ARCHIVE_OK &&
         archive_write_set_bytes_in_last_block(a, 1) == ARCHIVE_OK &&
         archive_write_open(a, w, NULL, take_bytes, NULL) == ARCHIVE_OK;
}

cdam_status cdam_archive_write_new(const char *name, bool keep_owner, cdam_archive_take take,
                                   void *user, cdam_tree_target **out, cdam_error *err) {
  writer *w = calloc(1, sizeof *w);
  if (!w) return cdam_fail_memory(err);
  w->target = (cdam_tree_target){
      .entry = take_entry, .data = take_data, .finish = finish, .free = free_writer};
  w->take = take;
  w->user = user;
  w->keep_owner = keep_owner;
  w->name = strdup(name);
  w->archive = archive_write_new();
  w->entry = archive_entry_new();
  if (w->name && w->archive && w->entry && configure(w)) {
    *out = &w->target;
    return CDAM_OK;
  }
  free_writer(&w->target);
  return cdam_fail_memory(err);
}
