/* SPDX-License-Identifier: Apache-2.0 */
#include "terminal.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* What a signal handler needs must be where it can find it. */
static struct {
  volatile sig_atomic_t raw;
  int fd;
  struct termios before;
} terminal;

/* Those that end a process and are not waited for in other ways. */
static const int endings[] = {
    SIGABRT, SIGALRM, SIGBUS,  SIGFPE,  SIGHUP,  SIGILL,    SIGINT,  SIGIO,
    SIGPROF, SIGPWR,  SIGQUIT, SIGSEGV, SIGSYS,  SIGTERM,   SIGTRAP, SIGSTKFLT,
    SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ, SIGPIPE, SIGVTALRM,
};

bool cli_terminal_size(uint16_t *rows, uint16_t *columns) {
  static const int candidates[] = {STDOUT_FILENO, STDIN_FILENO, STDERR_FILENO};
  for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
    struct winsize size;
    if (ioctl(candidates[i], TIOCGWINSZ, &size) != 0 || !size.ws_row || !size.ws_col) continue;
    *rows = size.ws_row;
    *columns = size.ws_col;
    return true;
  }
  return false;
}

void cli_terminal_restore(void) {
  if (!terminal.raw) return;
  int reason = errno;
  sigset_t stops, before;
  /* From the background it would stop this process instead. */
  sigemptyset(&stops);
  sigaddset(&stops, SIGTTOU);
  sigprocmask(SIG_BLOCK, &stops, &before);
  tcsetattr(terminal.fd, TCSANOW, &terminal.before);
  terminal.raw = 0;
  sigprocmask(SIG_SETMASK, &before, NULL);
  errno = reason;
}

/* The handler is gone when this runs, so that the signal does what it always does. */
static void restore_and_end(int number) {
  cli_terminal_restore();
  raise(number);
}

static void catch_endings(void) {
  struct sigaction ours = {.sa_handler = restore_and_end, .sa_flags = (int)SA_RESETHAND};
  sigfillset(&ours.sa_mask);
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    struct sigaction now;
    if (sigaction(endings[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
      sigaction(endings[i], &ours, NULL);
  }
}

bool cli_terminal_make_raw(int fd) {
  struct termios now;
  if (tcgetattr(fd, &now) != 0) return false;
  if (!terminal.raw) terminal.before = now;
  terminal.fd = fd;
  catch_endings();
  terminal.raw = 1;
  cfmakeraw(&now);
  now.c_cc[VMIN] = 1;
  now.c_cc[VTIME] = 0;
  if (tcsetattr(fd, TCSANOW, &now) == 0) return true;
  int reason = errno;
  cli_terminal_restore();
  errno = reason;
  return false;
}
