/* SPDX-License-Identifier: Apache-2.0 */
/* protobuf's text format, as a state and as options: see forms.h. */
#include "forms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_check_form(CDAM_FORM_TEXT, data, size);
  return 0;
}
