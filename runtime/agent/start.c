/* SPDX-License-Identifier: Apache-2.0 */
#include "memory_events.h"
#include "process_requests.h"
#include "pty.h"
#include "user.h"
#include "viewer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { FLOWING = 128 * 1024, SHOWN_ARGV = 1024, MAX_LIMITS = 16 };

#define DEFAULT_PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* What is made for a start, in one block with the strings; then the keeper's. */
typedef struct start_plan {
  const MSG(Start) * request; /* only until it is launched, as the process and descriptors */
  agent_process *process;
  agent_command command;
  agent_user user;
  agent_limit limits[MAX_LIMITS];
  char *text;       /* directory and user, NUL-terminated */
  char home[264];   /* HOME=… */
  int child_fds[3]; /* -1: shared with another */
  int agent_fds[3]; /* -1: none */
} start_plan;

static bool has_nul(const ProtobufCBinaryData *data) {
  return data->len && memchr(data->data, 0, data->len);
}

static bool all_clean(const ProtobufCBinaryData *items, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (has_nul(&items[i])) return false;
  return true;
}

static const char *check(const MSG(Start) * start) {
  if (start->n_argv == 0 || start->argv[0].len == 0) return "no command";
  if (!all_clean(start->argv, start->n_argv)) return "a NUL in an argument";
  if (!all_clean(start->env, start->n_env)) return "a NUL in the environment";
  for (size_t i = 0; i < start->n_env; i++)
    if (start->env[i].len < 2 || start->env[i].data[0] == '=' ||
        !memchr(start->env[i].data, '=', start->env[i].len))
      return "an environment entry is not NAME=VALUE";
  if (has_nul(&start->directory) || has_nul(&start->user)) return "a NUL in the directory or user";
  if (start->directory.len && start->directory.data[0] != '/')
    return "the directory is not absolute";
  if (start->directory.len > AGENT_MAX_PATH || start->user.len > 255) return "too long";
  if (start->n_limits > MAX_LIMITS || start->n_groups > AGENT_MAX_GROUPS) return "too many";
  if (start->retain > AGENT_MAX_RETAIN) return "too much to retain";
  if (start->terminal && (start->discard_output || start->discard_error || start->join_error))
    return "a terminal has one stream";
  if (start->join_error && start->discard_error) return "error is joined or discarded, not both";
  return NULL;
}

static size_t name_length(const char *entry) {
  return strcspn(entry, "=") + 1;
}

/* The sandbox's own HOME is that of its own user. */
static bool overridden(const MSG(Start) * start, const char *entry) {
  size_t length = name_length(entry);
  if (start->user.len && strncmp(entry, "HOME=", 5) == 0) return true;
  for (size_t i = 0; i < start->n_env; i++)
    if (start->env[i].len >= length && memcmp(start->env[i].data, entry, length) == 0) return true;
  return false;
}

/* Copies bytes to strings with a NUL each, pointers into `out`. */
static char *copy_strings(char *to, char **out, const ProtobufCBinaryData *items, size_t count) {
  for (size_t i = 0; i < count; i++) {
    out[i] = to;
    if (items[i].len) memcpy(to, items[i].data, items[i].len);
    to += items[i].len;
    *to++ = '\0';
  }
  return to;
}

static const char *find_variable(char **environment, const char *name) {
  size_t length = strlen(name);
  for (; *environment; environment++)
    if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
      return *environment + length + 1;
  return NULL;
}

/* argv, then the environment: the sandbox's own where not overridden, the request's, a PATH. */
static start_plan *make_plan(agent_server *server, const MSG(Start) * start) {
  size_t inherited = 0;
  while (start->inherit_env && server->environment[inherited])
    inherited++;
  size_t pointers = start->n_argv + 1 + inherited + start->n_env + 3;
  size_t bytes = start->directory.len + start->user.len + 2;
  for (size_t i = 0; i < start->n_argv; i++)
    bytes += start->argv[i].len + 1;
  for (size_t i = 0; i < start->n_env; i++)
    bytes += start->env[i].len + 1;
  start_plan *plan = malloc(sizeof *plan + pointers * sizeof(char *) + bytes);
  if (!plan) return NULL;
  *plan = (start_plan){.request = start, .child_fds = {-1, -1, -1}, .agent_fds = {-1, -1, -1}};
  char **argv = (char **)(plan + 1);
  char *at = (char *)(argv + pointers);
  at = copy_strings(at, argv, start->argv, start->n_argv);
  argv[start->n_argv] = NULL;
  char **environment = argv + start->n_argv + 1;
  size_t count = 0;
  for (size_t i = 0; i < inherited; i++)
    if (!overridden(start, server->environment[i])) environment[count++] = server->environment[i];
  at = copy_strings(at, environment + count, start->env, start->n_env);
  count += start->n_env;
  environment[count] = NULL;
  const char *path = find_variable(environment, "PATH");
  plan->command.search = path ? path : &DEFAULT_PATH[5];
  if (!path && start->inherit_env) environment[count++] = (char *)DEFAULT_PATH;
  environment[count] = NULL;
  char *pair[2];
  ProtobufCBinaryData texts[2] = {start->directory, start->user};
  copy_strings(at, pair, texts, 2);
  plan->command.argv = argv;
  plan->command.environment = environment;
  plan->command.directory = *pair[0] ? pair[0] : *server->workspace ? server->workspace : "/";
  plan->text = pair[1];
  return plan;
}

static void set_home(start_plan *plan) {
  char **environment = plan->command.environment;
  if (!plan->request->inherit_env || find_variable(environment, "HOME")) return;
  const char *home = *plan->user.home ? plan->user.home : "/";
  memcpy(plan->home, "HOME=", 5);
  memcpy(plan->home + 5, home, strlen(home) + 1);
  while (*environment)
    environment++;
  environment[0] = plan->home;
  environment[1] = NULL;
}

/* NULL, or what is wrong. */
static const char *make_user(start_plan *plan) {
  const MSG(Start) *start = plan->request;
  agent_command *command = &plan->command;
  if (!*plan->text && !start->n_groups) return NULL;
  if (*plan->text) {
    const char *wrong = agent_user_find(plan->text, &plan->user);
    if (wrong) return wrong;
    set_home(plan);
  } else {
    plan->user.uid = getuid();
    plan->user.gid = getgid();
  }
  for (size_t i = 0; i < start->n_groups; i++) {
    if (plan->user.group_count == AGENT_MAX_GROUPS) return "too many groups";
    plan->user.groups[plan->user.group_count++] = start->groups[i];
  }
  command->uid = plan->user.uid;
  command->gid = plan->user.gid;
  command->groups = plan->user.groups;
  command->group_count = plan->user.group_count;
  /* Its own user can be asked of an agent that may not change any; with the groups that it has. */
  bool own = command->uid == getuid() &&
             (command->gid == getgid() || (getuid() != 0 && !strchr(plan->text, ':')));
  command->set_user = start->n_groups || !own;
  return NULL;
}

static void make_limits(start_plan *plan) {
  const MSG(Start) *start = plan->request;
  for (size_t i = 0; i < start->n_limits; i++) {
    const MSG(ResourceLimit) *limit = start->limits[i];
    plan->limits[i] = (agent_limit){.resource = (int)limit->resource,
                                    .value = {.rlim_cur = limit->soft, .rlim_max = limit->hard}};
  }
  plan->command.limits = plan->limits;
  plan->command.limit_count = start->n_limits;
  plan->command.no_new_privileges = start->no_new_privileges;
  plan->command.terminal = start->terminal;
}

/* A pipe whose end number `ours` is the agent's, and does not block. */
static bool make_pipe(start_plan *plan, int number, int ours) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  fcntl(ends[ours], F_SETFL, O_NONBLOCK);
  plan->agent_fds[number] = ends[ours];
  plan->child_fds[number] = ends[1 - ours];
  plan->command.fds[number] = ends[1 - ours];
  return true;
}

static bool make_pipes(agent_server *server, start_plan *plan) {
  const MSG(Start) *start = plan->request;
  int *fds = plan->command.fds;
  for (int i = 0; i < 3; i++)
    fds[i] = server->null_fd;
  if (start->input && !make_pipe(plan, 0, 1)) return false;
  if (!start->discard_output && !make_pipe(plan, 1, 0)) return false;
  if (start->join_error)
    fds[2] = fds[1];
  else if (!start->discard_error && !make_pipe(plan, 2, 0))
    return false;
  return true;
}

static bool make_terminal(start_plan *plan) {
  const MSG(Start) *start = plan->request;
  int slave;
  int master =
      agent_pty_open(start->size ? start->size->rows : 24, start->size ? start->size->columns : 80,
                     plan->command.set_user, plan->command.uid, &slave);
  if (master < 0) return false;
  plan->agent_fds[1] = master;
  plan->child_fds[0] = slave;
  for (int i = 0; i < 3; i++)
    plan->command.fds[i] = slave;
  if (start->input) plan->agent_fds[0] = fcntl(master, F_DUPFD_CLOEXEC, 4);
  plan->process->master = fcntl(master, F_DUPFD_CLOEXEC, 4);
  return plan->process->master >= 0 && (!start->input || plan->agent_fds[0] >= 0);
}

static void close_all(int *fds) {
  for (int i = 0; i < 3; i++) {
    if (fds[i] >= 0) close(fds[i]);
    fds[i] = -1;
  }
}

static void stream_ready(agent_process *process, int stream) {
  agent_output *output = &process->streams[stream];
  if (!(output->source.events & EPOLLIN)) return; /* paused */
  size_t limit = agent_viewer_room(process, stream);
  ssize_t n = agent_output_read(&process->server->loop, output, limit);
  if (n < 0) return;
  if (n > 0 && !process->terminal)
    agent_gather_read(&process->server->gather, &output->rest, (size_t)n);
  agent_viewer_wake_all(process);
  agent_process_pump(process);
}

static void output_ready(agent_source *source, uint32_t events) {
  (void)events;
  stream_ready(AGENT_OWNER(source, agent_process, streams[0].source), 0);
}

static void error_ready(agent_source *source, uint32_t events) {
  (void)events;
  stream_ready(AGENT_OWNER(source, agent_process, streams[1].source), 1);
}

static void output_rested(agent_rest *rest) {
  agent_process_pump(AGENT_OWNER(rest, agent_process, streams[0].rest));
}

static void error_rested(agent_rest *rest) {
  agent_process_pump(AGENT_OWNER(rest, agent_process, streams[1].rest));
}

static void input_ready(agent_source *source, uint32_t events) {
  agent_process *process = AGENT_OWNER(source, agent_process, input.source);
  agent_input_result result = AGENT_INPUT_OK;
  if ((events & EPOLLERR) && !process->terminal) {
    agent_input_close(process->server, &process->input);
    result = AGENT_INPUT_BROKEN;
  } else if (process->input.first) {
    result = agent_input_flush(process->server, &process->input);
  }
  if (result == AGENT_INPUT_BROKEN) agent_viewer_input_broken(process);
}

/* The agent's ends go to the process and its loop. */
static bool watch(agent_process *process, int *fds) {
  agent_loop *loop = &process->server->loop;
  agent_source *sources[3] = {&process->input.source, &process->streams[0].source,
                              &process->streams[1].source};
  bool *open[3] = {&process->input.open, &process->streams[0].open, &process->streams[1].open};
  for (int i = 0; i < 3; i++) {
    if (fds[i] < 0) continue;
    if (!agent_loop_watch(loop, sources[i], fds[i], i == 0 ? EPOLLET : EPOLLIN)) return false;
    *open[i] = true;
    fds[i] = -1;
  }
  return true;
}

static void show_argv(agent_process *process, const MSG(Start) * start) {
  process->argv = malloc(SHOWN_ARGV);
  if (!process->argv) return;
  for (size_t i = 0; i < start->n_argv; i++) {
    size_t room = SHOWN_ARGV - process->argv_length;
    if (room < 3) return;
    size_t length = start->argv[i].len < room - 2 ? start->argv[i].len : room - 2;
    uint8_t *at = process->argv + process->argv_length;
    at[0] = (uint8_t)length;
    at[1] = (uint8_t)(length >> 8);
    memcpy(at + 2, start->argv[i].data, length);
    process->argv_length += length + 2;
  }
}

static agent_process *new_process(agent_server *server, const MSG(Start) * start) {
  agent_process *process = calloc(1, sizeof *process);
  if (!process) return NULL;
  process->server = server;
  process->id = ++server->next_process;
  process->outlive = process->keep = start->outlive;
  process->terminal = process->input.terminal = start->terminal;
  process->kill_rest = start->kill_rest;
  process->grace_ms = start->grace_ms;
  process->master = -1;
  process->input.source = (agent_source){.ready = input_ready, .fd = -1};
  process->streams[0].source = (agent_source){.ready = output_ready, .fd = -1};
  process->streams[1].source = (agent_source){.ready = error_ready, .fd = -1};
  process->streams[0].rest.over = output_rested;
  process->streams[1].rest.over = error_rested;
  for (int i = 0; i < 2; i++)
    process->streams[i].room = start->retain ? start->retain : FLOWING;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  process->started_unix_ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
  process->started_us = agent_now_us();
  process->memory_events = agent_memory_events(server);
  return process;
}

static void discard(start_plan *plan) {
  close_all(plan->child_fds);
  close_all(plan->agent_fds);
  agent_process *process = plan->process;
  free(plan);
  if (!process) return;
  agent_loop *loop = &process->server->loop;
  for (int i = 0; i < 2; i++)
    agent_output_close(loop, &process->streams[i]);
  agent_input_close(process->server, &process->input);
  if (process->master >= 0) close(process->master);
  agent_stack_give(&process->server->stacks, process->stack);
  agent_loop_free(loop, process);
}

/* Without close_range a keeper has to be told how far to go. */
static int highest_descriptor(const agent_server *server) {
  int highest = 1023;
  DIR *dir = server->have_close_range ? NULL : opendir("/proc/self/fd");
  struct dirent *entry;
  while (dir && (entry = readdir(dir)) != NULL) {
    int fd = (int)strtol(entry->d_name, NULL, 10);
    if (fd > highest) highest = fd;
  }
  if (dir) closedir(dir);
  return highest;
}

static void open_viewer(agent_peer *peer, uint32_t number, agent_process *process) {
  agent_viewer *viewer = agent_viewer_open(peer, number, process);
  if (!viewer) { /* it must not run without anybody knowing */
    agent_process_kill(process, COFFERDAM__AGENT__V1__ENDED_BY__ENDED_BY_KILL, 0);
    return;
  }
  viewer->starter = true;
  viewer->paced = true;
  viewer->input = process->input.open;
  for (int i = 0; i < 2; i++)
    viewer->streams[i] = process->streams[i].open;
}

/* The step that failed, with errno; 0 when the keeper runs. */
static int launch(agent_server *server, start_plan *plan) {
  agent_process *process = plan->process;
  bool ok = plan->request->terminal ? make_terminal(plan) : make_pipes(server, plan);
  if (!ok) return plan->request->terminal ? STEP(TERMINAL) : STEP(PIPE);
  if (!watch(process, plan->agent_fds)) return STEP(PIPE);
  plan->command.id = process->id;
  plan->command.notes = server->note_writer;
  plan->command.highest_fd = highest_descriptor(server);
  process->stack = agent_stack_take(&server->stacks);
  process->keeper = process->stack ? agent_spawn(&plan->command, process->stack) : -1;
  if (process->keeper < 0) return STEP(FORK);
  close_all(plan->child_fds);
  process->plan = plan;
  return 0;
}

static void account(agent_server *server, agent_process *process, const MSG(Start) * start) {
  agent_process_add(server, process);
  server->started_total++;
  if (process->keep) process->retained = 2 * process->streams[0].room;
  server->retain_bytes += process->retained;
  show_argv(process, start);
  if (!start->timeout_ms) return;
  process->timeout_at = agent_now_ms() + start->timeout_ms;
  agent_server_wake_at(server, process->timeout_at);
}

void agent_start(agent_peer *peer, uint32_t number, const MSG(Start) * start) {
  agent_server *server = peer->server;
  const char *wrong = check(start);
  if (wrong) {
    agent_reply_fail(peer, number, ERR(INVALID), wrong);
    return;
  }
  if (server->running >= AGENT_MAX_RUNNING ||
      (start->outlive && server->retain_bytes + 2 * (size_t)start->retain > AGENT_MAX_RETAIN_ALL)) {
    agent_reply_fail(peer, number, ERR(LIMIT), "too many processes or too much kept output");
    return;
  }
  start_plan *plan = make_plan(server, start);
  agent_process *process = plan ? new_process(server, start) : NULL;
  if (!process) {
    free(plan);
    agent_reply_fail(peer, number, ERR(NO_MEMORY), "out of memory");
    return;
  }
  plan->process = process;
  wrong = make_user(plan);
  if (wrong) {
    discard(plan);
    agent_reply_fail(peer, number, ERR(INVALID), wrong);
    return;
  }
  make_limits(plan);
  int step = launch(server, plan);
  if (step) {
    MSG(Error) error = MSG_INIT(ERROR);
    agent_error_system(&error, step, errno);
    error.code = ERR(NOT_STARTED);
    discard(plan);
    agent_reply_done(peer, number, &error);
    return;
  }
  process->owner = peer;
  account(server, process, start);
  open_viewer(peer, number, process);
}
