/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/archive_read.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"

/* What a directory gets when it is left. */
typedef struct level {
  size_t length; /* of its path */
  uint32_t mode, uid, gid;
  int64_t mtime_s;
  uint32_t mtime_ns;
} level;

typedef struct reader {
  cdam_tree_feed feed;
  struct archive *archive;
  cdam_archive_bytes bytes;
  void *user;
  cdam_error trouble; /* of `bytes` */
  bool opened;
  bool ended;

  struct archive_entry *entry; /* the one that is being worked on, or NULL */
  bool in_file;
  uint64_t offset; /* in the file, of what is sent next */
  const char *block;
  size_t block_length;
  uint64_t block_offset;
  bool file_end; /* libarchive has no more of the file */

  int depth;
  level levels[CDAM_TREE_DEPTH];
  char open[CDAM_TREE_PATH + 1]; /* the path of the innermost open directory */
  size_t wanted_length;          /* of the entry's path */
  char wanted[CDAM_TREE_PATH + 1];
  char target[CDAM_TREE_PATH + 1];
  size_t asked; /* length of the path that was asked about; part of `wanted` */
  bool answered;
  level answer; /* the directory that it asked about, to be entered */
  char buffer[CDAM_TREE_PIECE];
} reader;

/* Of a hole, a piece at a time: every byte of it is in the library. */
static const char zeros[8 * 1024];

bool cdam_archive_clean_path(const char *path, char clean[CDAM_TREE_PATH + 1], size_t *length) {
  size_t used = 0;
  if (*path == '/') return false;
  for (const char *at = path; *at;) {
    size_t part = strcspn(at, "/");
    bool dot = part == 1 && at[0] == '.';
    if (part == 2 && at[0] == '.' && at[1] == '.') return false;
    if (part && !dot) {
      if (part > CDAM_TREE_NAME || used + 1 + part > CDAM_TREE_PATH) return false;
      if (used) clean[used++] = '/';
      memcpy(clean + used, at, part);
      used += part;
    }
    at += part;
    at += strspn(at, "/");
  }
  clean[used] = '\0';
  *length = used;
  return true;
}

static cdam_status fail_archive(const reader *r, cdam_error *err) {
  if (r->trouble.code) {
    if (err) *err = r->trouble;
    return r->trouble.code;
  }
  const char *why = archive_error_string(r->archive);
  return cdam_fail(err, CDAM_ERR_IO, "the archive cannot be read: %s", why ? why : "it is damaged");
}

static cdam_status refuse(const char *what, const char *path, cdam_error *err) {
  return cdam_fail(err, CDAM_ERR_IO, "the archive's entry \"%s\" %s", path, what);
}

/* ---- parts ---- */

static void put(const char *path, size_t length, int type, const level *as, cdam_tree_part *part) {
  part->kind = CDAM_TREE_PART_ENTRY;
  part->entry = (cdam_entry)CDAM_ENTRY_INIT;
  part->entry.path = (ProtobufCBinaryData){.data = (uint8_t *)path, .len = length};
  part->entry.type = (Cofferdam__Agent__V1__EntryType)type;
  part->entry.mode = as->mode;
  part->entry.uid = as->uid;
  part->entry.gid = as->gid;
  part->entry.mtime_s = as->mtime_s;
  part->entry.mtime_ns = as->mtime_ns;
}

static uint32_t id_of(int64_t id) {
  return id >= 0 && id < UINT32_MAX ? (uint32_t)id : 0;
}

static level level_of(const reader *r) {
  level as = {.length = r->wanted_length,
              .mode = (uint32_t)archive_entry_perm(r->entry) & 07777,
              .uid = id_of(archive_entry_uid(r->entry)),
              .gid = id_of(archive_entry_gid(r->entry)),
              .mtime_s = (int64_t)time(NULL)};
  long ns = archive_entry_mtime_nsec(r->entry);
  if (archive_entry_mtime_is_set(r->entry)) {
    as.mtime_s = archive_entry_mtime(r->entry);
    as.mtime_ns = ns > 0 && ns < 1000000000 ? (uint32_t)ns : 0;
  }
  return as;
}

/* One that the archive only implies, and that is not there. */
static level implied_level(const reader *r, size_t length) {
  level as = level_of(r);
  as.length = length;
  as.mode = 0755;
  as.mtime_s = (int64_t)time(NULL);
  as.mtime_ns = 0;
  return as;
}

static cdam_status enter(reader *r, const level *as, cdam_tree_part *part, cdam_error *err) {
  if (r->depth == CDAM_TREE_DEPTH) return refuse("is too deep", r->wanted, err);
  memcpy(r->open, r->wanted, as->length);
  r->levels[r->depth++] = *as;
  put(r->open, as->length, CDAM_ENTRY(DIRECTORY), as, part);
  return CDAM_OK;
}

static void leave(reader *r, cdam_tree_part *part) {
  const level *as = &r->levels[--r->depth];
  put(r->open, as->length, CDAM_ENTRY(LEAVE_DIRECTORY), as, part);
}

/* ---- an entry ---- */

/* Is the innermost open directory `wanted` itself or above it? */
static bool is_above(const reader *r) {
  size_t length = r->levels[r->depth - 1].length;
  if (length > r->wanted_length || memcmp(r->open, r->wanted, length) != 0) return false;
  return length == 0 || length == r->wanted_length || r->wanted[length] == '/';
}

/* The next directory between the innermost open one and the entry; as long as the path itself when
 * only that is missing. */
static size_t next_step(const reader *r) {
  size_t at = r->levels[r->depth - 1].length;
  if (at) at++;
  return at + strcspn(r->wanted + at, "/");
}

static void done_with_entry(reader *r) {
  r->entry = NULL;
}

static cdam_status put_link(reader *r, const char *text, cdam_tree_part *part, cdam_error *err) {
  size_t length = strlen(text);
  if (length == 0 || length > CDAM_TREE_PATH)
    return refuse("is a link without text", r->wanted, err);
  memcpy(r->target, text, length + 1);
  level as = level_of(r);
  put(r->wanted, r->wanted_length, CDAM_ENTRY(LINK), &as, part);
  part->entry.target = (ProtobufCBinaryData){.data = (uint8_t *)r->target, .len = length};
  done_with_entry(r);
  return CDAM_OK;
}

static cdam_status put_hard_link(reader *r, const char *text, cdam_tree_part *part,
                                 cdam_error *err) {
  size_t length = 0;
  if (archive_entry_size_is_set(r->entry) && archive_entry_size(r->entry) > 0)
    return refuse("is a hard link with content of its own", r->wanted, err);
  if (!cdam_archive_clean_path(text, r->target, &length) || length == 0)
    return refuse("is a hard link that leads out", r->wanted, err);
  level as = level_of(r);
  put(r->wanted, r->wanted_length, CDAM_ENTRY(HARD_LINK), &as, part);
  part->entry.target = (ProtobufCBinaryData){.data = (uint8_t *)r->target, .len = length};
  done_with_entry(r);
  return CDAM_OK;
}

static cdam_status put_file(reader *r, cdam_tree_part *part, cdam_error *err) {
  level as = level_of(r);
  int64_t size = archive_entry_size_is_set(r->entry) ? archive_entry_size(r->entry) : 0;
  if (size < 0) return refuse("has a size below 0", r->wanted, err);
  put(r->wanted, r->wanted_length, CDAM_ENTRY(FILE), &as, part);
  part->entry.size = (uint64_t)size;
  r->in_file = true;
  r->file_end = false;
  r->offset = 0;
  r->block_length = 0;
  return CDAM_OK;
}

static cdam_status put_pipe(reader *r, cdam_tree_part *part) {
  level as = level_of(r);
  put(r->wanted, r->wanted_length, CDAM_ENTRY(PIPE), &as, part);
  done_with_entry(r);
  return CDAM_OK;
}

static cdam_status put_thing(reader *r, cdam_tree_part *part, cdam_error *err) {
  const char *hard = archive_entry_hardlink(r->entry);
  if (hard) return put_hard_link(r, hard, part, err);
  const char *text = archive_entry_symlink(r->entry);
  switch (archive_entry_filetype(r->entry)) {
  case AE_IFREG:
    return put_file(r, part, err);
  case AE_IFLNK:
    return put_link(r, text ? text : "", part, err);
  case AE_IFIFO:
    return put_pipe(r, part);
  default:
    r->feed.skipped++;
    done_with_entry(r);
    part->kind = CDAM_TREE_PART_AGAIN;
    return CDAM_OK;
  }
}

static void ask(reader *r, size_t length, cdam_tree_part *part) {
  r->asked = length;
  part->kind = CDAM_TREE_PART_ASK;
  part->entry = (cdam_entry)CDAM_ENTRY_INIT;
  part->entry.path = (ProtobufCBinaryData){.data = (uint8_t *)r->wanted, .len = length};
}

/* The entry's own directory is open. */
static cdam_status meet_open(reader *r, bool is_directory, cdam_tree_part *part, cdam_error *err) {
  if (is_directory) {
    r->levels[r->depth - 1] = level_of(r);
    done_with_entry(r);
    part->kind = CDAM_TREE_PART_AGAIN;
    return CDAM_OK;
  }
  if (r->wanted_length == 0) return refuse("has no name", r->wanted, err);
  leave(r, part); /* something else in its place */
  return CDAM_OK;
}

static cdam_status enter_own(reader *r, cdam_tree_part *part, cdam_error *err) {
  level as = level_of(r);
  done_with_entry(r);
  return enter(r, &as, part, err);
}

/* One step nearer to where the entry goes, or the entry itself. */
static cdam_status approach(reader *r, cdam_tree_part *part, cdam_error *err) {
  bool is_directory =
      archive_entry_filetype(r->entry) == AE_IFDIR && !archive_entry_hardlink(r->entry);
  if (r->depth && !is_above(r)) {
    leave(r, part);
    return CDAM_OK;
  }
  if (r->depth && r->levels[r->depth - 1].length == r->wanted_length)
    return meet_open(r, is_directory, part, err);
  size_t step = r->depth ? next_step(r) : 0;
  if (step < r->wanted_length) {
    ask(r, step, part);
    return CDAM_OK;
  }
  if (is_directory) return enter_own(r, part, err);
  return r->wanted_length ? put_thing(r, part, err) : refuse("has no name", ".", err);
}

/* ---- content ---- */

static void put_data(const char *bytes, size_t length, bool end, cdam_tree_part *part) {
  part->kind = CDAM_TREE_PART_DATA;
  part->bytes = bytes;
  part->length = length;
  part->end = end;
}

static cdam_status read_block(reader *r, cdam_error *err) {
  const void *bytes = NULL;
  int64_t offset = 0;
  int result = archive_read_data_block(r->archive, &bytes, &r->block_length, &offset);
  if (result == ARCHIVE_EOF) {
    /* A hole at the end. */
    uint64_t size =
        archive_entry_size_is_set(r->entry) ? (uint64_t)archive_entry_size(r->entry) : 0;
    r->file_end = true;
    r->block_length = 0;
    r->block_offset = size > r->offset ? size : r->offset;
    return CDAM_OK;
  }
  if (result < ARCHIVE_WARN) return fail_archive(r, err);
  if (offset < 0 || (uint64_t)offset < r->offset)
    return refuse("has its content out of order", r->wanted, err);
  r->block = bytes;
  r->block_offset = (uint64_t)offset;
  return CDAM_OK;
}

static cdam_status put_content(reader *r, cdam_tree_part *part, cdam_error *err) {
  if (!r->file_end && !r->block_length) {
    cdam_status status = read_block(r, err);
    if (status != CDAM_OK) return status;
  }
  uint64_t hole = r->block_offset > r->offset ? r->block_offset - r->offset : 0;
  if (hole && (r->file_end || r->block_length)) {
    size_t length = hole < sizeof zeros ? (size_t)hole : sizeof zeros;
    r->offset += length;
    put_data(zeros, length, false, part);
    return CDAM_OK;
  }
  if (r->file_end) {
    r->in_file = false;
    done_with_entry(r);
    put_data(NULL, 0, true, part);
    return CDAM_OK;
  }
  size_t length = r->block_length < CDAM_TREE_PIECE ? r->block_length : CDAM_TREE_PIECE;
  put_data(r->block, length, false, part);
  r->block += length;
  r->block_offset += length;
  r->block_length -= length;
  r->offset += length;
  if (length == 0) part->kind = CDAM_TREE_PART_AGAIN;
  return CDAM_OK;
}

/* ---- the archive ---- */

static la_ssize_t give_bytes(struct archive *archive, void *user, const void **buffer) {
  (void)archive;
  reader *r = user;
  *buffer = r->buffer;
  ssize_t n = r->bytes(r->user, r->buffer, sizeof r->buffer, &r->trouble);
  return n < 0 ? ARCHIVE_FATAL : n;
}

/* All but mtree, which reads other local files; empty, for nothing at all is no archive; and
 * filters that libarchive would have to run a program for. */
static bool configure(struct archive *a) {
  archive_read_support_filter_compress(a);
  archive_read_support_filter_uu(a);
  archive_read_support_filter_rpm(a);
  if (archive_zlib_version()) archive_read_support_filter_gzip(a);
  if (archive_bzlib_version()) archive_read_support_filter_bzip2(a);
  if (archive_liblz4_version()) archive_read_support_filter_lz4(a);
  if (archive_libzstd_version()) archive_read_support_filter_zstd(a);
  if (archive_liblzma_version()) {
    archive_read_support_filter_lzma(a);
    archive_read_support_filter_xz(a);
    archive_read_support_filter_lzip(a);
  }
  int (*const formats[])(struct archive *) = {
      archive_read_support_format_tar,  archive_read_support_format_cpio,
      archive_read_support_format_zip,  archive_read_support_format_7zip,
      archive_read_support_format_ar,   archive_read_support_format_cab,
      archive_read_support_format_lha,  archive_read_support_format_rar,
      archive_read_support_format_rar5, archive_read_support_format_warc,
      archive_read_support_format_xar,  archive_read_support_format_iso9660,
  };
  bool ok = true;
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
    ok = formats[i](a) != ARCHIVE_FATAL && ok;
  return ok;
}

static cdam_status read_entry(reader *r, cdam_tree_part *part, cdam_error *err) {
  if (!r->opened && archive_read_open(r->archive, r, NULL, give_bytes, NULL) != ARCHIVE_OK)
    return fail_archive(r, err);
  r->opened = true;
  int result = archive_read_next_header(r->archive, &r->entry);
  if (result == ARCHIVE_EOF) {
    r->entry = NULL;
    r->ended = true;
    part->kind = CDAM_TREE_PART_AGAIN;
    return CDAM_OK;
  }
  if (result < ARCHIVE_WARN) {
    r->entry = NULL;
    return fail_archive(r, err);
  }
  const char *path = archive_entry_pathname(r->entry);
  if (!path || !cdam_archive_clean_path(path, r->wanted, &r->wanted_length))
    return refuse("leads out of the archive, or is too long", path ? path : "?", err);
  if (archive_entry_is_encrypted(r->entry)) return refuse("is encrypted", r->wanted, err);
  part->kind = CDAM_TREE_PART_AGAIN;
  return CDAM_OK;
}

static cdam_status next(cdam_tree_feed *feed, cdam_tree_part *part, cdam_error *err) {
  reader *r = (reader *)feed;
  if (r->answered) {
    r->answered = false;
    return enter(r, &r->answer, part, err);
  }
  if (r->in_file) return put_content(r, part, err);
  if (r->entry) return approach(r, part, err);
  if (!r->ended) return read_entry(r, part, err);
  if (r->depth)
    leave(r, part);
  else
    part->kind = CDAM_TREE_PART_END;
  return CDAM_OK;
}

static void told(cdam_tree_feed *feed, const cdam_entry *found) {
  reader *r = (reader *)feed;
  r->answered = true;
  r->answer = implied_level(r, r->asked);
  if (!found || found->type != CDAM_ENTRY(DIRECTORY)) return;
  r->answer.mode = found->mode & 07777;
  r->answer.uid = found->uid;
  r->answer.gid = found->gid;
  r->answer.mtime_s = found->mtime_s;
  r->answer.mtime_ns = found->mtime_ns < 1000000000 ? found->mtime_ns : 0;
}

static void free_reader(cdam_tree_feed *feed) {
  reader *r = (reader *)feed;
  archive_read_free(r->archive);
  free(r);
}

cdam_status cdam_archive_read_new(cdam_archive_bytes bytes, void *user, cdam_tree_feed **out,
                                  cdam_error *err) {
  reader *r = calloc(1, sizeof *r);
  if (!r) return cdam_fail_memory(err);
  r->feed = (cdam_tree_feed){.next = next, .told = told, .free = free_reader};
  r->bytes = bytes;
  r->user = user;
  r->archive = archive_read_new();
  if (!r->archive || !configure(r->archive)) {
    free_reader(&r->feed);
    return cdam_fail_memory(err);
  }
  *out = &r->feed;
  return CDAM_OK;
}
