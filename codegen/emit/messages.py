# SPDX-License-Identifier: Apache-2.0
"""generated/c/messages.c: what protobuf-c's descriptors do not say."""

from __future__ import annotations

from emit.c_names import message_descriptor
from model import Model
from text import Writer, c_string, made_by

# What a field's annotation says for all that shows states.
FLAGS = ("isolates", "sensitive")


def source(model: Model) -> str:
    out = Writer()
    out.add(made_by()).add("/* SPDX-License-Identifier: Apache-2.0 */")
    out.add('#include "options/generated.h"')
    for message in model.messages:
        out.add().add(f"static const cdam_field_info {message.snake}_fields[] = {{")
        for field in message.fields:
            words = [f".json_name = {c_string(field.json_name)}"]
            words.append(f".is_map = {'true' if field.kind == 'map' else 'false'}")
            words += [f".{word} = true" for word in FLAGS if getattr(field, word)]
            out.add(f"    {{{', '.join(words)}}},")
        out.add("};")
    out.add().add("const cdam_message_info cdam_generated_messages[] = {")
    for message in model.messages:
        out.add(
            f"    {{.descriptor = &{message_descriptor(message)}, "
            f".fields = {message.snake}_fields}},"
        )
    out.add("};").add()
    out.add("const size_t cdam_generated_message_count =")
    out.add("    sizeof cdam_generated_messages / sizeof *cdam_generated_messages;")
    return out.text()


def emit(model: Model) -> dict[str, str]:
    return {"c/messages.c": source(model)}
