/* SPDX-License-Identifier: Apache-2.0 */
/* Every program of the image that lies (tools/test-image.sh): prints what a shell, a tar or an
 * agent might have said, and ends well or badly, as it comes. Static. */
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char nonsense[] = "total 3\n-rwsrwsrwt 1 root root 18446744073709551615 Jan 0 1970 /\n"
                               "root:x:0:0::/:/bin/sh\n\x1b[2J\xff\xfe\0\1\2\0\0\0\0\0\4(null)\n"
                               "\x04\x00\x00\x00\x08\x01\x12\x00PID 1 0 -1 2147483648\n";

int main(int count, char **arguments) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  uint64_t chance = (uint64_t)now.tv_nsec * 6364136223846793005u >> 60;
  for (uint64_t i = 0; i <= chance; i++)
    if (write(1 + (int)(i & 1), nonsense, sizeof nonsense - 1) < 0) break;
  if (count > 1 && write(1, arguments[count - 1], strlen(arguments[count - 1])) < 0) return 1;
  return (int)(chance & 1);
}
