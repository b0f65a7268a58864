/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A long job in a sandbox, whose output goes to the file job.log. This program can be killed at any
 * time: the job runs on, and the next start finds it, goes on with its output where the file ends,
 * and gets its exit status: resumable_worker IMAGE
 *
 *   cc resumable_worker.c $(pkg-config --cflags --libs cofferdam)
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cofferdam/cofferdam.h>

#define STATE_FILE "job.state"
#define LOG_FILE "job.log"

static int fail(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  return 1;
}

/* ---- the sandbox ---- */

static cdam_status create(cdam_client *client, const char *image, cdam_session **session,
                          cdam_error *err) {
  cdam_options *options = NULL;
  cdam_status status = cdam_options_new(&options, err);
  if (status == CDAM_OK) status = cdam_options_set_image(options, image, err);
  if (status == CDAM_OK) {
    cdam_options_set_network_mode(options, CDAM_NETWORK_MODE_NONE);
    /* For the case that this program dies before the state is saved, or never comes back. */
    cdam_options_set_deadline(options, (uint64_t)time(NULL) + 3600);
    status = cdam_create(client, options, session, err);
  }
  cdam_options_free(options);
  return status;
}

static cdam_status resume(cdam_client *client, cdam_session **session, cdam_error *err) {
  cdam_state *state = NULL;
  cdam_status status = cdam_state_load(STATE_FILE, NULL, &state, err);
  if (status == CDAM_OK) status = cdam_resume(client, state, NULL, session, err);
  cdam_state_free(state);
  return status;
}

/* The state is saved before the job starts, and again after a lost sandbox was made again. */
static cdam_status open_sandbox(cdam_client *client, const char *image, cdam_session **session,
                                cdam_error *err) {
  bool is_new = access(STATE_FILE, F_OK) != 0;
  cdam_status status = is_new ? create(client, image, session, err) : resume(client, session, err);
  if (status == CDAM_OK)
    status = cdam_state_save(cdam_session_state(*session), STATE_FILE, NULL, err);
  if (status != CDAM_OK && is_new && *session &&
      cdam_delete(client, cdam_session_state(*session), NULL) != CDAM_OK)
    fail("the sandbox is still there", cdam_state_container_id(cdam_session_state(*session)));
  return status;
}

/* ---- the job ---- */

static cdam_status start(cdam_session *session, int log, cdam_process **job, cdam_error *err) {
  static const char script[] = "i=0; while [ $i -lt 30 ]; do i=$((i+1)); echo step $i;"
                               " sleep 0.1; done; exit 7";
  static const char *const argv[] = {"sh", "-c", script, NULL};
  const cdam_process_command command = {
      .argv = argv, .outlive = true, .join_stderr = true, .retain = 1024 * 1024};
  if (ftruncate(log, 0) != 0) fail(LOG_FILE, strerror(errno));
  return cdam_process_spawn(session, &command, job, err);
}

/* Nothing else runs in this sandbox, so that the only one that outlives its client is the job. One
 * that has ended is remembered, with its output. */
static cdam_status find(cdam_session *session, int log, cdam_process **job, cdam_error *err) {
  cdam_process_list *list = NULL;
  cdam_process_info info;
  struct stat what = {0};
  cdam_status status = cdam_processes(session, &list, err);
  for (size_t i = 0; status == CDAM_OK && !*job && cdam_process_list_get(list, i, &info); i++) {
    if (!info.outlive || fstat(log, &what) != 0) continue;
    cdam_process_attachment attachment = {.stdout_offset = (uint64_t)what.st_size, .paced = true};
    status = cdam_process_attach(session, info.key, &attachment, job, err);
  }
  cdam_process_list_free(list);
  return status;
}

static int take_output(int log, const cdam_process_event *event) {
  if (event->lost) fprintf(stderr, "%llu bytes were not kept\n", (unsigned long long)event->lost);
  /* At its own place: what is lost stays a hole, and the size of the file remains the offset. */
  size_t done = 0;
  while (done < event->length) {
    ssize_t written =
        pwrite(log, event->bytes + done, event->length - done, (off_t)(event->offset + done));
    if (written < 0 && errno != EINTR) return fail(LOG_FILE, strerror(errno));
    if (written > 0) done += (size_t)written;
  }
  return 0;
}

static int follow(cdam_process *job, int log) {
  cdam_process_event event = {0};
  cdam_error err;
  while (event.kind != CDAM_PROCESS_CLOSED) {
    if (cdam_process_next(job, -1, &event, &err) != CDAM_OK) return fail("the job", err.message);
    if (event.kind == CDAM_PROCESS_OUTPUT && take_output(log, &event) != 0) return 1;
  }
  cdam_process_exit exit;
  if (!cdam_process_exit_status(job, &exit)) return fail("the job", "its end is not known");
  printf("the job ended with status %d, signal %d\n", exit.code, exit.signal);
  return 0;
}

static int do_job(cdam_session *session, int log) {
  cdam_process *job = NULL;
  cdam_error err;
  cdam_status status = find(session, log, &job, &err);
  if (status == CDAM_OK) printf("%s\n", job ? "found the job" : "starting the job");
  if (status == CDAM_OK && !job) status = start(session, log, &job, &err);
  int code = status == CDAM_OK ? follow(job, log) : fail("the job", err.message);
  cdam_process_free(job);
  return code;
}

/* ---- all of it ---- */

/* Whatever fails, the sandbox and its state stay for the next start; unless all is done. */
static int work(cdam_client *client, const char *image, int log) {
  cdam_session *session = NULL;
  cdam_error err;
  int code;
  if (open_sandbox(client, image, &session, &err) != CDAM_OK) {
    code = fail("the sandbox", err.message);
  } else {
    code = do_job(session, log);
    if (code == 0 && cdam_delete(client, cdam_session_state(session), &err) != CDAM_OK)
      code = fail("the sandbox is still there", err.message);
    if (code == 0 && unlink(STATE_FILE) != 0) code = fail(STATE_FILE, strerror(errno));
  }
  cdam_session_free(session);
  return code;
}

int main(int argc, char **argv) {
  cdam_client *client = NULL;
  cdam_error err;
  int code;
  setvbuf(stdout, NULL, _IOLBF, 0);
  int log = open(LOG_FILE, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (log < 0 || flock(log, LOCK_EX | LOCK_NB) != 0) /* one at a time */
    code = fail(LOG_FILE, strerror(errno));
  else if (cdam_client_new(NULL, &client, &err) != CDAM_OK)
    code = fail("the engine", err.message);
  else
    code = work(client, argc > 1 ? argv[1] : "alpine:3.20", log);
  cdam_client_free(client);
  if (log >= 0) close(log);
  return code;
}
