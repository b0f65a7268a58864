/* SPDX-License-Identifier: Apache-2.0 */
#include "exec_signals.h"

#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

bool cli_signal_is_ignored(int number) {
  struct sigaction now;
  return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

static void add_unless_ignored(sigset_t *set, const int *numbers, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!cli_signal_is_ignored(numbers[i])) sigaddset(set, numbers[i]);
}

bool cli_signals_open(cli_signals *signals, bool all) {
  static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  static const int always[] = {SIGWINCH, SIGCONT, SIGTSTP};
  sigset_t blocked;
  sigemptyset(&blocked);
  if (all) add_unless_ignored(&blocked, ending, sizeof ending / sizeof *ending);
  add_unless_ignored(&blocked, always, sizeof always / sizeof *always);
  signals->fd = signalfd(-1, &blocked, SFD_NONBLOCK | SFD_CLOEXEC);
  if (signals->fd < 0) return false;
  /* A broken pipe shows in what write returns; the signal waits until everything is in order. */
  sigaddset(&blocked, SIGPIPE);
  sigprocmask(SIG_BLOCK, &blocked, &signals->before);
  return true;
}

int cli_signals_next(const cli_signals *signals) {
  struct signalfd_siginfo info;
  return read(signals->fd, &info, sizeof info) == sizeof info ? (int)info.ssi_signo : 0;
}

void cli_signals_close(cli_signals *signals) {
  close(signals->fd);
  sigprocmask(SIG_SETMASK, &signals->before, NULL);
}
