/* SPDX-License-Identifier: Apache-2.0 */
#include "init.h"
#include "relay.h"
#include "server.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

static int usage(void) {
  fputs("usage: cofferdam-agent init [--workspace DIR] [--deadline UNIX_SECONDS]\n"
        "                            [--stop-grace-ms N] [--stdio]\n"
        "       cofferdam-agent relay\n"
        "       cofferdam-agent serve-stdio [--workspace DIR]\n"
        "       cofferdam-agent --version\n",
        stderr);
  return 2;
}

int main(int argc, char **argv, char **environment) {
  /* Nothing with the same user may look into us, also where the file's mode does not see to it. */
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  if (argc == 2 && strcmp(argv[1], "--version") == 0) {
    puts("cofferdam-agent " AGENT_VERSION);
    return 0;
  }
  if (argc == 2 && strcmp(argv[1], "relay") == 0) return agent_relay();
  if (argc >= 2 && strcmp(argv[1], "init") == 0) {
    int status = agent_init(argc - 1, argv + 1, environment, true);
    return status < 0 ? usage() : status;
  }
  if (argc >= 2 && strcmp(argv[1], "serve-stdio") == 0) {
    int status = agent_init(argc - 1, argv + 1, environment, false);
    return status < 0 ? usage() : status;
  }
  return usage();
}
