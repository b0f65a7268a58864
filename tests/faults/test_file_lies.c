/* SPDX-License-Identifier: Apache-2.0 */
/* Files, and an agent that lies: whatever makes no sense breaks the link, and nothing else. */
#include "file/list.h"
#include "file_calls.h"

typedef struct lie {
  const char *name;
  agent_script script;
  const char *message; /* of the error */
} lie;

static void expect_lies(const lie *lies, size_t count,
                        cdam_status (*call)(fixture *, cdam_error *)) {
  for (size_t i = 0; i < count; i++) {
    fixture *this = begin(lies[i].script, 5000);
    cdam_error err;
    cdam_status status = call(this, &err);
    if (status != CDAM_ERR_AGENT || !strstr(err.message, lies[i].message))
      fail_msg("%s: %s: %s", lies[i].name, cdam_status_name(status), err.message);
    end(this);
  }
}

#define EXPECT(lies, call) expect_lies(lies, sizeof(lies) / sizeof *(lies), call)
#define LIE(name, message)                                                                         \
  { #name, name, message }

/* ---- one entry ---- */

#define ODD_ENTRY(name, change)                                                                    \
  SCRIPT(name) {                                                                                   \
    IGNORE_DATA();                                                                                 \
    MSG(Entry) entry = entry_of(TYPE(FILE));                                                       \
    change;                                                                                        \
    say_entry(a, m->channel, entry);                                                               \
    say_done(a, m->channel);                                                                       \
  }

ODD_ENTRY(type_of_trees, entry.type = TYPE(HARD_LINK))
ODD_ENTRY(type_of_nothing, entry.type = 99)
ODD_ENTRY(negative_type, entry.type = -1)
ODD_ENTRY(odd_mode, entry.mode = 010000)
ODD_ENTRY(odd_time, entry.mtime_ns = 1000000000)
ODD_ENTRY(odd_size, entry.size = (uint64_t)1 << 63)
ODD_ENTRY(target_of_file, entry.target = binary("x", 1))
ODD_ENTRY(target_with_nul, (entry.type = TYPE(LINK), entry.target = binary("x\0y", 3)))

SCRIPT(two_entries) {
  say_entry(a, m->channel, entry_of(TYPE(FILE)));
  say_entry(a, m->channel, entry_of(TYPE(FILE)));
}
SCRIPT(only_done) {
  IGNORE_DATA();
  say_done(a, m->channel);
}
SCRIPT(data_instead) {
  say_data(a, m->channel, "x", 1, true);
}
SCRIPT(event_instead) {
  IGNORE_DATA();
  say_event(a, m->channel, KIND(READY), "", 0);
}
SCRIPT(error_of_processes) {
  IGNORE_DATA();
  say_error(a, m->channel, CODE(NOT_STARTED), ENOENT);
}
SCRIPT(error_of_cancelling) {
  IGNORE_DATA();
  say_error(a, m->channel, CODE(CANCELLED), 0);
}
SCRIPT(error_of_nothing) {
  IGNORE_DATA();
  say_error(a, m->channel, 77, 0);
}

static void test_one_entry(void **state) {
  (void)state;
  const lie lies[] = {
      LIE(type_of_trees, "cannot look at \"f\": the agent sent an entry of no known type"),
      LIE(type_of_nothing, "no known type"),
      LIE(negative_type, "no known type"),
      LIE(odd_mode, "odd permissions"),
      LIE(odd_time, "odd time"),
      LIE(odd_size, "odd size"),
      LIE(target_of_file, "odd link"),
      LIE(target_with_nul, "odd link"),
      LIE(two_entries, "two entries for one"),
      LIE(only_done, "it is done, and it is not"),
      LIE(data_instead, "something else than an entry"),
      LIE(event_instead, "something else than an entry"),
      LIE(error_of_processes, "an error that makes no sense here"),
      LIE(error_of_cancelling, "an error that makes no sense here"),
      LIE(error_of_nothing, "no meaning"),
  };
  EXPECT(lies, call_stat);
  const lie some[] = {LIE(only_done, "cannot look for \"f\": "), LIE(odd_mode, "odd permissions")};
  EXPECT(some, call_exists);
}

/* ---- listings ---- */

#define ODD_NAME(id, name)                                                                         \
  SCRIPT(id) {                                                                                     \
    say_named(a, m->channel, "fine", 4);                                                           \
    say_named(a, m->channel, name, sizeof(name) - 1);                                              \
    say_done(a, m->channel);                                                                       \
  }

ODD_NAME(no_name, "")
ODD_NAME(dot, ".")
ODD_NAME(dot_dot, "..")
ODD_NAME(slash, "a/b")
ODD_NAME(only_slash, "/")
ODD_NAME(nul, "a\0b")
SCRIPT(endless_name) {
  static char name[5000];
  memset(name, 'n', sizeof name);
  say_named(a, m->channel, name, sizeof name);
}
SCRIPT(leaving) {
  MSG(Entry) entry = entry_of(TYPE(LEAVE_DIRECTORY));
  entry.path = binary("d", 1);
  say_entry(a, m->channel, entry);
}

static void test_listings(void **state) {
  (void)state;
  const lie lies[] = {
      LIE(no_name, "cannot list \"d\": the agent sent a name that is none"),
      LIE(dot, "a name that is none"),
      LIE(dot_dot, "a name that is none"),
      LIE(slash, "a name that is none"),
      LIE(only_slash, "a name that is none"),
      LIE(nul, "a name that is none"),
      LIE(endless_name, "a name that is none"),
      LIE(leaving, "no known type"),
      LIE(data_instead, "something else than an entry"),
  };
  EXPECT(lies, call_list);
}

SCRIPT(names_twice) {
  const char *const names[] = {"...", "b", "a", "b", "..x", "a", "\xff", "b"};
  for (size_t i = 0; i < 8; i++)
    say_named(a, m->channel, names[i], strlen(names[i]));
  say_done(a, m->channel);
}

static void test_names_that_come_twice(void **state) {
  (void)state;
  fixture *this = begin(names_twice, 5000);
  cdam_file_list *list;
  cdam_error err;
  assert_int_equal(cdam_file_list_directory(&this->session, "d", &list, &err), CDAM_OK);
  const char *const names[] = {"...", "..x", "a", "b", "\xff"};
  assert_int_equal(cdam_file_list_count(list), 5);
  for (size_t i = 0; i < 5; i++)
    assert_string_equal(cdam_file_list_get(list, i)->name, names[i]);
  cdam_file_list_free(list);
  end(this);
}

static void test_listings_are_bounded(void **state) {
  (void)state;
  cdam_error err;
  cdam_file_list *list = cdam_file_list_make();
  MSG(Entry) entry = entry_of(TYPE(FILE));
  entry.path = binary("n", 1);
  for (int i = 0; i < CDAM_FILE_LIST_ENTRIES; i++)
    assert_int_equal(cdam_file_list_add(list, &entry, true, &err), CDAM_OK);
  assert_int_equal(cdam_file_list_add(list, &entry, true, &err), CDAM_ERR_LIMIT);
  assert_int_equal(err.retry, CDAM_RETRY_NO);
  cdam_file_list_free(list);

  static char name[4096];
  memset(name, 'n', sizeof name);
  entry.path = binary(name, 4095);
  list = cdam_file_list_make();
  size_t count = 0;
  while (cdam_file_list_add(list, &entry, true, &err) == CDAM_OK)
    count++;
  assert_int_equal(err.code, CDAM_ERR_LIMIT);
  assert_in_range(count, 60000, 66000);
  cdam_file_list_free(list);
}

/* ---- reading ---- */

#define READ(name, body)                                                                           \
  SCRIPT(name) {                                                                                   \
    IGNORE_DATA();                                                                                 \
    const uint32_t c = m->channel;                                                                 \
    body;                                                                                          \
  }
#define ENTRY_FIRST say_entry(a, c, entry_of(TYPE(FILE)))

READ(data_first, say_data(a, c, "x", 1, true))
READ(a_directory, say_entry(a, c, entry_of(TYPE(DIRECTORY))))
READ(a_pipe, say_entry(a, c, entry_of(TYPE(PIPE))))
READ(another_entry, (ENTRY_FIRST, say_data(a, c, "x", 1, false), ENTRY_FIRST))
READ(more_than_asked, (ENTRY_FIRST, say_data(a, c, "12345678901", 11, true), say_done(a, c)))
READ(more_in_pieces,
     (ENTRY_FIRST, say_data(a, c, "123456", 6, false), say_data(a, c, "123456", 6, false)))
READ(after_the_end, (ENTRY_FIRST, say_data(a, c, "x", 1, true), say_data(a, c, "y", 1, true)))
READ(no_end, (ENTRY_FIRST, say_data(a, c, "x", 1, false), say_done(a, c)))
READ(no_data, (ENTRY_FIRST, say_done(a, c)))
READ(empty_data, (ENTRY_FIRST, say_data(a, c, "", 0, false)))

static void test_reading(void **state) {
  (void)state;
  const lie lies[] = {
      LIE(data_first, "cannot read \"f\": the agent sent data that belong to no file"),
      LIE(a_directory, "the content of what is no file"),
      LIE(a_pipe, "the content of what is no file"),
      LIE(another_entry, "two entries for one"),
      LIE(more_than_asked, "more than was asked for"),
      LIE(more_in_pieces, "more than was asked for"),
      LIE(after_the_end, "data that belong to no file"),
      LIE(no_end, "it is done, and it is not"),
      LIE(no_data, "it is done, and it is not"),
      LIE(only_done, "it is done, and it is not"),
      LIE(empty_data, "no data"),
      LIE(odd_mode, "odd permissions"),
      LIE(event_instead, "something else than a file"),
  };
  EXPECT(lies, call_read_to);
  EXPECT(lies, call_read);
}

/* It was smaller when it was looked at. */
READ(one_too_many, (ENTRY_FIRST, say_data(a, c, "1234567890", 10, true), say_done(a, c)))
READ(just_enough, (ENTRY_FIRST, say_data(a, c, "123456789", 9, true), say_done(a, c)))

static void test_a_file_that_grows(void **state) {
  (void)state;
  fixture *this = begin(one_too_many, 5000);
  cdam_error err;
  assert_int_equal(call_read(this, &err), CDAM_ERR_FILE);
  assert_int_equal(err.system_errno, EFBIG);
  end(this);
  this = begin(just_enough, 5000);
  char *bytes;
  size_t length;
  assert_int_equal(cdam_file_read(&this->session, "f", 9, &bytes, &length, &err), CDAM_OK);
  assert_string_equal(bytes, "123456789");
  assert_int_equal(length, 9);
  free(bytes);
  end(this);
}

/* ---- writing ---- */

SCRIPT(entry_at_once) {
  if (m->body_case == TO(WRITE_FILE)) say_entry(a, m->channel, entry_of(TYPE(FILE)));
}
SCRIPT(done_at_once) {
  if (m->body_case == TO(WRITE_FILE)) say_done(a, m->channel);
}
SCRIPT(entries_at_the_end) {
  if (!a->ended || m->body_case != TO(DATA)) return;
  say_entry(a, m->channel, entry_of(TYPE(FILE)));
  say_entry(a, m->channel, entry_of(TYPE(FILE)));
}
SCRIPT(no_entry_at_the_end) {
  if (a->ended && m->body_case == TO(DATA)) say_done(a, m->channel);
}
SCRIPT(data_back) {
  if (a->ended && m->body_case == TO(DATA)) say_data(a, m->channel, "x", 1, true);
}

static void test_writing(void **state) {
  (void)state;
  const lie early[] = {
      LIE(entry_at_once, "cannot write \"f\": the agent sent the entry of a file that is not"),
      LIE(done_at_once, "it is done, and it is not"),
  };
  EXPECT(early, call_large_write);
  const lie lies[] = {
      LIE(entries_at_the_end, "two entries for one"),
      LIE(no_entry_at_the_end, "it is done, and it is not"),
      LIE(data_back, "something else than an entry"),
      LIE(event_instead, "something else than an entry"),
      LIE(error_of_processes, "makes no sense here"),
  };
  EXPECT(lies, call_write);
}

/* The disk is full in the middle of a large file: it ends there. */
SCRIPT(full_disk) {
  if (m->body_case == TO(DATA) && a->taken > 300000 && a->taken < 500000)
    say_error(a, m->channel, CODE(SYSTEM), ENOSPC);
}

static void test_an_error_while_writing(void **state) {
  (void)state;
  fixture *this = begin(full_disk, 5000);
  cdam_error err;
  assert_int_equal(call_large_write(this, &err), CDAM_ERR_FILE);
  assert_int_equal(err.system_errno, ENOSPC);
  assert_string_equal(err.message, "cannot write \"f\": no space left on device");
  /* And the link goes on. */
  assert_int_equal(call_large_write(this, &err), CDAM_ERR_FILE);
  assert_int_equal(scripted_engine_count(this->engine, "POST", "/exec/*"), 1);
  end(this);
}

/* ---- what has no answer but Done ---- */

SCRIPT(an_entry) {
  say_entry(a, m->channel, entry_of(TYPE(FILE)));
}

static void test_only_done(void **state) {
  (void)state;
  const lie lies[] = {LIE(an_entry, "something that was not asked for"),
                      LIE(data_instead, "something that was not asked for"),
                      LIE(event_instead, "something that was not asked for")};
  EXPECT(lies, call_make_directory);
  EXPECT(lies, call_remove);
  EXPECT(lies, call_rename);
  EXPECT(lies, call_link);
  EXPECT(lies, call_attributes);
}

/* ---- watching ---- */

SCRIPT(event_first) {
  say_event(a, m->channel, KIND(CREATED), "f", 1);
}

#define EVENTS(name, body)                                                                         \
  SCRIPT(name) {                                                                                   \
    IGNORE_DATA();                                                                                 \
    const uint32_t c = m->channel;                                                                 \
    say_event(a, c, KIND(READY), "", 0);                                                           \
    say_event(a, c, KIND(CREATED), "fine", 4);                                                     \
    body;                                                                                          \
  }

EVENTS(ready_twice, say_event(a, c, KIND(READY), "", 0))
EVENTS(unknown_kind, say_event(a, c, 11, "f", 1))
EVENTS(no_kind, say_event(a, c, 0, "f", 1))
EVENTS(negative_kind, say_event(a, c, -7, "f", 1))
EVENTS(name_with_slash, say_event(a, c, KIND(CREATED), "a/b", 3))
EVENTS(name_dot_dot, say_event(a, c, KIND(CREATED), "..", 2))
EVENTS(name_with_nul, say_event(a, c, KIND(CREATED), "a\0b", 3))
EVENTS(an_end, say_done(a, c))
EVENTS(an_entry_later, say_entry(a, c, entry_of(TYPE(FILE))))

static void test_watches(void **state) {
  (void)state;
  const lie lies[] = {
      LIE(event_first, "cannot watch \"d\": the agent sent an event of a watch that is not ready"),
      LIE(only_done, "it is done, and it is not"),
      LIE(an_entry, "something else than an event"),
      LIE(ready_twice, "no known kind"),
      LIE(unknown_kind, "no known kind"),
      LIE(no_kind, "no known kind"),
      LIE(negative_kind, "no known kind"),
      LIE(name_with_slash, "a name that is none"),
      LIE(name_dot_dot, "a name that is none"),
      LIE(name_with_nul, "a name that is none"),
      LIE(an_end, "the agent ended the watch"),
      LIE(an_entry_later, "something else than an event"),
  };
  EXPECT(lies, call_watch);
}

EVENTS(gone_and_more, (say_event(a, c, KIND(GONE), "", 0), say_event(a, c, KIND(CREATED), "f", 1)))

/* What was gone is gone; the link breaks, and others see that. */
static void test_an_event_after_the_last(void **state) {
  (void)state;
  fixture *this = begin(gone_and_more, 5000);
  cdam_error err;
  for (int i = 0; i < 100 && scripted_engine_count(this->engine, "POST", "/exec/*") < 2; i++)
    assert_int_equal(call_watch(this, &err), CDAM_OK);
  assert_int_equal(scripted_engine_count(this->engine, "POST", "/exec/*"), 2);
  end(this);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_entry),
      cmocka_unit_test(test_listings),
      cmocka_unit_test(test_names_that_come_twice),
      cmocka_unit_test(test_listings_are_bounded),
      cmocka_unit_test(test_reading),
      cmocka_unit_test(test_a_file_that_grows),
      cmocka_unit_test(test_writing),
      cmocka_unit_test(test_an_error_while_writing),
      cmocka_unit_test(test_only_done),
      cmocka_unit_test(test_watches),
      cmocka_unit_test(test_an_event_after_the_last),
  };
  return cmocka_run_group_tests_name("file_lies", tests, NULL, NULL);
}
