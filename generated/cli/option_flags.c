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
};

const size_t cdam_option_flag_count =
    sizeof cdam_option_flags / sizeof *cdam_option_flags;
