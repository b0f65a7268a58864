# SPDX-License-Identifier: Apache-2.0
"""The fields of SessionState as the public interface shows them: nested messages flattened."""

from __future__ import annotations

from dataclasses import dataclass

from model import Field, Model

SETTABLE_KINDS = ("bool", "uint32", "uint64")


@dataclass(frozen=True)
class Flat:
    name: str  # engine_id
    path: str  # engine.id
    holder: str  # the member of the state that holds it, or ""
    field: Field

    @property
    def settable(self) -> bool:
        """What the caller may set: plain facts that no rule ties to anything else."""
        field = self.field
        return (
            not self.holder
            and field.kind in SETTABLE_KINDS
            and not field.repeated
            and not field.rules.required
            and field.rules.uint is None
        )


def flat_fields(model: Model) -> list[Flat]:
    out = []
    for field in model.state.fields:
        if field.kind == "message" and field.message != model.options.name:
            for inner in model.message(field.message).fields:
                out.append(
                    Flat(
                        f"{field.name}_{inner.singular or inner.name}",
                        f"{field.name}.{inner.name}",
                        field.name,
                        inner,
                    )
                )
        else:
            out.append(Flat(field.singular or field.name, field.name, "", field))
    return out
