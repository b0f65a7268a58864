/* SPDX-License-Identifier: Apache-2.0 */
#include "pty.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#ifndef TIOCGPTPEER
#define TIOCGPTPEER 0x5441
#endif

bool agent_pty_resize(int master, uint32_t rows, uint32_t columns) {
  if (rows > UINT16_MAX || columns > UINT16_MAX) {
    errno = EINVAL;
    return false;
  }
  struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};
  return ioctl(master, TIOCSWINSZ, &size) == 0;
}

int agent_pty_open(uint32_t rows, uint32_t columns, bool set_owner, uid_t uid, int *slave) {
  int unlock = 0;
  int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (master < 0) return -1;
  *slave = -1;
  if (ioctl(master, TIOCSPTLCK, &unlock) == 0 && agent_pty_resize(master, rows, columns))
    *slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (*slave < 0) {
    int error = errno;
    close(master);
    errno = error;
    return -1;
  }
  /* Its user may want to open it by name; where we may not give it away, the descriptors do. */
  if (set_owner && fchown(*slave, uid, (gid_t)-1) != 0) errno = 0;
  return master;
}
