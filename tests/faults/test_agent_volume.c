/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's volume: filled once, and what happens when anything about it fails or lies. */
#include "agent_fixture.h"

#include <archive.h>
#include <archive_entry.h>
#include <pthread.h>

#include "engine/client_private.h"
#include "loop_support.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const scripted_reply refusal = {500, .body = "{\"message\":\"the first failure\"}"};
static const scripted_reply cut = {201, .body = "{\"Id\":\"", .cut = 30, .end = SCRIPTED_CLOSE};
static const scripted_reply reset = {.raw = "", .end = SCRIPTED_RESET};

/* ---- all is well ---- */

static void filled_once(void **state) {
  agent_fixture *this = *state;
  model_engine *model = this->model;
  assert_created(this);
  assert_int_equal(model->volumes.helpers, 1);
  assert_true(model->volumes.marker);
  assert_int_equal(model_requests(model, "PUT", "*archive?path=/.cofferdam"), 1);
  assert_int_equal(model_requests(model, "GET", "*archive?path=/.cofferdam/cofferdam-agent"), 1);
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
  char *text = json_dumps(body, JSON_COMPACT | JSON_SORT_KEYS);
  assert_string_equal(
      text,
      "{\"Cmd\":[\"--version\"],\"Entrypoint\":[\"/.cofferdam/cofferdam-agent\"],\"HostConfig\":{"
      "\"LogConfig\":{\"Type\":\"none\"},\"Mounts\":[{\"ReadOnly\":false,\"Target\":\"/"
      ".cofferdam\","
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

static const struct step {
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

static void fail_at(model_engine *model, const struct step *step, scripted_reply reply,
                    bool but_do) {
  model->fail_path = step->path;
  model->fail_after = step->after;
  model->fail_reply = reply;
  model->fail_but_do = but_do;
}

static void begin_anew(agent_fixture *this, cdam_agent_policy policy) {
  model_engine *model = this->model;
  model->fail_path = NULL;
  model->id[0] = '\0';
  free(model->volumes.tar);
  model->volumes = (model_volumes){.clock = model->volumes.clock + 1000};
  model_use_agent(model, this->directory, policy);
}

/* The engine says no: with REQUIRED that is the end, and otherwise it goes without the agent. */
static void refused_at_each_step(void **state) {
  agent_fixture *this = *state;
  model_engine *model = this->model;
  for (size_t i = 0; i < COUNT(steps); i++)
    for (int automatic = 0; automatic < 2; automatic++) {
      begin_anew(this, automatic ? CDAM_AGENT_AUTO : CDAM_AGENT_REQUIRED);
      fail_at(model, &steps[i], refusal, false);
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
        fail_at(model, &steps[i], replies[j], but_do);
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
      fail_at(model, &(struct step){.path = "* /[cv]*s/*", .after = after}, reset, false);
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

/* ---- what is in the volume ---- */

typedef struct content {
  const char *name;
  unsigned mode;
  size_t size;
  char filler;
  bool twice, link;
} content;

static void add_entry(struct archive *writer, const content *what, const char *bytes) {
  struct archive_entry *entry = archive_entry_new();
  archive_entry_set_pathname(entry, what->name);
  archive_entry_set_filetype(entry, what->link ? AE_IFLNK : AE_IFREG);
  if (what->link) archive_entry_set_symlink(entry, "/bin/sh");
  archive_entry_set_perm(entry, (mode_t)what->mode);
  archive_entry_set_size(entry, what->link ? 0 : (la_int64_t)what->size);
  assert_int_equal(archive_write_header(writer, entry), ARCHIVE_OK);
  if (!what->link) archive_write_data(writer, bytes, what->size);
  archive_entry_free(entry);
}

static void put_content(agent_fixture *this, const content *what) {
  static char tar[1024 * 1024];
  size_t length = 0;
  char *bytes = malloc(what->size + 1), *right = malloc(AGENT_SIZE);
  int fd = open(this->path, O_RDONLY | O_CLOEXEC);
  assert_int_equal(read(fd, right, AGENT_SIZE), AGENT_SIZE);
  close(fd);
  memset(bytes, what->filler, what->size);
  memcpy(bytes, right, what->size < sizeof(Elf64_Ehdr) ? what->size : sizeof(Elf64_Ehdr));
  struct archive *writer = archive_write_new();
  archive_write_set_format_ustar(writer);
  assert_int_equal(archive_write_open_memory(writer, tar, sizeof tar, &length), ARCHIVE_OK);
  add_entry(writer, what, bytes);
  if (what->twice) add_entry(writer, what, bytes);
  archive_write_close(writer);
  archive_write_free(writer);
  free(bytes);
  free(right);
  model_fill_volume(this->model, tar, length);
}

static const content right_one = {"cofferdam-agent", 0111, AGENT_SIZE, 'x', false, false};
static const content wrong_ones[] = {
    {"cofferdam-agent", 0755, AGENT_SIZE, 'x', false, false},
    {"cofferdam-agent", 04111, AGENT_SIZE, 'x', false, false},
    {"cofferdam-agent", 0111, AGENT_SIZE - 1, 'x', false, false},
    {"cofferdam-agent", 0111, AGENT_SIZE + 1, 'x', false, false},
    {"cofferdam-agent", 0111, AGENT_SIZE, 'y', false, false},
    {"cofferdam-agent", 0111, 0, 'x', false, false},
    {"cofferdam-agent", 0111, AGENT_SIZE, 'x', true, false},
    {"cofferdam-agent", 0111, AGENT_SIZE, 'x', false, true},
    {"somebody", 0111, AGENT_SIZE, 'x', false, false},
};

/* A name alone is not trusted. */
static void a_wrong_content_is_replaced(void **state) {
  agent_fixture *this = *state;
  for (size_t i = 0; i < COUNT(wrong_ones); i++) {
    begin_anew(this, CDAM_AGENT_REQUIRED);
    put_content(this, &wrong_ones[i]);
    size_t puts = model_requests(this->model, "PUT", "*");
    assert_created(this);
    assert_int_equal(model_requests(this->model, "PUT", "*"), puts + 1);
  }
}

static void the_right_content_is_left(void **state) {
  agent_fixture *this = *state;
  put_content(this, &right_one);
  assert_created(this);
  assert_int_equal(model_requests(this->model, "PUT", "*"), 0);
  assert_int_equal(model_requests(this->model, "GET", "*archive*"), 1);
  assert_true(this->model->volumes.marker);
}

static void a_cut_archive_is_not_content(void **state) {
  agent_fixture *this = *state;
  put_content(this, &right_one);
  this->model->volumes.tar_size = 3000;
  assert_created(this);
  assert_int_equal(model_requests(this->model, "PUT", "*"), 1);
}

/* It says that it took the program, and shows something else. */
static void a_lying_engine(void **state) {
  agent_fixture *this = *state;
  model_volumes *volumes = &this->model->volumes;
  for (size_t i = 0; i <= COUNT(wrong_ones); i++) {
    begin_anew(this, CDAM_AGENT_REQUIRED);
    if (i < COUNT(wrong_ones)) put_content(this, &wrong_ones[i]);
    volumes->forgetful = true;
    cdam_error err;
    assert_int_equal(agent_create(this, NULL, &err), CDAM_ERR_NO_AGENT);
    assert_false(model_has_container(this->model));
    assert_false(volumes->helper);
    assert_false(volumes->marker);
  }
}

/* ---- the marker ---- */

static void a_marker_that_is_older_does_not_count(void **state) {
  agent_fixture *this = *state;
  model_volumes *volumes = &this->model->volumes;
  assert_created(this);
  /* Pruned, and made again by somebody's create request. */
  free(volumes->tar);
  volumes->tar = NULL;
  volumes->volume_at = volumes->clock = volumes->marker_at + 1;
  model_use_agent(this->model, this->directory, CDAM_AGENT_REQUIRED);
  assert_created(this);
  assert_int_equal(model_requests(this->model, "POST", "*/start"), 2); /* none in vain */
  assert_int_equal(volumes->helpers, 2);
  assert_int_equal(volumes->marker_at, volumes->clock);
  /* As one without the volume, or without a time. */
  volumes->volume = false;
  free(volumes->tar);
  volumes->tar = NULL;
  model_use_agent(this->model, this->directory, CDAM_AGENT_REQUIRED);
  assert_created(this);
  assert_int_equal(volumes->helpers, 3);
}

static void a_pruned_marker_costs_a_look(void **state) {
  agent_fixture *this = *state;
  assert_created(this);
  this->model->volumes.marker = false;
  model_use_agent(this->model, this->directory, CDAM_AGENT_REQUIRED);
  assert_created(this);
  assert_int_equal(model_requests(this->model, "PUT", "*"), 1);
  assert_int_equal(model_requests(this->model, "GET", "*archive*"), 2);
  assert_true(this->model->volumes.marker);
}

/* ---- the helper of another client ---- */

static void leave_helper(agent_fixture *this, const char *label) {
  model_volumes *volumes = &this->model->volumes;
  volumes->helper = true;
  volumes->helper_at = volumes->clock;
  snprintf(volumes->helper_label, sizeof volumes->helper_label, "%s", label);
}

typedef struct other_client {
  agent_fixture *fixture;
  cdam_status status;
  cdam_error err;
} other_client;

static void *create_in_thread(void *user) {
  other_client *this = user;
  this->status = agent_create(this->fixture, NULL, &this->err);
  return NULL;
}

static void waits_for_another(void **state) {
  agent_fixture *this = *state;
  leave_helper(this, "another");
  other_client other = {.fixture = this};
  pthread_t thread;
  pthread_create(&thread, NULL, create_in_thread, &other);
  scripted_engine_wait(this->model->engine, "GET", "*-fill/json", 2);
  assert_true(this->model->volumes.helper); /* it has a minute */
  put_content(this, &right_one);
  this->model->volumes.marker_at = this->model->volumes.clock;
  this->model->volumes.marker = true;
  pthread_join(thread, NULL);
  assert_int_equal(other.status, CDAM_OK);
  assert_int_equal(model_requests(this->model, "PUT", "*"), 0);
  assert_true(this->model->volumes.helper);
}

/* It fails, or is gone before it has filled anything. */
static void takes_over_from_another(void **state) {
  agent_fixture *this = *state;
  leave_helper(this, "another");
  other_client other = {.fixture = this};
  pthread_t thread;
  pthread_create(&thread, NULL, create_in_thread, &other);
  scripted_engine_wait(this->model->engine, "GET", "*-fill/json", 2);
  this->model->volumes.helper = false;
  pthread_join(thread, NULL);
  assert_int_equal(other.status, CDAM_OK);
  assert_int_equal(model_requests(this->model, "PUT", "*"), 1);
  assert_false(this->model->volumes.helper);
}

/* As Podman has it for a moment: the name is taken, and there is nothing of that name. */
static void takes_over_from_a_ghost(void **state) {
  agent_fixture *this = *state;
  leave_helper(this, "another");
  fail_at(this->model, &(struct step){.path = "GET *-fill/json"},
          (scripted_reply){500, .body = "{\"message\":\"x does not exist in database: no such "
                                        "container\"}"},
          false);
  other_client other = {.fixture = this};
  pthread_t thread;
  pthread_create(&thread, NULL, create_in_thread, &other);
  scripted_engine_wait(this->model->engine, "GET", "*-fill/json", 2);
  this->model->volumes.helper = false;
  pthread_join(thread, NULL);
  assert_int_equal(other.status, CDAM_OK);
}

/* By the engine's clock, whatever ours says. */
static void a_stale_helper_is_removed(void **state) {
  agent_fixture *this = *state;
  leave_helper(this, "another");
  this->model->volumes.clock += 61;
  assert_created(this);
  assert_int_equal(this->model->volumes.helpers, 1);
  assert_int_equal(model_requests(this->model, "DELETE", "/containers/" MODEL_HELPER_ID "*"), 2);
}

static void a_stranger_with_its_name_is_left_alone(void **state) {
  agent_fixture *this = *state;
  leave_helper(this, "");
  this->model->volumes.clock += 1000;
  cdam_error err;
  assert_int_equal(agent_create(this, NULL, &err), CDAM_ERR_NO_AGENT);
  assert_non_null(strstr(err.message, "not ours"));
  assert_true(this->model->volumes.helper);
  assert_int_equal(model_requests(this->model, "DELETE", "*"), 0);
}

/* The request came twice: the answer says that the name is taken, and it is ours. */
static void its_own_helper_is_known_again(void **state) {
  agent_fixture *this = *state;
  fail_at(this->model, &steps[3],
          (scripted_reply){409, .body = "{\"message\":\"Conflict. The name is in use\"}"}, true);
  assert_created(this);
  assert_int_equal(this->model->volumes.helpers, 1);
}

/* ---- a program that is missing when it is needed ---- */

static void empty_volume(agent_fixture *this) {
  free(this->model->volumes.tar);
  this->model->volumes.tar = NULL;
}

/* The engine was reset under a client that remembers, or somebody emptied the volume within a
 * second, which its times do not show. */
static void a_start_without_the_program_is_healed(void **state) {
  agent_fixture *this = *state;
  for (int fresh = 0; fresh < 2; fresh++) {
    begin_anew(this, CDAM_AGENT_REQUIRED);
    assert_created(this);
    empty_volume(this);
    if (fresh) model_use_agent(this->model, this->directory, CDAM_AGENT_REQUIRED);
    size_t starts = model_requests(this->model, "POST", "*/start");
    assert_created(this);
    assert_int_equal(model_requests(this->model, "POST", "*/start"), starts + 2);
    assert_int_equal(this->model->volumes.helpers, 2);
    assert_created(this); /* and that is remembered */
    assert_int_equal(model_requests(this->model, "POST", "*/start"), starts + 3);
  }
}

/* What a client remembers it remembers of one engine. */
static void another_engine(void **state) {
  agent_fixture *this = *state;
  assert_created(this);
  empty_volume(this);
  this->model->volumes.volume = this->model->volumes.marker = false;
  snprintf(this->model->client->engine_id, CDAM_ENGINE_ID_SIZE, "ENGINE:TWO");
  assert_created(this);
  assert_int_equal(model_requests(this->model, "POST", "*/start"), 2);
}

static void once_and_not_forever(void **state) {
  agent_fixture *this = *state;
  assert_created(this);
  fail_at(this->model, &(struct step){.path = "POST */start"},
          (scripted_reply){400, .body = "{\"message\":\"/.cofferdam/cofferdam-agent: no such "
                                        "file or directory\"}"},
          false);
  cdam_error err;
  assert_int_equal(agent_create(this, NULL, &err), CDAM_ERR_NO_AGENT);
  assert_non_null(strstr(err.message, "no such file"));
  assert_int_equal(model_requests(this->model, "POST", "*/start"), 3);
  assert_int_equal(model_requests(this->model, "GET", "*archive*"), 2);
  assert_false(model_has_container(this->model));
  assert_false(this->model->volumes.helper);
}

static void another_failing_start_is_what_it_is(void **state) {
  agent_fixture *this = *state;
  assert_created(this);
  fail_at(this->model, &(struct step){.path = "POST */start"}, refusal, false);
  cdam_error err;
  assert_int_equal(agent_create(this, NULL, &err), CDAM_ERR_ENGINE);
  assert_int_equal(this->model->volumes.helpers, 1);
  assert_false(model_has_container(this->model));
}

static cdam_state *stopped_sandbox(agent_fixture *this) {
  cdam_session *session;
  cdam_state *state;
  assert_int_equal(agent_create(this, &session, NULL), CDAM_OK);
  assert_int_equal(cdam_state_copy(cdam_session_state(session), &state, NULL), CDAM_OK);
  cdam_session_free(session);
  snprintf(this->model->status, sizeof this->model->status, "exited");
  return state;
}

/* Stopped, and its volume emptied meanwhile. */
static void a_resume_heals_too(void **state) {
  agent_fixture *this = *state;
  cdam_session *again;
  cdam_error err = {0};
  cdam_state *saved = stopped_sandbox(this);
  empty_volume(this);
  model_use_agent(this->model, this->directory, CDAM_AGENT_REQUIRED);
  cdam_status status = cdam_resume(this->model->client, saved, NULL, &again, &err);
  if (status != CDAM_OK) fail_msg("%s", err.message);
  assert_false(cdam_session_was_recreated(again));
  assert_true(cdam_session_has_agent(again));
  cdam_session_free(again);
  cdam_state_free(saved);
}

/* Its volume is not one that we could fill. */
static void a_resume_of_another_version_cannot(void **state) {
  agent_fixture *this = *state;
  cdam_session *again;
  cdam_error err = {0};
  cdam_state *saved = stopped_sandbox(this);
  write_program(this->path, EM_X86_64, AGENT_SIZE, 'z');
  empty_volume(this);
  fail_at(this->model, &(struct step){.path = "POST */start"},
          (scripted_reply){400, .body = "{\"message\":\"/.cofferdam/cofferdam-agent\"}"}, false);
  model_use_agent(this->model, this->directory, CDAM_AGENT_REQUIRED);
  assert_int_equal(cdam_resume(this->model->client, saved, NULL, &again, &err), CDAM_ERR_NO_AGENT);
  assert_non_null(strstr(err.message, "version"));
  assert_true(model_has_container(this->model));
  assert_string_equal(this->model->status, "exited");
  cdam_state_free(saved);
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
      AGENT_TEST(a_wrong_content_is_replaced),
      AGENT_TEST(the_right_content_is_left),
      AGENT_TEST(a_cut_archive_is_not_content),
      AGENT_TEST(a_lying_engine),
      AGENT_TEST(a_marker_that_is_older_does_not_count),
      AGENT_TEST(a_pruned_marker_costs_a_look),
      AGENT_TEST(waits_for_another),
      AGENT_TEST(takes_over_from_another),
      AGENT_TEST(takes_over_from_a_ghost),
      AGENT_TEST(a_stale_helper_is_removed),
      AGENT_TEST(a_stranger_with_its_name_is_left_alone),
      AGENT_TEST(its_own_helper_is_known_again),
      AGENT_TEST(a_start_without_the_program_is_healed),
      AGENT_TEST(another_engine),
      AGENT_TEST(once_and_not_forever),
      AGENT_TEST(another_failing_start_is_what_it_is),
      AGENT_TEST(a_resume_heals_too),
      AGENT_TEST(a_resume_of_another_version_cannot),
      AGENT_TEST(cancelled_at_each_request),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
