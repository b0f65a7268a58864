# SPDX-License-Identifier: Apache-2.0
"""One small emitter for each artefact. Each has emit(model) -> {path under generated/: text}."""

from __future__ import annotations

from emit import (
    accessors,
    compare,
    create_body,
    features,
    man_page,
    meson_build,
    messages,
    option_fields,
    option_flags,
    option_table,
    policy,
    profiles,
    public_headers,
    serializers,
    validate,
)

EMITTERS = (
    public_headers,
    accessors,
    option_fields,
    validate,
    features,
    create_body,
    compare,
    policy,
    profiles,
    messages,
    option_flags,
    option_table,
    man_page,
)


def emit_all(model, files, agent=None) -> dict[str, str]:
    """Every generated file. `files` is the descriptor set that the model was made from, `agent` that
    of the agent's protocol."""
    out = dict(serializers.emit(files))
    if agent:
        out.update(serializers.emit(agent))
    for emitter in EMITTERS:
        out.update(emitter.emit(model))
    out.update(meson_build.emit(list(out)))
    return dict(sorted(out.items()))
