# SPDX-License-Identifier: Apache-2.0
"""Rules and revisions in words, for headers and documentation."""

from __future__ import annotations

from model import Enum, EnumValue, Field
from vocabulary import Rules, StringRules

# The first release of the library with a schema revision. Later ones name the revision alone until
# they are released.
RELEASES = {
    1: "0.1",
    2: "0.1",
    3: "0.1",
}

FORMATS = {
    "UUID": "a UUID in lower case",
    "CONTAINER_ID": "64 hexadecimal digits in lower case",
    "IMAGE_ID": "sha256: and 64 hexadecimal digits",
    "IMAGE_REFERENCE": "an image reference",
    "TOKEN": "printable ASCII without blanks",
    "PATH": "an absolute path without . and .. and without a slash at its end",
    "USER": "USER[:GROUP], names or numbers",
    "PLAIN_USER": "UID:GID, neither of them 0",
    "WORD": 'letters, digits, "_", "." and "-"',
    "HOSTNAME": "a host name",
    "PLATFORM": "os/architecture[/variant]",
    "TMPFS": "words such as size=64m, mode=1777, uid=N, gid=N, nr_inodes=N, ro, noexec",
    "ULIMIT_NAME": "core, cpu, data, fsize, locks, memlock, msgqueue, nofile, nproc, rss, "
    "sigpending or stack",
    "ULIMIT": "SOFT:HARD, the first no higher",
}


def since(revision: int) -> str:
    release = RELEASES.get(revision)
    return f"Since {release} (schema r{revision})." if release else f"Since schema r{revision}."


def _text(rules: StringRules) -> list[str]:
    out = []
    if rules.format:
        out.append(FORMATS[rules.format])
    if rules.min_bytes and rules.max_bytes:
        out.append(f"{rules.min_bytes} to {rules.max_bytes} bytes")
    elif rules.max_bytes:
        out.append(f"at most {rules.max_bytes} bytes")
    elif rules.min_bytes:
        out.append(f"at least {rules.min_bytes} bytes")
    if rules.not_contains:
        out.append(f'no "{rules.not_contains}"')
    if rules.not_prefix:
        out.append(f'not beginning with "{rules.not_prefix}"')
    return out


def _one(rules: Rules | None, enum: Enum | None) -> list[str]:
    """What one value must be."""
    if rules is None:
        return []
    if rules.string:
        return _text(rules.string)
    if rules.uint and rules.uint.lte:
        step = rules.uint.multiple_of
        whole = [f"a multiple of {step}"] if step else []
        return [f"{rules.uint.gte} to {rules.uint.lte}"] + whole
    if rules.uint:
        return [f"at least {rules.uint.gte}"]
    if rules.bytes:
        low, high = rules.bytes.min_len, rules.bytes.max_len
        return [f"{high} bytes" if low == high else f"{low} to {high} bytes"]
    if rules.enum and enum:
        return ["one of " + ", ".join(value.short for value in enum.values)]
    return []


def rules(field: Field) -> str:
    """The rules of a field in one phrase, such as "required; at most 512 bytes"."""
    out = ["required"] if field.rules.required else []
    if field.repeated:
        repeated = field.rules.repeated
        out.append(f"at most {repeated.max_items} items")
        if repeated.unique:
            out.append("each once")
        out += _one(repeated.items, field.enum)
    elif field.kind == "map":
        pairs = field.rules.map
        out.append(f"at most {pairs.max_pairs} entries")
        for word, inner in (("key", pairs.keys), ("value", pairs.values)):
            out += [f"{word}: {', '.join(_one(inner, None))}"]
    else:
        out += _one(field.rules, field.enum)
    if field.profiled:
        out.append(f"with a profile {', '.join(_one(field.profiled, None))}")
    return "; ".join(part for part in out if part)


def setting(value) -> list[str]:
    """What a profile sets an option to, one text for each item."""
    if isinstance(value, tuple):
        return ["=".join(item) if isinstance(item, tuple) else str(item) for item in value]
    return [value.docker if isinstance(value, EnumValue) else str(value).lower()]


def sentence(text: str) -> str:
    """A phrase as a sentence."""
    return text[:1].upper() + text[1:] + "." if text else ""
