# SPDX-License-Identifier: Apache-2.0
"""How protobuf-c and the public headers call things."""

from __future__ import annotations

import re

from model import Enum, EnumValue, Field, Message, Model

OPTIONS_TYPE = "Cofferdam__V1__SandboxOptions"
STATE_TYPE = "Cofferdam__V1__SessionState"


def message_type(name: str) -> str:
    return f"Cofferdam__V1__{name}"


def lower(camel: str) -> str:
    """protoc-c's own way: an underscore where small letters end."""
    return re.sub(r"(?<=[^A-Z])(?=[A-Z])", "_", camel).lower()


def message_descriptor(message: Message) -> str:
    return f"cofferdam__v1__{message.snake}__descriptor"


def entry_type(message: Message, field: Field) -> str:
    camel = "".join(part.capitalize() for part in field.name.split("_"))
    return f"{message_type(message.name)}__{camel}Entry"


def entry_descriptor(message: Message, field: Field) -> str:
    """protoc-c makes it from the type's name, in which a word of one letter has no end."""
    camel = "".join(part.capitalize() for part in field.name.split("_"))
    return f"cofferdam__v1__{message.snake}__{lower(camel)}_entry__descriptor"


def enum_type(enum: Enum) -> str:
    return f"Cofferdam__V1__{enum.name}"


def enum_value(enum: Enum, value: EnumValue) -> str:
    return f"COFFERDAM__V1__{enum.snake.upper()}__{value.name}"


def public_enum(enum: Enum) -> str:
    return f"cdam_{enum.snake}"


def public_value(value: EnumValue) -> str:
    return f"CDAM_{value.name}"


def c_type(field: Field) -> str:
    """The C type of one value of a field, as the accessors have it."""
    return {
        "bool": "bool",
        "uint32": "uint32_t",
        "uint64": "uint64_t",
        "string": "const char *",
    }.get(field.kind) or public_enum(field.enum)


def declare(c: str, name: str) -> str:
    """`const char *name`, `bool name`."""
    return c + name if c.endswith("*") else f"{c} {name}"


def in_use(field: Field) -> str:
    return f"cdam_in_use_{field.name}"


def map_of(field: Field) -> str:
    return f"cdam_map_of_{field.name}"


def docker_word(enum: Enum) -> str:
    return f"cdam_docker_word_{enum.snake}"


def known_value(enum: Enum) -> str:
    return f"cdam_is_{enum.snake}"


def option_enums(model: Model) -> list[Enum]:
    """The enums of options, each once, in the order of the schema."""
    used = {field.enum.name for field in model.options.fields if field.enum}
    return [enum for enum in model.enums if enum.name in used]
