/* SPDX-License-Identifier: Apache-2.0 */
/* Removing the sandboxes whose deadline has passed. */
#ifndef COFFERDAM_REAP_H
#define COFFERDAM_REAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cofferdam/client.h>
#include <cofferdam/error.h>
#include <cofferdam/export.h>
#include <cofferdam/loop.h>

CDAM_BEGIN_DECLS

/* How to reap. Start with {0}. */
typedef struct cdam_reap_flags {
  int64_t now;       /* seconds since the epoch; 0: by the clock of this machine and by the
                        engine's, so that one that is wrong removes nothing too early */
  bool dry_run;      /* nothing is removed, only told */
  bool reserved[15]; /* false */
} cdam_reap_flags;

/* What was found, the earliest deadline first. Opaque. Free with cdam_reap_report_free. */
typedef struct cdam_reap_report cdam_reap_report;

/*
 * Removes every sandbox of the engine whose deadline has passed, running or not. Such a sandbox
 * could not be resumed any more, and its agent ends it by itself; this takes away what is left.
 *
 * Labels are no proof, for anybody may set them. Only a container is touched that bears the label
 * of a session's id, has the name that belongs to this id, and bears a deadline that is a whole
 * number of seconds, and has passed. Everything else is left alone, also when it looks like ours.
 *
 * That one of them could not be removed is no error of the call: cdam_reap_failure tells it, and
 * the others are removed all the same. One that is gone already counts as removed. `flags` may be
 * NULL. CDAM_ERR_ARGUMENT, CDAM_ERR_NO_MEMORY, the engine's errors. Since 0.1.
 */
CDAM_API CDAM_CHECK cdam_status cdam_reap(cdam_client *client, const cdam_reap_flags *flags,
                                          cdam_reap_report **out, cdam_error *err);

/* NULL is fine. Since 0.1. */
CDAM_API void cdam_reap_report_free(cdam_reap_report *report);

/* How many were found. Since 0.1. */
CDAM_API size_t cdam_reap_count(const cdam_reap_report *report);

/* Of entry `index`; NULL or 0 out of range. A deadline is in seconds since the epoch. `failure` is
 * NULL for one that was removed, or was to be in a dry run; else why it was not. Strings belong to
 * the report. Since 0.1. */
CDAM_API const char *cdam_reap_session_id(const cdam_reap_report *report, size_t index);
CDAM_API const char *cdam_reap_container_id(const cdam_reap_report *report, size_t index);
CDAM_API int64_t cdam_reap_deadline(const cdam_reap_report *report, size_t index);
CDAM_API const char *cdam_reap_failure(const cdam_reap_report *report, size_t index);

/* Free `report` with cdam_reap_report_free. */
typedef void (*cdam_reap_callback)(void *user, cdam_status status, cdam_reap_report *report,
                                   const cdam_error *err);

/* Without blocking; see loop.h. Since 0.1. */
CDAM_API CDAM_CHECK cdam_status cdam_reap_start(cdam_loop *loop, const cdam_reap_flags *flags,
                                                cdam_reap_callback callback, void *user,
                                                cdam_operation **operation, cdam_error *err);

CDAM_END_DECLS

#endif
