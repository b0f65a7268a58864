/* SPDX-License-Identifier: Apache-2.0 */
/* One client doing one thing in a live sandbox a number of times: bench_live_CLIENT SCENARIO COUNT
 * IMAGE. Prints "wall_ns cpu_ns peak_kib", set-up and clean-up left out of the times. */
#include "live.h"
#include "measure.h"

#define MAX_BOXES 16

static const char *const true_argv[] = {"true", NULL};

static long size_of(const char *scenario) {
  return strstr(scenario, "4k") ? LIVE_SMALL : LIVE_BULK;
}

static void once(const char *scenario, sandbox **boxes, size_t box_count) {
  if (!strcmp(scenario, "true"))
    live_run(boxes[0], true_argv);
  else if (!strncmp(scenario, "at-once-", 8))
    live_at_once(boxes, box_count, strtoul(strrchr(scenario, '-') + 1, NULL, 10));
  else if (!strcmp(scenario, "stdout"))
    live_stdout(boxes[0]);
  else if (!strcmp(scenario, "stdin"))
    live_stdin(boxes[0]);
  else if (!strncmp(scenario, "write", 5))
    live_write(boxes[0], size_of(scenario));
  else if (!strncmp(scenario, "read", 4))
    live_read(boxes[0], size_of(scenario));
  else if (!strcmp(scenario, "list"))
    live_list(boxes[0]);
  else
    die("no such scenario", scenario);
}

static void shell(sandbox *box, const char *line) {
  live_run(box, (const char *const[]){"sh", "-c", line, NULL});
}

static void prepare(const char *scenario, sandbox *box) {
  char line[160];
  shell(box, "mkdir -p /workspace");
  snprintf(line, sizeof line, "head -c %ld /dev/zero >/workspace/file", size_of(scenario));
  if (!strncmp(scenario, "read", 4)) shell(box, line);
  snprintf(line, sizeof line, "mkdir /workspace/many && cd /workspace/many && seq %d | xargs touch",
           LIVE_ENTRIES);
  if (!strcmp(scenario, "list")) shell(box, line);
}

/* From create to the end of the first command. */
static long long first(const char *image) {
  long long began = now(CLOCK_MONOTONIC);
  sandbox *box = live_create(image);
  live_run(box, true_argv);
  long long wall = now(CLOCK_MONOTONIC) - began;
  live_delete(box);
  return wall;
}

static void measure_first(long count, const char *image) {
  long long wall = 0, cpu = now(CLOCK_PROCESS_CPUTIME_ID);
  first(image); /* warm up */
  for (long i = 0; i < count; i++)
    wall += first(image);
  printf("%lld %lld %ld\n", wall, now(CLOCK_PROCESS_CPUTIME_ID) - cpu, peak_kib());
}

static void measure(const char *scenario, long count, const char *image) {
  sandbox *boxes[MAX_BOXES];
  size_t box_count = strncmp(scenario, "at-once-in-16-", 14) ? 1 : MAX_BOXES;
  for (size_t i = 0; i < box_count; i++)
    boxes[i] = live_create(image);
  prepare(scenario, boxes[0]);
  if (count > 1) once(scenario, boxes, box_count); /* warm up */
  long long wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
  for (long i = 0; i < count; i++)
    once(scenario, boxes, box_count);
  cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  wall = now(CLOCK_MONOTONIC) - wall;
  printf("%lld %lld %ld\n", wall, cpu, peak_kib());
  for (size_t i = 0; i < box_count; i++)
    live_delete(boxes[i]);
}

int main(int argc, char **argv) {
  if (argc != 4) die("usage", "bench_live_CLIENT SCENARIO COUNT IMAGE");
  long count = strtol(argv[2], NULL, 10);
  if (!strcmp(argv[1], "first"))
    measure_first(count, argv[3]);
  else
    measure(argv[1], count, argv[3]);
  return 0;
}
