/* SPDX-License-Identifier: Apache-2.0 */
/* A hostile command that has the agent's user, and wants to outlive its end. It sleeps 373 seconds
 * where it has got away. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void *sleeper(void *unused) {
  sleep(373);
  return unused;
}

/* The process looks like a zombie from then on. */
static int without_main_thread(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, sleeper, NULL) != 0) return 1;
  puts("up");
  syscall(SYS_exit, 0);
  return 1;
}

/* The command ends at TERM; what it leaves behind does not, and turns on the keeper then. */
static int kill_keeper_late(void) {
  pid_t keeper = getppid();
  if (fork() == 0) {
    signal(SIGTERM, SIG_IGN);
    setsid();
    while (getppid() != keeper)
      usleep(1000);
    kill(keeper, SIGKILL);
    sleep(373);
    _exit(0);
  }
  puts("up");
  pause();
  return 1;
}

static int stop_keeper(void) {
  puts("up");
  kill(getppid(), SIGSTOP);
  sleep(373);
  return 1;
}

/* The next keeper loses its child before that is a command, and its own life; the child goes on
 * when others have been started. Numbers are given out in turn. */
static int kill_keeper_early(void) {
  pid_t held = 0;
  pid_t keeper = getpid() + 1;
  puts("up");
  for (time_t end = time(NULL) + 3; !held && time(NULL) < end;)
    for (int i = 0; i < 10000 && !held; i++)
      if (kill(keeper + 1, SIGSTOP) == 0) held = keeper + 1;
  puts(held && kill(keeper, SIGKILL) == 0 ? "killed" : "missed");
  sleep(1);
  if (held) kill(held, SIGCONT);
  return 0;
}

/* The kernel lets a sender choose who a queued signal is from. */
static int signal_as_outsider(void) {
  static const int codes[] = {SI_QUEUE, SI_TIMER, SI_MESGQ, SI_ASYNCIO,
                              SI_SIGIO, SI_USER,  SI_TKILL};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
    siginfo_t info = {.si_signo = SIGTERM, .si_code = codes[i]};
    printf("%ld ", syscall(SYS_rt_sigqueueinfo, 1, SIGTERM, &info));
  }
  return 0;
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    int (*run)(void);
  } ways[] = {{"without-main-thread", without_main_thread},
              {"kill-keeper-late", kill_keeper_late},
              {"stop-keeper", stop_keeper},
              {"kill-keeper-early", kill_keeper_early},
              {"signal-as-outsider", signal_as_outsider}};
  setvbuf(stdout, NULL, _IONBF, 0);
  for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof *ways; i++)
    if (strcmp(argv[1], ways[i].name) == 0) return ways[i].run();
  return 2;
}
