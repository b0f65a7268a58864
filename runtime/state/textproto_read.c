/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/utf8.h"
#include "state/pack.h"
#include "state/textproto.h"
#include "state/textproto_lex.h"
#include "state/wire.h"

/* Every failure is about the token that was looked at last; line and column are put in front of
 * its message at the end. */
typedef struct reader {
  cdam_lexer lexer;
  size_t fields; /* how many values were read; bounds the memory that they take */
  const cdam_ignoring *ignoring;
  cdam_error *err;
} reader;

static cdam_status malformed(reader *r, const cdam_path *path, const char *text) {
  return cdam_fail_path(r->err, CDAM_ERR_MALFORMED, path, text);
}

static cdam_status wrong(reader *r, const cdam_path *path, const char *text) {
  return cdam_wrong_value(r->err, path, text);
}

static cdam_status read_fields(reader *r, const cdam_path *parent, ProtobufCMessage *message,
                               char close);

/* ---- single values ---- */

static cdam_status read_string(reader *r, const cdam_path *path, cdam_buffer *out) {
  if (!cdam_lex_is_quote(cdam_lex_peek(&r->lexer))) return wrong(r, path, "is not a string");
  size_t start = r->lexer.token;
  const char *problem = cdam_lex_string(&r->lexer, out);
  if (!problem) return CDAM_OK;
  r->lexer.token = start;
  return *problem ? malformed(r, path, problem) : cdam_fail_memory(r->err);
}

static cdam_status read_text(reader *r, const cdam_path *path, char **text) {
  cdam_lex_peek(&r->lexer);
  size_t start = r->lexer.token;
  cdam_buffer out = {0};
  cdam_status status = read_string(r, path, &out);
  if (!status && !cdam_utf8_text((const unsigned char *)cdam_buffer_text(&out), out.length)) {
    r->lexer.token = start;
    status = wrong(r, path, "is not UTF-8, or holds a NUL");
  }
  char *copy = status ? NULL : strdup(cdam_buffer_text(&out));
  cdam_buffer_clear(&out);
  if (status) return status;
  if (!copy) return cdam_fail_memory(r->err);
  *text = copy;
  return CDAM_OK;
}

static cdam_status read_bytes(reader *r, const cdam_path *path, ProtobufCBinaryData *bytes) {
  cdam_buffer out = {0};
  cdam_status status = read_string(r, path, &out);
  if (!status && !cdam_buffer_append(&out, "", 0)) status = cdam_fail_memory(r->err);
  if (status)
    cdam_buffer_clear(&out);
  else
    *bytes = (ProtobufCBinaryData){.len = out.length, .data = (uint8_t *)out.data};
  return status;
}

static cdam_status read_bool(reader *r, const cdam_path *path, protobuf_c_boolean *value) {
  static const char *const words[] = {"false", "true", "False", "True", "f", "t", "0", "1"};
  cdam_word word = cdam_lex_word(&r->lexer);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (!cdam_word_is(word, words[i])) continue;
    *value = i % 2;
    return CDAM_OK;
  }
  return wrong(r, path, "is neither true nor false");
}

static cdam_status read_enum(reader *r, const cdam_path *path,
                             const ProtobufCEnumDescriptor *descriptor, void *member) {
  const ProtobufCEnumValue *value = NULL;
  uint64_t number;
  cdam_word word = cdam_lex_word(&r->lexer);
  for (unsigned i = 0; i < descriptor->n_values && !value; i++)
    if (cdam_word_is(word, descriptor->values[i].name)) value = &descriptor->values[i];
  if (!value && cdam_word_number(word, &number) && number <= INT32_MAX)
    value = protobuf_c_enum_descriptor_get_value(descriptor, (int)number);
  return cdam_put_enum(value, descriptor, path, member, r->err);
}

/* The closing character that belongs to the next one; NUL when that opens no message. */
static char closing_of(reader *r) {
  char c = cdam_lex_peek(&r->lexer);
  return c == '{' ? '}' : c == '<' ? '>' : '\0';
}

static cdam_status read_message(reader *r, const cdam_path *path,
                                const ProtobufCMessageDescriptor *descriptor,
                                ProtobufCMessage **out) {
  char close = closing_of(r);
  if (!close) return wrong(r, path, "is not a message in { }");
  r->lexer.at++;
  cdam_status status = cdam_message_new(descriptor, out, r->err);
  return status ? status : read_fields(r, path, *out, close);
}

/* Whatever was allocated stands in the message, also on failure, and is freed with it. */
static cdam_status read_value(reader *r, const cdam_path *path,
                              const ProtobufCFieldDescriptor *field, void *member) {
  uint64_t number = 0;
  bool ok;
  if (++r->fields > CDAM_WIRE_MAX_FIELDS) return malformed(r, path, "there are too many values");
  switch (field->type) {
  case PROTOBUF_C_TYPE_UINT32:
  case PROTOBUF_C_TYPE_UINT64:
    ok = cdam_word_number(cdam_lex_word(&r->lexer), &number);
    return cdam_put_number(ok, number, field->type, path, member, r->err);
  case PROTOBUF_C_TYPE_BOOL:
    return read_bool(r, path, member);
  case PROTOBUF_C_TYPE_ENUM:
    return read_enum(r, path, field->descriptor, member);
  case PROTOBUF_C_TYPE_STRING:
    return read_text(r, path, member);
  case PROTOBUF_C_TYPE_BYTES:
    return read_bytes(r, path, member);
  case PROTOBUF_C_TYPE_MESSAGE:
    return read_message(r, path, field->descriptor, member);
  default:
    return wrong(r, path, "is of a type that is not in use");
  }
}

/* ---- repeated fields ---- */

/* Room for one more element, empty. The room is a power of two, so it need not be kept. */
static void *add_element(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field) {
  size_t *count = cdam_field_count(message, field), size = cdam_element_size(field->type);
  char **elements = cdam_field_member(message, field);
  if ((*count & (*count - 1)) == 0) {
    char *more = realloc(*count ? *elements : NULL, (*count ? 2 * *count : 1) * size);
    if (!more) return NULL;
    *elements = more;
  }
  /* It counts before it is read, so that half of one is freed, too. */
  return memset(*elements + (*count)++ * size, 0, size);
}

static cdam_status read_element(reader *r, const cdam_path *path, ProtobufCMessage *message,
                                const ProtobufCFieldDescriptor *field) {
  cdam_path element = *path;
  element.index = (long)*cdam_field_count(message, field);
  if (cdam_element_size(field->type) == 0) return wrong(r, path, "is of a type not in use");
  void *member = add_element(message, field);
  return member ? read_value(r, &element, field, member) : cdam_fail_memory(r->err);
}

static cdam_status read_repeated(reader *r, const cdam_path *path, ProtobufCMessage *message,
                                 const ProtobufCFieldDescriptor *field) {
  if (!cdam_lex_take(&r->lexer, '[')) return read_element(r, path, message, field);
  if (cdam_lex_take(&r->lexer, ']')) return CDAM_OK;
  cdam_status status;
  do
    status = read_element(r, path, message, field);
  while (!status && cdam_lex_take(&r->lexer, ','));
  if (!status && !cdam_lex_take(&r->lexer, ']'))
    status = malformed(r, path, "a list goes on with , or ]");
  return status;
}

/* ---- names that the schema does not know ---- */

static size_t count_digits(cdam_word word, size_t at) {
  size_t count = 0;
  while (at + count < word.length && cdam_lex_is_digit(word.text[at + count]))
    count++;
  return count;
}

/* A fraction, without a sign in its exponent: 1.5e3f */
static bool is_fraction(cdam_word word) {
  size_t digits = count_digits(word, 0), at = digits;
  if (at < word.length && word.text[at] == '.') {
    size_t behind = count_digits(word, at + 1);
    digits += behind;
    at += 1 + behind;
  }
  if (digits == 0) return false;
  if (at < word.length && (word.text[at] == 'e' || word.text[at] == 'E')) {
    digits = count_digits(word, at + 1);
    if (digits == 0) return false;
    at += 1 + digits;
  }
  return at == word.length || (at + 1 == word.length && word.text[at] == 'f');
}

static bool is_scalar(cdam_word word, bool negative) {
  uint64_t number;
  if (word.length && cdam_lex_is_name(word.text[0]))
    return !memchr(word.text, '.', word.length) &&
           (!negative || cdam_word_is(word, "inf") || cdam_word_is(word, "nan"));
  return cdam_word_number(word, &number) || is_fraction(word);
}

/* What is no message: strings, or a word or number with or without a sign. */
static cdam_status skip_scalar(reader *r, const cdam_path *path) {
  if (cdam_lex_is_quote(cdam_lex_peek(&r->lexer))) {
    cdam_buffer out = {0};
    cdam_status status = read_string(r, path, &out);
    cdam_buffer_clear(&out);
    return status;
  }
  bool negative = cdam_lex_take(&r->lexer, '-');
  return is_scalar(cdam_lex_word(&r->lexer), negative) ? CDAM_OK
                                                       : malformed(r, path, "there is no value");
}

static cdam_status skip_value(reader *r, const cdam_path *path, bool may_list, int depth);

/* Between the braces. */
static cdam_status skip_fields(reader *r, const cdam_path *path, char close, int depth) {
  cdam_status status = CDAM_OK;
  while (!status && !cdam_lex_take(&r->lexer, close)) {
    if (!cdam_lex_is_name(cdam_lex_peek(&r->lexer)))
      return malformed(r, path, "no name where one should stand");
    cdam_word word = cdam_lex_word(&r->lexer);
    if (memchr(word.text, '.', word.length)) return malformed(r, path, "a name with a dot");
    bool colon = cdam_lex_take(&r->lexer, ':');
    if (!colon && !closing_of(r)) return malformed(r, path, "a name goes on with :");
    status = skip_value(r, path, true, depth);
    if (!cdam_lex_take(&r->lexer, ',')) cdam_lex_take(&r->lexer, ';');
  }
  return status;
}

static cdam_status skip_list(reader *r, const cdam_path *path, int depth) {
  if (cdam_lex_take(&r->lexer, ']')) return CDAM_OK;
  cdam_status status;
  do
    status = skip_value(r, path, false, depth);
  while (!status && cdam_lex_take(&r->lexer, ','));
  if (!status && !cdam_lex_take(&r->lexer, ']'))
    status = malformed(r, path, "a list goes on with , or ]");
  return status;
}

static cdam_status skip_value(reader *r, const cdam_path *path, bool may_list, int depth) {
  if (depth == CDAM_TEXT_MAX_DEPTH) return malformed(r, path, "messages are nested too deep");
  if (may_list && cdam_lex_take(&r->lexer, '[')) return skip_list(r, path, depth + 1);
  char close = closing_of(r);
  if (!close) return skip_scalar(r, path);
  r->lexer.at++;
  return skip_fields(r, path, close, depth + 1);
}

/* A piece of a value that was not quoted rightly looks like a name as well, so errors name only
 * what begins a line and goes on as a field does, and never what stands in a map's entry. */
static bool may_be_named(reader *r, cdam_word word, const ProtobufCMessageDescriptor *descriptor) {
  for (const char *at = word.text; at > r->lexer.text && at[-1] != '\n'; at--)
    if (at[-1] != ' ' && at[-1] != '\t') return false;
  cdam_lexer ahead = r->lexer;
  char next = cdam_lex_peek(&ahead);
  return cdam_message_info_of(descriptor) && (next == ':' || next == '{' || next == '<');
}

static cdam_status unknown_name(reader *r, const cdam_path *parent, cdam_word word,
                                const ProtobufCMessageDescriptor *descriptor) {
  char name[sizeof r->err->field];
  snprintf(name, sizeof name, "%.*s", (int)(word.length < 64 ? word.length : 64), word.text);
  cdam_path path = {parent, name, NULL, -1};
  if (!cdam_may_ignore(r->ignoring, descriptor, word.text, word.length) ||
      memchr(word.text, '.', word.length))
    return malformed(r, may_be_named(r, word, descriptor) ? &path : parent,
                     "there is no such field");
  bool colon = cdam_lex_take(&r->lexer, ':');
  if (!colon && !closing_of(r)) return malformed(r, parent, "a name goes on with :");
  cdam_status status = skip_value(r, parent, true, 0);
  if (!status) cdam_tell_ignored(r->ignoring, &path);
  return status;
}

/* ---- messages ---- */

static const ProtobufCFieldDescriptor *find_field(const ProtobufCMessageDescriptor *descriptor,
                                                  cdam_word word) {
  for (unsigned i = 0; i < descriptor->n_fields; i++)
    if (cdam_word_is(word, descriptor->fields[i].name)) return &descriptor->fields[i];
  return NULL;
}

/* Behind the name. */
static cdam_status read_field(reader *r, const cdam_path *path, ProtobufCMessage *message,
                              const ProtobufCFieldDescriptor *field) {
  bool is_message = field->type == PROTOBUF_C_TYPE_MESSAGE;
  bool colon = cdam_lex_take(&r->lexer, ':');
  if (!colon && !is_message) return malformed(r, path, "the name goes on with :");
  if (field->label == PROTOBUF_C_LABEL_REPEATED) return read_repeated(r, path, message, field);
  return read_value(r, path, field, cdam_field_member(message, field));
}

static cdam_status read_named(reader *r, const cdam_path *parent, ProtobufCMessage *message,
                              cdam_seen *seen) {
  const ProtobufCMessageDescriptor *descriptor = message->descriptor;
  char first = cdam_lex_peek(&r->lexer);
  if (first == '[') return malformed(r, parent, "extensions and Any are not taken");
  if (cdam_lex_is_digit(first)) return malformed(r, parent, "fields are named, not numbered");
  if (!cdam_lex_is_name(first)) return malformed(r, parent, "no name where one should stand");
  cdam_word word = cdam_lex_word(&r->lexer);
  const ProtobufCFieldDescriptor *field = find_field(descriptor, word);
  if (!field) return unknown_name(r, parent, word, descriptor);
  cdam_path path = {parent, field->name, NULL, -1};
  if (field->label != PROTOBUF_C_LABEL_REPEATED &&
      !cdam_see(seen, (size_t)(field - descriptor->fields)))
    return malformed(r, &path, "the field is there twice");
  return read_field(r, &path, message, field);
}

/* Up to the closing character; NUL is the end of the text. */
static cdam_status read_fields(reader *r, const cdam_path *parent, ProtobufCMessage *message,
                               char close) {
  cdam_seen seen = {{0}};
  cdam_status status = CDAM_OK;
  while (!status) {
    char c = cdam_lex_peek(&r->lexer);
    if (c == close) break;
    if (c == '\0') return malformed(r, parent, "the text ends too early");
    status = read_named(r, parent, message, &seen);
    if (!status && !cdam_lex_take(&r->lexer, ',')) cdam_lex_take(&r->lexer, ';');
  }
  if (!status && close) r->lexer.at++;
  return status;
}

/* ---- the whole ---- */

static cdam_status locate(const reader *r, cdam_status status) {
  if (!status || status == CDAM_ERR_NO_MEMORY || !r->err) return status;
  size_t line, column;
  char text[sizeof r->err->message], place[64];
  cdam_lex_place(&r->lexer, &line, &column);
  memcpy(text, r->err->message, sizeof text);
  snprintf(place, sizeof place, "line %zu, column %zu: ", line, column);
  cdam_printable(r->err->message, sizeof r->err->message, place, strlen(place));
  size_t used = strlen(r->err->message);
  cdam_printable(r->err->message + used, sizeof r->err->message - used, text, strlen(text));
  return status;
}

cdam_status cdam_textproto_read(const char *text, size_t length,
                                const ProtobufCMessageDescriptor *descriptor,
                                const cdam_ignoring *ignoring, ProtobufCMessage **message,
                                cdam_error *err) {
  if (length > CDAM_TEXT_MAX_BYTES)
    return cdam_fail(err, CDAM_ERR_MALFORMED, "the text has more than %d bytes",
                     CDAM_TEXT_MAX_BYTES);
  if (!cdam_utf8_text((const unsigned char *)text, length))
    return cdam_fail(err, CDAM_ERR_MALFORMED, "the text is not UTF-8, or holds a NUL");
  reader r = {.lexer = {.text = text, .length = length}, .ignoring = ignoring, .err = err};
  ProtobufCMessage *read = NULL;
  cdam_status status = cdam_message_new(descriptor, &read, err);
  if (!status) status = locate(&r, read_fields(&r, NULL, read, '\0'));
  if (!status) status = cdam_sort_maps(read, err);
  if (status && read) protobuf_c_message_free_unpacked(read, NULL);
  if (!status) *message = read;
  return status;
}
