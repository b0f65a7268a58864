/* SPDX-License-Identifier: Apache-2.0 */
/* cdam_list, on engines that ignore the filter, and with labels that somebody else has put there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <cofferdam/cofferdam.h>

#include "scripted_engine.h"

#define SESSION "01234567-89ab-4def-8123-456789abcdee"
#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ENTRY(label)                                                                               \
  "{\"Id\":\"" ID "\",\"Image\":\"b\",\"State\":\"running\",\"Created\":2,\"Labels\":{"            \
  "\"io.cofferdam.session-id\":" label "}}"

static cdam_status list(const char *body, cdam_sandbox_list **out, cdam_error *err) {
  scripted_rule rule = {.path = "/containers/json*", .reply = {200, .body = body}};
  scripted_engine *engine = scripted_engine_start(&rule, 1);
  cdam_client *client = scripted_engine_client(engine, 2000);
  cdam_status status = cdam_list(client, out, err);
  cdam_client_free(client);
  scripted_engine_stop(engine);
  return status;
}

static void only_a_session_id_makes_it_ours(void **state) {
  (void)state;
  cdam_sandbox_list *found;
  assert_int_equal(
      list("[{\"Id\":\"x\"},{\"Id\":\"x\",\"Labels\":null},7,null,"
           "" ENTRY("7") "," ENTRY("\"\"") "," ENTRY(
               "\"mine\"") ","
                           "" ENTRY("\"\\u001b[2J" SESSION
                                    "\"") ","
                                          "" ENTRY("\"" SESSION "\\n" SESSION
                                                   "\"") ","
                                                         "" ENTRY("\"" SESSION "\"") "]",
           &found, NULL),
      CDAM_OK);
  assert_int_equal(cdam_list_count(found), 1);
  assert_string_equal(cdam_list_session_id(found, 0), SESSION);
  assert_string_equal(cdam_list_container_id(found, 0), ID);
  assert_string_equal(cdam_list_image(found, 0), "b");
  assert_string_equal(cdam_list_status(found, 0), "running");
  assert_int_equal(cdam_list_created(found, 0), 2);
  assert_null(cdam_list_image(found, 1));
  cdam_list_free(found);
}

static void ours_without_id_image_or_status_is_an_error(void **state) {
  (void)state;
#define LABELS ",\"Labels\":{\"io.cofferdam.session-id\":\"" SESSION "\"}}]"
  const char *bodies[] = {
      "[{\"Image\":\"b\",\"State\":\"x\"" LABELS,
      "[{\"Id\":\"../x\",\"Image\":\"b\",\"State\":\"x\"" LABELS,
      "[{\"Id\":\"" ID "\",\"State\":\"x\"" LABELS,
      "[{\"Id\":\"" ID "\",\"Image\":\"b\",\"State\":{}" LABELS,
      "{}",
  };
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
    cdam_sandbox_list *found;
    assert_int_equal(list(bodies[i], &found, NULL), CDAM_ERR_PROTOCOL);
    assert_null(found);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_a_session_id_makes_it_ours),
      cmocka_unit_test(ours_without_id_image_or_status_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
