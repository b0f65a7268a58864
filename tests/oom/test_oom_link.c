/* SPDX-License-Identifier: Apache-2.0 */
/* Out of memory in a link: three channels, one with a large request, one that sends data, one that
 * waits for a number; a large message comes for each. */
#include "../faults/link_fixture.h"
#include "exhaust.h"

#define CALLS 3

typedef struct play {
  setting setting;
  call calls[CALLS];
} play;

/* ---- the agent ---- */

static void large_entry(agent *a, uint32_t channel) {
  static uint8_t target[3000];
  cdam_from_agent message = INIT(FROM_AGENT);
  MSG(Entry) entry = INIT(ENTRY);
  entry.target = (ProtobufCBinaryData){sizeof target, target};
  message.channel = channel;
  message.body_case = FROM(ENTRY);
  message.entry = &entry;
  agent_send(a, &message);
}

static void two_numbers(agent *a) {
  hello_parts h;
  agent_expect(a, TO(CLIENT_HELLO));
  make_hello(&h);
  h.limits.max_channels = 2;
  agent_send(a, &h.message);
  for (cdam_to_agent *message; (message = agent_read(a)); agent_forget(message)) {
    bool ends = message->body_case == TO(DATA) && message->data->end;
    if (message->body_case != TO(WRITE_FILE) && !ends) continue;
    if (!ends) {
      large_entry(a, message->channel);
      continue;
    }
    agent_done(a, message->channel);
  }
}

/* ---- the program ---- */

static bool took(cdam_channel *channel, const cdam_from_agent *message, cdam_error *failure) {
  static const char bytes[100000];
  call *c = call_of(channel);
  (void)failure, (void)message;
  c->messages++;
  if (cdam_channel_can_send(channel) &&
      cdam_channel_send_data(channel, bytes, sizeof bytes, false, NULL) == CDAM_OK)
    (void)!cdam_channel_send_data(channel, bytes, 1, true, NULL);
  return true;
}

static void ended(cdam_channel *channel, cdam_status status, const cdam_error *error,
                  const cdam_agent_done *done) {
  call *c = call_of(channel);
  (void)done;
  c->done++;
  c->status = status;
  c->error = *error;
}

static const cdam_channel_events told = {took, NULL, ended};

static cdam_status open_large(cdam_link *link, call *c, cdam_error *err) {
  static uint8_t path[3000];
  cdam_to_agent request = INIT(TO_AGENT);
  MSG(WriteFile) file = INIT(WRITE_FILE);
  file.path = (ProtobufCBinaryData){sizeof path, path};
  request.body_case = TO(WRITE_FILE);
  request.write_file = &file;
  return cdam_channel_open(link, &c->channel, &request, &told, err);
}

static cdam_status open_client(setting *s, cdam_error *err) {
  cdam_client_config *config = NULL;
  cdam_status status = cdam_client_config_new(&config, err);
  if (status == CDAM_OK)
    status = cdam_client_config_set_endpoint(config, scripted_engine_endpoint(s->engine), err);
  if (status == CDAM_OK) {
    cdam_client_config_set_timeout(config, 500);
    status = cdam_client_new(config, &s->client, err);
  }
  cdam_client_config_free(config);
  return status;
}

static cdam_status converse(play *p, cdam_error *err) {
  setting *s = &p->setting;
  s->link = cdam_link_new(s->loop, ID, err);
  if (!s->link) return CDAM_ERR_NO_MEMORY;
  cdam_status status = CDAM_OK;
  for (int i = 0; i < CALLS && status == CDAM_OK; i++)
    status = open_large(s->link, &p->calls[i], err);
  for (int i = 0; i < CALLS && status == CDAM_OK; i++) {
    for (int turns = 0; !p->calls[i].done && turns < 10000; turns++)
      cdam_loop_turn(s->loop, 1000);
    if (!p->calls[i].done) return cdam_fail(err, CDAM_ERR_ARGUMENT, "it never ends");
    status = p->calls[i].status;
    *err = p->calls[i].error;
  }
  return status;
}

static cdam_status run(void *context, cdam_error *err) {
  play *p = context;
  setting *s = &p->setting;
  cdam_status status = open_client(s, err);
  if (status != CDAM_OK) return status;
  s->loop = cdam_client_borrow_loop(s->client);
  status = s->loop ? converse(p, err) : cdam_fail_memory(err);
  for (int i = 0; i < CALLS; i++)
    cdam_channel_abandon(&p->calls[i].channel);
  cdam_link_unref(s->link);
  if (s->loop) cdam_client_return_loop(s->client, s->loop);
  return status;
}

static const char *finish(void *context, cdam_status status, bool once) {
  (void)once;
  play *p = context;
  const char *wrong = NULL;
  for (int i = 0; i < CALLS; i++)
    if (status == CDAM_OK && (p->calls[i].messages != 1 || p->calls[i].done != 1))
      wrong = "success without all messages";
  cdam_client_free(p->setting.client);
  p->setting.client = NULL;
  p->setting.link = NULL;
  p->setting.loop = NULL;
  memset(p->calls, 0, sizeof p->calls);
  return wrong;
}

static void test_link(void **state) {
  (void)state;
  play p = {.setting.inspect = RUNNING};
  setting_begin(&p.setting, two_numbers, 500);
  cdam_link_unref(p.setting.link);
  cdam_client_return_loop(p.setting.client, p.setting.loop);
  cdam_client_free(p.setting.client);
  p.setting.link = NULL;
  p.setting.loop = NULL;
  p.setting.client = NULL;
  exhaust(&(exhaust_case){"link", run, finish, &p, true, 3});
  scripted_engine_stop(p.setting.engine);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_link)};
  return cmocka_run_group_tests_name("oom_link", tests, NULL, NULL);
}
