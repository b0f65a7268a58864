/* SPDX-License-Identifier: Apache-2.0 */
#include "options/features.h"

#include <stdlib.h>

#include "base/fail.h"
#include "options/place.h"

static const cdam_place list_place = {.prefix = "", .field = "required_features"};

static const cdam_feature_need *find(const cdam_feature_need *known, size_t known_count,
                                     Cofferdam__V1__Feature number) {
  for (size_t i = 0; i < known_count; i++) {
    if (known[i].number == number) return &known[i];
  }
  return NULL;
}

static cdam_status fail_unknown(const Cofferdam__V1__SessionState *state, size_t index,
                                unsigned revision, cdam_error *err) {
  cdam_fail(err, CDAM_ERR_UNSUPPORTED,
            "the state needs feature %d (schema revision %u); this library knows the features up "
            "to schema revision %u",
            (int)state->required_features[index], (unsigned)state->schema_revision, revision);
  cdam_place item = cdam_place_item(&list_place, index);
  if (err) cdam_place_text(&item, err->field);
  return CDAM_ERR_UNSUPPORTED;
}

cdam_status cdam_features_check_known(const Cofferdam__V1__SessionState *state,
                                      const cdam_feature_need *known, size_t known_count,
                                      unsigned revision, cdam_error *err) {
  for (size_t i = 0; i < state->n_required_features; i++) {
    Cofferdam__V1__Feature number = state->required_features[i];
    if (number == COFFERDAM__V1__FEATURE__FEATURE_UNSPECIFIED) {
      cdam_place item = cdam_place_item(&list_place, i);
      return cdam_fail_place(&item, err, "is FEATURE_UNSPECIFIED, which is no feature");
    }
    if (!find(known, known_count, number)) return fail_unknown(state, i, revision, err);
  }
  return CDAM_OK;
}

static bool listed(const Cofferdam__V1__SessionState *state, Cofferdam__V1__Feature number) {
  for (size_t i = 0; i < state->n_required_features; i++) {
    if (state->required_features[i] == number) return true;
  }
  return false;
}

cdam_status cdam_features_check_needed(const Cofferdam__V1__SessionState *state,
                                       const cdam_feature_need *known, size_t known_count,
                                       cdam_error *err) {
  for (size_t i = 0; i < known_count; i++) {
    bool there = listed(state, known[i].number);
    if (there == known[i].needed) continue;
    if (there) {
      return cdam_fail_place(&list_place, err, "lists %s, but options.%s is not in use",
                             known[i].name, known[i].option);
    }
    return cdam_fail_place(&list_place, err, "lacks %s, which options.%s needs", known[i].name,
                           known[i].option);
  }
  return CDAM_OK;
}

cdam_status cdam_features_replace(Cofferdam__V1__SessionState *state,
                                  const cdam_feature_need *known, size_t known_count,
                                  cdam_error *err) {
  size_t count = 0;
  for (size_t i = 0; i < known_count; i++) {
    count += known[i].needed;
  }
  Cofferdam__V1__Feature *list = NULL;
  if (count > 0) {
    list = calloc(count, sizeof *list);
    if (!list) return cdam_fail_memory(err);
    size_t next = 0;
    for (size_t i = 0; i < known_count; i++) {
      if (known[i].needed) list[next++] = known[i].number;
    }
  }
  free(state->required_features);
  state->required_features = list;
  state->n_required_features = count;
  return cdam_ok(err);
}
