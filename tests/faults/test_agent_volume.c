/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's volume: filled once, and what happens when a request fails or is cancelled. */
#include "engine/client_private.h"
#include "loop_support.h"
#include "volume_fixture.h"

static const scripted_reply cut = {201, .body = "{\"Id\":\"", .cut = 30, .end = SCRIPTED_CLOSE};
static const scripted_reply reset = {.raw = "", .end = SCRIPTED_RESET};

/* ---- all is well ---- */

static void filled_once(void **state) {
  agent_fixture *this = *state;
  model_engine *model = this->model;
  assert_created(this);
  assert_int_equal(model->volumes.helpers, 1);
  assert_true(model->volumes.marker);
  assert_int_equal(model_requests(model, "PUT", "*archive?path=/.cofferdam-*"), 1);
  assert_int_equal(model_requests(model, "GET", "*archive?path=/.cofferdam-*/cofferdam-agent"), 1);
  assert_int_equal(volume_requests(this), 8); /* looks, volume, helper, in and back, marker, away */
  assert_created(this);
  assert_int_equal(volume_requests(this), 8); /* the client remembers */
  model_use_agent(model, this->directory, CDAM_AGENT_REQUIRED);
  assert_created(this);
  assert_int_equal(volume_requests(this), 10); /* another one looks at two volumes */
  assert_int_equal(model->volumes.helpers, 1);
}

static json_t *helper_body(agent_fixture *this) {
  const scripted_request *request = scripted_engine_request(
      this->model->engine, "POST", "/containers/create?name=cofferdam-agent-*-fill", 0);
  json_t *body = json_loads(request->body, JSON_REJECT_DUPLICATES, NULL);
  json_t *labels = json_object_get(body, "Labels");
  assert_int_equal(strlen(json_string_value(json_object_get(labels, "io.cofferdam.agent-fill"))),
                   36);
  json_object_set_new(labels, "io.cofferdam.agent-fill", json_string("ID"));
  assert_int_equal(strlen(json_string_value(json_object_get(labels, "io.cofferdam.agent"))), 64);
  json_object_del(labels, "io.cofferdam.agent");
  return body;
}

/* Never started, of the sandbox's own image, without a network, and without a session's label. */
static void the_helper(void **state) {
  agent_fixture *this = *state;
  assert_created(this);
  json_t *body = helper_body(this);
  json_t *mounts = json_object_get(json_object_get(body, "HostConfig"), "Mounts");
  assert_int_equal(json_array_size(mounts), 1);
  const char *source = json_string_value(json_object_get(json_array_get(mounts, 0), "Source"));
  assert_int_equal(strlen(source), 16 + 64);
  assert_memory_equal(source, "cofferdam-agent-", 16);
  json_object_del(json_array_get(mounts, 0), "Source");
  const char *target = json_string_value(json_object_get(json_array_get(mounts, 0), "Target"));
  assert_int_equal(strlen(target), 12 + 36); /* another one each time */
  assert_memory_equal(target, "/.cofferdam-", 12);
  json_object_del(json_array_get(mounts, 0), "Target");
  char *text = json_dumps(body, JSON_COMPACT | JSON_SORT_KEYS);
  assert_string_equal(
      text,
      "{\"Cmd\":[\"--version\"],\"Entrypoint\":[\"/.cofferdam/cofferdam-agent\"],\"HostConfig\":{"
      "\"LogConfig\":{\"Type\":\"none\"},\"Mounts\":[{\"ReadOnly\":false,"
      "\"Type\":\"volume\",\"VolumeOptions\":{\"NoCopy\":true}}],\"NetworkMode\":\"none\"},"
      "\"Image\":\"" MODEL_IMAGE_ID "\",\"Labels\":{\"io.cofferdam.agent-fill\":\"ID\","
      "\"io.cofferdam.creation-id\":\"\",\"io.cofferdam.session-id\":\"\"},"
      "\"NetworkDisabled\":true}");
  free(text);
  json_decref(body);
  assert_int_equal(model_requests(this->model, "POST", "/containers/" MODEL_HELPER_ID "/start"), 0);
}

/* Execute-only, root's, and nothing else. */
static void what_is_put(void **state) {
  agent_fixture *this = *state;
  assert_created(this);
  struct archive *reader = archive_read_new();
  struct archive_entry *entry;
  assert_int_equal(archive_read_support_format_tar(reader), ARCHIVE_OK);
  assert_int_equal(
      archive_read_open_memory(reader, this->model->volumes.tar, this->model->volumes.tar_size),
      ARCHIVE_OK);
  assert_int_equal(archive_read_next_header(reader, &entry), ARCHIVE_OK);
  assert_string_equal(archive_entry_pathname(entry), "cofferdam-agent");
  assert_int_equal(archive_entry_mode(entry), S_IFREG | 0111);
  assert_int_equal(archive_entry_uid(entry), 0);
  assert_int_equal(archive_entry_gid(entry), 0);
  assert_int_equal(archive_entry_size(entry), AGENT_SIZE);
  assert_int_equal(archive_read_next_header(reader, &entry), ARCHIVE_EOF);
  archive_read_free(reader);
}

/* ---- a step fails ---- */

typedef enum outcome_kind { FAILS, MARKER_ONLY } outcome_kind;

static const struct {
  const char *path;
  int after;
  outcome_kind kind;
} steps[] = {
    {"GET /volumes/*-ready", 0, FAILS},
    {"GET /volumes/*[0-9a-f]", 0, FAILS},
    {"POST /volumes/create", 0, FAILS},
    {"POST /containers/create?name=cofferdam-agent-*", 0, FAILS},
    {"PUT /containers/*/archive*", 0, FAILS},
    {"GET /containers/*/archive*", 0, FAILS},
    {"POST /volumes/create", 1, MARKER_ONLY},
    {"DELETE /containers/9999*", 0, MARKER_ONLY},
};

/* The engine says no: with REQUIRED that is the end, and otherwise it goes without the agent. */
static void refused_at_each_step(void **state) {
  agent_fixture *this = *state;
  model_engine *model = this->model;
  for (size_t i = 0; i < COUNT(steps); i++)
    for (int automatic = 0; automatic < 2; automatic++) {
      begin_anew(this, automatic ? CDAM_AGENT_AUTO : CDAM_AGENT_REQUIRED);
      fail_at(model, steps[i].path, steps[i].after, refusal, false);
      size_t deletes = model_requests(model, "DELETE", "/containers/9999*");
      cdam_session *session;
      cdam_error err = {0};
      cdam_status status = agent_create(this, &session, &err);
      bool fails = steps[i].kind == FAILS;
      assert_int_equal(status, fails && !automatic ? CDAM_ERR_NO_AGENT : CDAM_OK);
      assert_int_equal(model_has_container(model), status == CDAM_OK);
      if (status != CDAM_OK) {
        assert_non_null(strstr(err.message, "the first failure"));
        assert_int_equal(err.http_status, 500);
      } else {
        assert_int_equal(cdam_session_has_agent(session), !fails);
        /* The model's own warning is the other one. */
        assert_int_equal(cdam_session_warning_count(session), fails ? 2 : 1);
        if (fails) assert_non_null(strstr(cdam_session_warning(session, 0), "the first failure"));
      }
      if (strncmp(steps[i].path, "DELETE", 6) != 0)
        assert_false(model->volumes.helper);
      else
        assert_int_equal(model_requests(model, "DELETE", "/containers/9999*"), deletes + 2);
      cdam_session_free(session);
    }
}

/* What keeps the engine from answering is nobody's opinion of the agent: it is told as it is,
 * whatever the policy, and nothing is left. */
static void cut_off_at_each_step(void **state) {
  agent_fixture *this = *state;
  model_engine *model = this->model;
  const scripted_reply replies[] = {cut, reset};
  for (size_t i = 0; i < COUNT(steps); i++)
    for (size_t j = 0; j < COUNT(replies); j++)
      for (int but_do = 0; but_do < 2; but_do++) {
        begin_anew(this, but_do ? CDAM_AGENT_AUTO : CDAM_AGENT_REQUIRED);
        fail_at(model, steps[i].path, steps[i].after, replies[j], but_do);
        cdam_session *session;
        cdam_error err = {0};
        cdam_status status = agent_create(this, &session, &err);
        assert_int_equal(status == CDAM_OK, steps[i].kind == MARKER_ONLY);
        if (status != CDAM_OK) {
          assert_int_equal(err.code, CDAM_ERR_PROTOCOL);
          assert_false(model_has_container(model));
        } else {
          assert_true(cdam_session_has_agent(session));
        }
        if (strncmp(steps[i].path, "DELETE", 6) != 0) assert_false(model->volumes.helper);
        cdam_session_free(session);
        /* And another client has no trouble with what is there. */
        model->fail_path = NULL;
        model->id[0] = '\0';
        model->volumes.clock += 61;
        model_use_agent(model, this->directory, CDAM_AGENT_REQUIRED);
        assert_created(this);
      }
}

/* From some request on the engine hears nothing any more, as from a client that was killed; with
 * the last one done or not. */
static void killed_at_each_request(void **state) {
  agent_fixture *this = *state;
  model_engine *model = this->model;
  for (int but_do = 0; but_do < 2; but_do++) {
    bool done = false;
    for (int after = 0; !done; after++) {
      begin_anew(this, CDAM_AGENT_REQUIRED);
      fail_at(model, "* /[cv]*s/*", after, reset, false);
      model->fail_but_do_once = but_do;
      cdam_error err = {0};
      done = agent_create(this, NULL, &err) == CDAM_OK;
      assert_true(after < 40);
      model->fail_path = NULL;
      model->fail_but_do_once = false;
      model->id[0] = '\0';
      model->volumes.clock += 61;
      model_use_agent(model, this->directory, CDAM_AGENT_REQUIRED);
      assert_created(this);
      assert_true(model->volumes.marker);
    }
  }
}

/* ---- cancelled ---- */

static void cancelled_at_each_request(void **state) {
  agent_fixture *this = *state;
  model_engine *model = this->model;
  cdam_options *options = model_options(CDAM_NETWORK_MODE_NONE);
  for (size_t step = 0; step < 20; step++) {
    begin_anew(this, CDAM_AGENT_REQUIRED);
    size_t before = model_requests(model, NULL, NULL);
    cdam_loop *loop = loop_of(model->client);
    cdam_operation *operation;
    outcome out = {0};
    assert_int_equal(cdam_create_start(loop, options, note_session, &out, &operation, NULL),
                     CDAM_OK);
    struct pollfd ready = {.fd = cdam_loop_fd(loop), .events = POLLIN};
    for (bool cancelled = false; cdam_loop_pending(loop);) {
      if (!cancelled && model_requests(model, NULL, NULL) - before >= step) {
        cdam_cancel(operation);
        cancelled = true;
      }
      poll(&ready, 1, 1);
      cdam_loop_dispatch(loop);
    }
    assert_true(out.status == CDAM_OK || out.status == CDAM_ERR_CANCELLED);
    assert_int_equal(model_has_container(model), out.status == CDAM_OK);
    assert_false(model->volumes.helper);
    outcome_clear(&out);
    cdam_loop_free(loop);
  }
  cdam_options_free(options);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      AGENT_TEST(filled_once),
      AGENT_TEST(the_helper),
      AGENT_TEST(what_is_put),
      AGENT_TEST(refused_at_each_step),
      AGENT_TEST(cut_off_at_each_step),
      AGENT_TEST(killed_at_each_request),
      AGENT_TEST(cancelled_at_each_request),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
