/* SPDX-License-Identifier: Apache-2.0 */
/* Images from a real registry: COFFERDAM_TEST_REGISTRY is "host:port", and has two different
 * images, cofferdam-test:latest and cofferdam-test:two. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "real_engine.h"

#define REPOSITORY "%s/cofferdam-test"

static const char *registry;
static int calls;
static char statuses[4096];

static bool note(void *user, const char *status, const char *layer, unsigned long long current,
                 unsigned long long total) {
  (void)user, (void)layer, (void)current, (void)total;
  size_t used = strlen(statuses);
  snprintf(statuses + used, sizeof statuses - used, "%s\n", status);
  calls++;
  return true;
}

static bool refuse(void *user, const char *status, const char *layer, unsigned long long current,
                   unsigned long long total) {
  note(user, status, layer, current, total);
  return false;
}

static void forget_images(void) {
  try_docker("rmi -f $(docker images -q --no-trunc " REPOSITORY
             " --format '{{.Repository}}:{{.Tag}}' | sed 's/:<none>//') >/dev/null 2>&1",
             registry);
  try_docker("rmi $(docker images --digests " REPOSITORY
             " --format '{{.Repository}}@{{.Digest}}') >/dev/null 2>&1",
             registry);
  assert_string_equal(docker("images -q " REPOSITORY, registry), "");
  calls = 0;
  statuses[0] = '\0';
}

static int setup(void **state) {
  (void)state;
  forget_images();
  return 0;
}

static int teardown(void **state) {
  (void)state;
  forget_images();
  return 0;
}

static cdam_client *client_with(cdam_pull_progress progress) {
  cdam_client_config *config;
  cdam_client *client;
  cdam_error err;
  assert_ok(cdam_client_config_new(&config, &err), &err);
  cdam_client_config_set_pull_progress(config, progress, NULL);
  assert_ok(cdam_client_new(config, &client, &err), &err);
  cdam_client_config_free(config);
  return client;
}

static cdam_status create(cdam_client *client, const char *image, cdam_session **session,
                          cdam_error *err) {
  cdam_options *options = options_with(CDAM_NETWORK_MODE_NONE);
  assert_ok(cdam_options_set_image(options, image, err), err);
  cdam_status status = cdam_create(client, options, session, err);
  cdam_options_free(options);
  return status;
}

/* Creates a sandbox from an image; the image's id, in memory that lives until the next call. */
static const char *id_after_create(cdam_client *client, const char *image) {
  static char id[80];
  cdam_session *session;
  cdam_error err;
  assert_ok(create(client, image, &session, &err), &err);
  snprintf(id, sizeof id, "%s", cdam_state_image_id(cdam_session_state(session)));
  end_session(client, session);
  return id;
}

static void expect_failure(cdam_client *client, const char *image, cdam_status code) {
  cdam_session *session;
  cdam_error err = {0};
  create(client, image, &session, &err);
  if (err.code != code) fail_msg("%s: %s", cdam_status_name(err.code), err.message);
  if (!strstr(err.message, image)) fail_msg("%s", err.message);
}

static const char *name(const char *rest) {
  static char text[512];
  snprintf(text, sizeof text, REPOSITORY "%s", registry, rest);
  return text;
}

/* An absent image is pulled, with progress; one that is there is not. */
static void by_tag(void **state) {
  (void)state;
  cdam_client *client = client_with(note);
  char id[80];
  snprintf(id, sizeof id, "%s", id_after_create(client, name(":two")));
  assert_true(calls > 0);
  assert_non_null(strstr(statuses, "Pulling from cofferdam-test"));
  assert_string_equal(docker("image inspect -f '{{.Id}}' %s", name(":two")), id);
  assert_string_equal(docker("images --format '{{.Tag}}' " REPOSITORY, registry), "two");
  calls = 0;
  assert_string_equal(id_after_create(client, name(":two")), id);
  assert_int_equal(calls, 0);
  cdam_client_free(client);
}

/* Without a tag it is the latest, and not every tag that the registry has. */
static void without_a_tag(void **state) {
  (void)state;
  cdam_client *client = client_with(note);
  const char *id = id_after_create(client, name(""));
  assert_true(calls > 0);
  assert_string_equal(docker("image inspect -f '{{.Id}}' %s", name(":latest")), id);
  assert_string_equal(docker("images --format '{{.Tag}}' " REPOSITORY, registry), "latest");
  cdam_client_free(client);
}

static void by_digest(void **state) {
  (void)state;
  cdam_client *client = client_with(note);
  char two[80], digest[128], image[256];
  snprintf(two, sizeof two, "%s", id_after_create(client, name(":two")));
  const char *whole = docker("image inspect -f '{{index .RepoDigests 0}}' %s", name(":two"));
  assert_non_null(strchr(whole, '@'));
  snprintf(digest, sizeof digest, "%s", strchr(whole, '@'));
  forget_images();
  assert_string_equal(id_after_create(client, name(digest)), two);
  assert_true(calls > 0);

  /* With both the digest counts, whatever the tag says. */
  forget_images();
  snprintf(image, sizeof image, ":latest%s", digest);
  assert_string_equal(id_after_create(client, name(image)), two);
  assert_string_equal(docker("images -q --filter reference='%s'", name(":latest")), "");

  char *last = &digest[strlen(digest) - 1];
  *last = *last == '0' ? '1' : '0';
  expect_failure(client, name(digest), CDAM_ERR_NOT_FOUND);
  cdam_client_free(client);
}

static void unknown(void **state) {
  (void)state;
  cdam_client *client = client_with(note);
  expect_failure(client, name(":nosuchtag"), CDAM_ERR_NOT_FOUND);
  expect_failure(client, name("-nosuchname:two"), CDAM_ERR_NOT_FOUND);
  /* Nobody listens there. */
  expect_failure(client, "127.0.0.1:1/cofferdam-test:two", CDAM_ERR_PULL);
  assert_string_equal(docker("images -q " REPOSITORY, registry), "");
  cdam_client_free(client);
}

static void the_caller_stops(void **state) {
  (void)state;
  cdam_client *client = client_with(refuse);
  expect_failure(client, name(":two"), CDAM_ERR_PULL);
  assert_int_equal(calls, 1);
  cdam_client_free(client);
}

int main(void) {
  require_engine();
  registry = getenv("COFFERDAM_TEST_REGISTRY");
  if (!registry) {
    printf("1..0 # SKIP COFFERDAM_TEST_REGISTRY is not set: no registry to pull from\n");
    return 0;
  }
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(by_tag), TEST(without_a_tag), TEST(by_digest), TEST(unknown), TEST(the_caller_stops),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
