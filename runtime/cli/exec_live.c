/* SPDX-License-Identifier: Apache-2.0 */
#include "exec_live.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "exec_output.h"
#include "exec_signals.h"
#include "report.h"
#include "terminal.h"

enum {
  INPUT_SIZE = 64 * 1024,
  EVENTS_AT_ONCE = 32, /* then signals have their turn */
  QUIET_MS = 2000,     /* a child that was left running may hold the output for ever */
  GRACE_MS = 2000
};

typedef struct live {
  const cli_live_plan *plan;
  cdam_loop *loop;
  cdam_process *process; /* NULL until it was started */
  cli_signals signals;
  cli_outlet out, err;
  char input[INPUT_SIZE];
  size_t input_begin, input_end;
  bool input_open;
  bool input_ended; /* and the process was told so */
  bool exited;
  bool over;
  bool more_events;
  int interrupts;
  int die_of; /* a signal */
  uint64_t stdout_at, stderr_at;
  uint64_t stdout_lost, stderr_lost;
  const char *local; /* what failed here, with local_errno */
  int local_errno;
  cdam_status status;
  cdam_error error;
} live;

static void fail(live *run, cdam_status status) {
  run->status = status;
  run->over = true;
}

static void fail_here(live *run, const char *what) {
  run->local_errno = errno;
  run->local = what;
  run->over = true;
}

/* With nobody to read it, this ends as any other program does. */
static void fail_to_write(live *run, const char *what) {
  bool dies = errno == EPIPE && !cli_signal_is_ignored(SIGPIPE);
  fail_here(run, what);
  if (dies) run->die_of = SIGPIPE;
}

/* What the process did not want any more because it has ended shows in the events. */
static void check(live *run, cdam_status status) {
  if (status != CDAM_OK && status != CDAM_ERR_NO_PROCESS) fail(run, status);
}

/* ---- the terminal ---- */

static void send_size(live *run) {
  uint16_t rows, columns;
  if (!run->process || !run->plan->terminal || run->exited) return;
  if (cli_terminal_size(&rows, &columns))
    check(run, cdam_process_resize(run->process, rows, columns, &run->error));
}

static void make_raw(live *run) {
  if (run->plan->raw && !cli_terminal_make_raw(STDIN_FILENO)) fail_here(run, "set up the terminal");
}

/* ---- signals ---- */

static void stop_here(void) {
  cli_terminal_restore();
  raise(SIGSTOP);
}

static void pass_on(live *run, int number) {
  if (number == SIGINT) run->interrupts++;
  if (number == SIGINT && run->interrupts == 2)
    check(run, cdam_process_kill(run->process, GRACE_MS, &run->error));
  else
    check(run, cdam_process_signal(run->process, number, CDAM_TARGET_GROUP, &run->error));
}

static void take_ending(live *run, int number) {
  bool passes = run->plan->interrupts == CLI_LIVE_PASS_ON && number != SIGQUIT;
  if (passes && run->process && !run->exited && run->interrupts < 2) {
    pass_on(run, number);
    return;
  }
  run->die_of = number;
  run->over = true;
}

static void take_signals(live *run) {
  for (int number; !run->over && (number = cli_signals_next(&run->signals)) != 0;) {
    switch (number) {
    case SIGWINCH:
      send_size(run);
      break;
    case SIGTSTP:
      stop_here();
      break;
    case SIGCONT:
      if (run->process) make_raw(run);
      send_size(run);
      break;
    default:
      take_ending(run, number);
    }
  }
}

/* ---- output ---- */

static bool waits(const live *run) {
  return cli_outlet_waits(&run->out) || cli_outlet_waits(&run->err);
}

static void put_output(live *run, const cdam_process_event *event) {
  bool is_err = event->stream == CDAM_PROCESS_STDERR;
  uint64_t until = is_err ? run->plan->stderr_until : run->plan->stdout_until;
  *(is_err ? &run->stderr_at : &run->stdout_at) = event->offset + event->length;
  *(is_err ? &run->stderr_lost : &run->stdout_lost) += event->lost;
  size_t length = event->length;
  if (run->plan->until && event->offset >= until) return;
  if (run->plan->until && length > until - event->offset) length = (size_t)(until - event->offset);
  if (!cli_outlet_put(is_err ? &run->err : &run->out, event->bytes, length))
    fail_to_write(run, is_err ? "write the command's stderr" : "write the command's stdout");
}

static void take_event(live *run, const cdam_process_event *event) {
  switch (event->kind) {
  case CDAM_PROCESS_OUTPUT:
    put_output(run, event);
    break;
  case CDAM_PROCESS_INPUT_BROKEN:
    run->input_open = false;
    break;
  case CDAM_PROCESS_EXITED:
    run->exited = true;
    run->input_open = false;
    break;
  case CDAM_PROCESS_CLOSED:
    run->over = true;
    break;
  default:
    break;
  }
}

static void take_events(live *run) {
  run->more_events = false;
  if (!run->process) return;
  for (int i = 0; i < EVENTS_AT_ONCE && !run->over && !waits(run); i++) {
    cdam_process_event event;
    cdam_status status = cdam_process_next(run->process, 0, &event, &run->error);
    if (status != CDAM_OK) {
      fail(run, status);
      return;
    }
    if (event.kind == CDAM_PROCESS_NOTHING) return;
    take_event(run, &event);
  }
  run->more_events = !waits(run);
}

static void flush(live *run) {
  if (cli_outlet_waits(&run->out) && !cli_outlet_flush(&run->out))
    fail_to_write(run, "write the command's stdout");
  else if (cli_outlet_waits(&run->err) && !cli_outlet_flush(&run->err))
    fail_to_write(run, "write the command's stderr");
}

/* All that `logs` is to show has been shown. */
static bool shown_enough(const live *run) {
  return run->plan->until && run->process && run->stdout_at >= run->plan->stdout_until &&
         run->stderr_at >= run->plan->stderr_until;
}

/* ---- input ---- */

static bool wants_input(const live *run) {
  return run->process && run->input_open && run->input_begin == run->input_end;
}

static void read_input(live *run) {
  ssize_t got = read(STDIN_FILENO, run->input, sizeof run->input);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  /* A terminal that was hung up. */
  if (got < 0 && errno == EIO && run->plan->raw) got = 0;
  if (got < 0) {
    fail_here(run, "read standard input");
    return;
  }
  run->input_begin = 0;
  run->input_end = (size_t)got;
  if (got == 0) run->input_open = false;
}

static void write_input(live *run) {
  if (!run->process || run->exited || run->input_ended || !run->plan->input) return;
  if (run->input_begin < run->input_end) {
    size_t taken = 0;
    check(run, cdam_process_write_some(run->process, run->input + run->input_begin,
                                       run->input_end - run->input_begin, &taken, &run->error));
    run->input_begin += taken;
  }
  if (run->input_open || run->input_begin < run->input_end) return;
  run->input_ended = true;
  check(run, cdam_process_end_input(run->process, &run->error));
}

/* ---- the loop ---- */

static void started(void *user, cdam_status status, cdam_process *process, const cdam_error *err) {
  live *run = user;
  run->process = process;
  if (status != CDAM_OK) {
    run->error = *err;
    fail(run, status);
    return;
  }
  make_raw(run);
  send_size(run);
}

static int wait_ms(const live *run) {
  if (run->more_events) return 0;
  return run->exited && !waits(run) ? QUIET_MS : -1;
}

static void wait_for_something(live *run) {
  int stdin_fd = wants_input(run) ? STDIN_FILENO : -1;
  struct pollfd ready[] = {
      {.fd = cdam_loop_fd(run->loop), .events = POLLIN},
      {.fd = run->signals.fd, .events = POLLIN},
      {.fd = stdin_fd, .events = POLLIN},
      {.fd = cli_outlet_waits(&run->out) ? run->out.fd : -1, .events = POLLOUT},
      {.fd = cli_outlet_waits(&run->err) ? run->err.fd : -1, .events = POLLOUT},
  };
  int count = poll(ready, sizeof ready / sizeof *ready, wait_ms(run));
  if (count == 0 && run->exited && !run->more_events) run->over = true;
  if (ready[2].revents) read_input(run);
}

static void turn(live *run) {
  wait_for_something(run);
  take_signals(run);
  if (run->over) return;
  cdam_loop_dispatch(run->loop);
  if (!run->over) flush(run);
  if (!run->over) take_events(run);
  if (!run->over) write_input(run);
  if (shown_enough(run) && !waits(run)) run->over = true;
}

static cdam_status start(live *run, const cli_sandbox *sandbox) {
  const cli_live_plan *plan = run->plan;
  cdam_status status = cdam_loop_new(sandbox->client, &run->loop, &run->error);
  if (status != CDAM_OK) return status;
  if (plan->command)
    return cdam_process_spawn_start(run->loop, sandbox->session, plan->command, started, run, NULL,
                                    &run->error);
  return cdam_process_attach_start(run->loop, sandbox->session, plan->key, plan->attachment,
                                   started, run, NULL, &run->error);
}

static void carry(live *run, const cli_sandbox *sandbox) {
  cdam_status status = start(run, sandbox);
  if (status != CDAM_OK) fail(run, status);
  while (!run->over)
    turn(run);
}

/* ---- the end ---- */

int cli_not_started(const cdam_process_command *command, const cdam_error *err) {
  bool in = command->workdir != NULL, as = command->user != NULL;
  bool program = strcmp(err->field, "argv") == 0;
  const char *what = program                              ? "the command"
                     : strcmp(err->field, "user") == 0    ? "--user"
                     : strcmp(err->field, "workdir") == 0 ? "--workdir"
                                                          : "the command, --user and --workdir";
  cli_say("%s%s%s%s%s: %s; check %s", command->argv[0], in ? " in " : "",
          in ? command->workdir : "", as ? " as " : "", as ? command->user : "", err->message,
          what);
  /* A working directory can be missing as well. */
  return program && err->system_errno == ENOENT ? 127 : 126;
}

/* The exit code that belongs to how it ended, after a line where that is not the command's own. */
static int exit_code_of(const cdam_process_exit *exit) {
  if (exit->ended_by == CDAM_ENDED_TIMEOUT) {
    cli_say("timed out; the command was killed: give it more with --timeout");
    return CLI_TIMED_OUT;
  }
  if (exit->ended_by == CDAM_ENDED_SHUTDOWN) cli_say("note: the sandbox was stopped");
  if (exit->out_of_memory) cli_say("note: memory ran out in the sandbox, and something was killed");
  if (exit->code >= 0) return exit->code;
  if (exit->signal > 0) return 128 + exit->signal;
  cli_say("how the command ended could not be learned; see what it has done");
  return CLI_EXEC_FAILED;
}

static void say_lost(const char *name, uint64_t lost) {
  if (lost > 0) cli_say("note: %" PRIu64 " bytes of %s were not kept", lost, name);
}

static int outcome(const cli_args *args, const live *run) {
  cdam_process_exit exit;
  say_lost("stdout", run->stdout_lost);
  say_lost("stderr", run->stderr_lost);
  if (run->local) {
    cli_say("cannot %s: %s; check where it goes", run->local, strerror(run->local_errno));
    return cli_failure_code(args);
  }
  if (run->status == CDAM_ERR_NOT_STARTED && run->plan->command)
    return cli_not_started(run->plan->command, &run->error);
  if (run->status != CDAM_OK) return cli_fail(args, &run->error, NULL);
  if (run->plan->until) return CLI_OK;
  if (run->interrupts > 1) return 128 + SIGINT;
  if (run->process && cdam_process_exit_status(run->process, &exit)) return exit_code_of(&exit);
  cli_say("the end of the command was not told; see 'cofferdam ps'");
  return cli_failure_code(args);
}

int cli_live_run(const cli_args *args, const cli_sandbox *sandbox, const cli_live_plan *plan) {
  live run = {.plan = plan, .input_open = plan->input};
  if (plan->attachment) {
    run.stdout_at = plan->attachment->stdout_offset;
    run.stderr_at = plan->attachment->stderr_offset;
  }
  if (!cli_signals_open(&run.signals, plan->raw || plan->interrupts == CLI_LIVE_PASS_ON)) {
    cli_say("cannot wait for signals: %s; try again", strerror(errno));
    return cli_failure_code(args);
  }
  cli_outlet_open(&run.out, STDOUT_FILENO);
  cli_outlet_open(&run.err, STDERR_FILENO);
  carry(&run, sandbox);
  cli_terminal_restore();
  int code = run.die_of ? CLI_EXEC_FAILED : outcome(args, &run);
  cdam_process_free(run.process);
  cdam_loop_free(run.loop);
  cli_outlet_close(&run.out);
  cli_outlet_close(&run.err);
  if (run.die_of) raise(run.die_of);
  cli_signals_close(&run.signals);
  return code;
}
