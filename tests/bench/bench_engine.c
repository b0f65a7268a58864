/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One client doing one thing a number of times: bench_CLIENT SCENARIO COUNT IMAGE. Scenarios: exec,
 * resume, cycle. Prints "wall_ns cpu_ns peak_kib" of the repetitions; set-up and clean-up are left
 * out of the times.
 */
#include "actions.h"
#include "measure.h"

static void once(const actions *client, const char *scenario) {
  if (!strcmp(scenario, "exec")) {
    client->exec();
  } else if (!strcmp(scenario, "resume")) {
    client->resume();
  } else {
    client->create();
    client->exec();
    client->destroy();
  }
}

int main(int argc, char **argv) {
  if (argc != 4) die("usage", "bench_CLIENT SCENARIO COUNT IMAGE");
  const char *scenario = argv[1];
  long count = strtol(argv[2], NULL, 10);
  actions client = make_actions(argv[3]);
  int cycle = !strcmp(scenario, "cycle");
  if (!cycle) client.create();
  once(&client, scenario); /* warm up */
  long long wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
  for (long i = 0; i < count; i++)
    once(&client, scenario);
  cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  wall = now(CLOCK_MONOTONIC) - wall;
  long peak = peak_kib();
  if (!cycle) client.destroy();
  printf("%lld %lld %ld\n", wall, cpu, peak);
  return 0;
}
