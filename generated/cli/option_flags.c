/* Made by codegen/generate.py from schema/; not to be edited. Again: ./dev regen */
/* SPDX-License-Identifier: Apache-2.0 */
#include "options/flags.h"

#include <stdlib.h>

#include "options/flag_values.h"

static cdam_status set_image(cdam_options *options, const char *text, cdam_error *err) {
  return cdam_options_set_image(options, text, err);
}

static cdam_status set_exposed_ports(cdam_options *options, const char *text, cdam_error *err) {
  uint64_t number = 0;
  cdam_status status = cdam_flag_uint("exposed_ports", text, 65535, &number, err);
  if (status != CDAM_OK) return status;
  return cdam_options_add_exposed_port(options, (uint32_t)number, err);
}

static cdam_status set_labels(cdam_options *options, const char *text, cdam_error *err) {
  char *key = NULL;
  const char *value = NULL;
  cdam_status status = cdam_flag_pair("labels", text, &key, &value, err);
  if (status != CDAM_OK) return status;
  status = cdam_options_set_label(options, key, value, err);
  free(key);
  return status;
}

static cdam_status set_env(cdam_options *options, const char *text, cdam_error *err) {
  char *key = NULL;
  const char *value = NULL;
  cdam_status status = cdam_flag_pair("env", text, &key, &value, err);
  if (status != CDAM_OK) return status;
  status = cdam_options_set_env(options, key, value, err);
  free(key);
  return status;
}

static const cdam_flag_word network_mode_words[] = {
    {"none", CDAM_NETWORK_MODE_NONE},
};

static cdam_status set_network_mode(cdam_options *options, const char *text, cdam_error *err) {
  int number = 0;
  cdam_status status = cdam_flag_enum("network_mode", text, network_mode_words,
                                      sizeof network_mode_words / sizeof *network_mode_words,
                                      "none", &number, err);
  if (status == CDAM_OK) {
    cdam_options_set_network_mode(options, (cdam_network_mode)number);
  }
  return status;
}

static const cdam_flag_word profile_words[] = {
    {"hardened", CDAM_PROFILE_HARDENED},
};

static cdam_status set_profile(cdam_options *options, const char *text, cdam_error *err) {
  int number = 0;
  cdam_status status = cdam_flag_enum("profile", text, profile_words,
                                      sizeof profile_words / sizeof *profile_words, "hardened",
                                      &number, err);
  if (status == CDAM_OK) {
    cdam_options_set_profile(options, (cdam_profile)number);
  }
  return status;
}

static cdam_status set_memory_bytes(cdam_options *options, const char *text, cdam_error *err) {
  uint64_t number = 0;
  cdam_status status = cdam_flag_bytes("memory_bytes", text, 1125899906842624, &number, err);
  if (status != CDAM_OK) return status;
  cdam_options_set_memory_bytes(options, number);
  return status;
}

static cdam_status set_nano_cpus(cdam_options *options, const char *text, cdam_error *err) {
  uint64_t number = 0;
  cdam_status status = cdam_flag_nano("nano_cpus", text, 1024000000000, &number, err);
  if (status != CDAM_OK) return status;
  cdam_options_set_nano_cpus(options, number);
  return status;
}

static cdam_status set_pids_limit(cdam_options *options, const char *text, cdam_error *err) {
  uint64_t number = 0;
  cdam_status status = cdam_flag_uint("pids_limit", text, 4194304, &number, err);
  if (status != CDAM_OK) return status;
  cdam_options_set_pids_limit(options, (uint32_t)number);
  return status;
}

static cdam_status set_tmpfs(cdam_options *options, const char *text, cdam_error *err) {
  char *key = NULL;
  const char *value = NULL;
  cdam_status status = cdam_flag_pair("tmpfs", text, &key, &value, err);
  if (status != CDAM_OK) return status;
  status = cdam_options_set_tmpfs_mount(options, key, value, err);
  free(key);
  return status;
}

static cdam_status set_read_only_root(cdam_options *options, const char *text, cdam_error *err) {
  (void)text;
  cdam_options_set_read_only_root(options, true);
  return cdam_flag_ok(err);
}

static cdam_status set_user(cdam_options *options, const char *text, cdam_error *err) {
  return cdam_options_set_user(options, text, err);
}

static cdam_status set_drop_all_capabilities(cdam_options *options, const char *text,
                                             cdam_error *err) {
  (void)text;
  cdam_options_set_drop_all_capabilities(options, true);
  return cdam_flag_ok(err);
}

static cdam_status set_no_new_privileges(cdam_options *options, const char *text, cdam_error *err) {
  (void)text;
  cdam_options_set_no_new_privileges(options, true);
  return cdam_flag_ok(err);
}

static cdam_status set_runtime(cdam_options *options, const char *text, cdam_error *err) {
  return cdam_options_set_runtime(options, text, err);
}

static cdam_status set_ulimits(cdam_options *options, const char *text, cdam_error *err) {
  char *key = NULL;
  const char *value = NULL;
  cdam_status status = cdam_flag_pair("ulimits", text, &key, &value, err);
  if (status != CDAM_OK) return status;
  status = cdam_options_set_ulimit(options, key, value, err);
  free(key);
  return status;
}

static cdam_status set_hostname(cdam_options *options, const char *text, cdam_error *err) {
  return cdam_options_set_hostname(options, text, err);
}

static cdam_status set_platform(cdam_options *options, const char *text, cdam_error *err) {
  return cdam_options_set_platform(options, text, err);
}

static cdam_status set_workspace(cdam_options *options, const char *text, cdam_error *err) {
  return cdam_options_set_workspace(options, text, err);
}

static cdam_status set_deadline(cdam_options *options, const char *text, cdam_error *err) {
  uint64_t number = 0;
  cdam_status status = cdam_flag_time("deadline", text, 253402300799, &number, err);
  if (status != CDAM_OK) return status;
  cdam_options_set_deadline(options, number);
  return status;
}

const cdam_option_flag cdam_option_flags[] = {
    {
        .name = "image",
        .metavar = "IMAGE",
        .help = "The image to run, as [registry[:port]/]name[:tag][@digest].",
        .required = true,
        .set = set_image,
    },
    {
        .name = "port",
        .metavar = "PORT",
        .help = "TCP ports to publish, each on a free port of the engine's 127.0.0.1.",
        .repeatable = true,
        .set = set_exposed_ports,
    },
    {
        .name = "label",
        .metavar = "KEY=VALUE",
        .help = "Labels of the container. Keys that begin with io.cofferdam. are ours.",
        .repeatable = true,
        .set = set_labels,
    },
    {
        .name = "env",
        .metavar = "KEY=VALUE",
        .help = "Environment variables of every process in the sandbox.",
        .repeatable = true,
        .set = set_env,
    },
    {
        .name = "network",
        .metavar = "MODE",
        .help = "Networking of the sandbox: unset (the engine's default) or none. Accepted: "
                "none",
        .isolates = true,
        .set = set_network_mode,
    },
    {
        .name = "profile",
        .metavar = "PROFILE",
        .help = "Sets all that is strict and was not set; what was set stays, but no root. "
                "Accepted: hardened",
        .set = set_profile,
    },
    {
        .name = "memory",
        .metavar = "BYTES",
        .help = "Memory of all processes and tmpfs together, swap included; who needs more is "
                "killed.",
        .isolates = true,
        .set = set_memory_bytes,
    },
    {
        .name = "cpus",
        .metavar = "CPUS",
        .help = "Processor time in billionths of a processor: 1500000000 is one and a half.",
        .isolates = true,
        .set = set_nano_cpus,
    },
    {
        .name = "pids-limit",
        .metavar = "COUNT",
        .help = "Processes and threads at a time, the sandbox's own two or three among them.",
        .isolates = true,
        .set = set_pids_limit,
    },
    {
        .name = "tmpfs",
        .metavar = "PATH=OPTIONS",
        .help = "File systems in memory by path, with options such as size=64m,mode=1777,exec.",
        .repeatable = true,
        .set = set_tmpfs,
    },
    {
        .name = "read-only",
        .help = "The root file system cannot be written; a tmpfs can.",
        .isolates = true,
        .set = set_read_only_root,
    },
    {
        .name = "user",
        .metavar = "USER",
        .help = "Who commands run as where they do not say: USER[:GROUP], names or numbers.",
        .isolates = true,
        .set = set_user,
    },
    {
        .name = "drop-all-capabilities",
        .help = "Not even root in the sandbox has a capability.",
        .isolates = true,
        .set = set_drop_all_capabilities,
    },
    {
        .name = "no-new-privileges",
        .help = "No program gives more privileges than who runs it has (setuid and such).",
        .isolates = true,
        .set = set_no_new_privileges,
    },
    {
        .name = "runtime",
        .metavar = "RUNTIME",
        .help = "The engine's runtime that runs the sandbox, such as runsc.",
        .isolates = true,
        .set = set_runtime,
    },
    {
        .name = "ulimit",
        .metavar = "NAME=SOFT:HARD",
        .help = "Limits of each process by name, as SOFT:HARD: nofile=1024:1024.",
        .repeatable = true,
        .isolates = true,
        .set = set_ulimits,
    },
    {
        .name = "hostname",
        .metavar = "NAME",
        .help = "What the sandbox calls itself.",
        .set = set_hostname,
    },
    {
        .name = "platform",
        .metavar = "PLATFORM",
        .help = "What the image must be made for, as os/architecture[/variant]: linux/arm64.",
        .set = set_platform,
    },
    {
        .name = "workspace",
        .metavar = "DIR",
        .help = "The directory of the sandbox's files, in which commands run: /workspace "
                "unless set.",
        .set = set_workspace,
    },
    {
        .name = "deadline",
        .metavar = "TIME",
        .help = "When the sandbox ends for good, in seconds since 1970; it is not brought back "
                "after that.",
        .isolates = true,
        .set = set_deadline,
    },
};

const size_t cdam_option_flag_count =
    sizeof cdam_option_flags / sizeof *cdam_option_flags;
