/* Made by codegen/generate.py from schema/; not to be edited. Again: ./dev regen */
/* SPDX-License-Identifier: Apache-2.0 */
#include "option_fields.h"

const char *cdam_docker_word_network_mode(Cofferdam__V1__NetworkMode value) {
  switch (value) {
  case COFFERDAM__V1__NETWORK_MODE__NETWORK_MODE_NONE:
    return "none";
  default:
    return NULL;
  }
}

const char *cdam_docker_word_profile(Cofferdam__V1__Profile value) {
  switch (value) {
  case COFFERDAM__V1__PROFILE__PROFILE_HARDENED:
    return "hardened";
  default:
    return NULL;
  }
}
