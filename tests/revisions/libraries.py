# SPDX-License-Identifier: Apache-2.0
"""The library and its command line as they are at each revision: generated from the frozen schema,
compiled with today's runtime. The revision to come is made up: the schema with two options more."""

from __future__ import annotations

import dataclasses
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SCHEMA = ROOT / "schema"
RELEASED = SCHEMA / "released"
RUNTIME = ROOT / "runtime"

LIBRARIES = "-lcurl -ljansson -lprotobuf-c -lcrypto -luuid -larchive -lpthread"

NINJA = """\
builddir = {work}
runtime = {runtime}
agent = -DCDAM_AGENT_INSTALL_DIRECTORY="\\"/nowhere\\""
flags = -std=gnu11 -D_GNU_SOURCE -O0 -fvisibility=hidden $agent -I$runtime/include -I$runtime
rule cc
  command = gcc $flags $more -MMD -MF $out.d -c $in -o $out
  depfile = $out.d
  deps = gcc
rule link
  command = gcc $in -o $out {libraries}
"""

# What runtime/interchange/ names, network_mode, came with this revision.
INTERCHANGE_SINCE = 2
# What runtime/options/taken_places.c names, tmpfs, came with this one.
TAKEN_PLACES_SINCE = 3

# The numbers of fields are no others' in the tests.
OPTIONS = """
  string matrix_domain = 1500 [(field) = {{
    since_revision: {revision}
    help: "An option that isolates nothing."
    rules: {{ string: {{ max_bytes: 64 format: STRING_FORMAT_TOKEN }} }}
    create: {{ path: "Domainname" shape: SHAPE_SCALAR }}
    inspect: {{ path: "Config.Domainname" compare: COMPARE_EXACT }}
    flag: {{ name: "matrix-domain" metavar: "NAME" }}
  }}];

  uint32 matrix_oom = 1501 [(field) = {{
    since_revision: {revision}
    help: "An option that isolates."
    rules: {{ uint: {{ lte: 1000 }} }}
    create: {{ path: "HostConfig.OomScoreAdj" shape: SHAPE_SCALAR }}
    inspect: {{ path: "HostConfig.OomScoreAdj" compare: COMPARE_EXACT }}
    isolates: true
    feature: "FEATURE_MATRIX_OOM"
    unprofiled: "it is made up"
    flag: {{ name: "matrix-oom" metavar: "SCORE" }}
  }}];
}}
"""
FEATURE = """
  FEATURE_MATRIX_OOM = 1000 [(value) = {{ since_revision: {revision} }}];
}}
"""


@dataclasses.dataclass(frozen=True)
class Library:
    """One revision: its name, its number, its descriptor set and its programs."""

    name: str
    revision: int
    descriptors: pathlib.Path
    home: pathlib.Path

    @property
    def cli(self) -> pathlib.Path:
        return self.home / "cofferdam"

    @property
    def driver(self) -> pathlib.Path:
        return self.home / "driver"


def must(*command: object, cwd: pathlib.Path | None = None) -> str:
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise AssertionError(f"{done.args}\n{done.stdout[-8000:]}{done.stderr}")
    return done.stdout


def released() -> list[int]:
    return sorted(int(path.stem[1:]) for path in RELEASED.glob("r*.binpb"))


def insert_last(path: pathlib.Path, opening: str, text: str) -> None:
    """Puts a text in the place of the brace that ends what begins with `opening`."""
    before = path.read_text("utf-8")
    begin = before.index(opening + " {")
    end = before.index("\n}\n", begin)
    path.write_text(before[:end] + text + before[end + 3 :], "utf-8")


def make_next(work: pathlib.Path) -> pathlib.Path:
    """The descriptor set of the revision to come. It is written only when it changes."""
    schema, revision = work / "next-schema", len(released()) + 1
    shutil.rmtree(schema, ignore_errors=True)
    shutil.copytree(SCHEMA, schema)
    files = schema / "cofferdam/v1"
    for file, opening, text in (("options", "message SandboxOptions", OPTIONS),
                                ("state", "enum Feature", FEATURE)):
        insert_last(files / f"{file}.proto", opening, text.format(revision=revision))
    must(sys.executable, ROOT / "codegen/compat.py", "--schema", schema)
    out = work / "next.binpb"
    must("protoc", f"-I{schema}", "-I/usr/include", "--include_imports",
         f"--descriptor_set_out={out}", "cofferdam/v1/state.proto")
    return out


def generate(library: Library) -> None:
    """Files that stay the same are not written again, so ninja leaves them alone."""
    must(sys.executable, ROOT / "codegen/generate.py", "--descriptor-set", library.descriptors,
         "--out", library.home / "generated")
    script = library.home / "generated/c/engine_script.c"
    script.write_text(must(RUNTIME / "file/embed.sh"), "utf-8")


def needs_generated(sources: list[pathlib.Path], generated: pathlib.Path) -> set[pathlib.Path]:
    """Which sources include something generated; the others are compiled once for all."""
    listed = must("gcc", "-MM", "-std=gnu11", "-D_GNU_SOURCE", f"-I{RUNTIME}/include",
                  f"-I{RUNTIME}", f"-I{generated}/include", f"-I{generated}/c", *sources)
    rules = re.split(r"\n(?=\S)", listed.replace("\\\n", " "))
    return {pathlib.Path(rule.split()[1]) for rule in rules if str(generated) in rule}


class Plan:
    """The ninja file of all libraries."""

    def __init__(self, work: pathlib.Path):
        self.work = work
        self.text = [NINJA.format(work=work, runtime=RUNTIME, libraries=LIBRARIES)]
        self.made: set[str] = set()

    def compile(self, source: pathlib.Path, folder: pathlib.Path, flags: str) -> str:
        parts = source.relative_to(folder if folder in source.parents else ROOT).parts
        out = str(folder / "objects" / ("-".join(parts) + ".o"))
        if out not in self.made:
            self.made.add(out)
            self.text.append(f"build {out}: cc {source}\n  more = {flags}\n")
        return out

    def link(self, out: pathlib.Path, objects: list[str]) -> None:
        self.text.append(f"build {out}: link {' '.join(objects)}\n")

    def add(self, library: Library, runtime: list[pathlib.Path], own: set[pathlib.Path]) -> None:
        generated = library.home / "generated"
        flags = f"-I{generated}/include -I{generated}/c"
        sources = [HERE / "driver.c", *sorted(generated.rglob("*.c")), *runtime]
        if library.revision < INTERCHANGE_SINCE:
            sources = [path for path in sources if path.parent.name != "interchange"]
            sources.append(HERE / "no_interchange.c")
        if library.revision < TAKEN_PLACES_SINCE:
            sources = [path for path in sources if path.name != "taken_places.c"]
            sources.append(HERE / "no_taken_places.c")
        objects = {
            source: self.compile(source, library.home, flags)
            if source in own or RUNTIME not in source.parents
            else self.compile(source, self.work / "shared", "")
            for source in sources
        }
        cli = [out for source, out in objects.items() if "cli" in source.parts]
        driver = objects[HERE / "driver.c"]
        common = [out for out in objects.values() if out != driver and out not in cli]
        self.link(library.cli, common + cli)
        self.link(library.driver, [out for out in common if "flag_values" not in out] + [driver])

    def run(self) -> None:
        path = self.work / "build.ninja"
        path.write_text("".join(self.text), "utf-8")
        must("ninja", "-j2", "--quiet", "-f", path, cwd=self.work)


def build(work: pathlib.Path) -> dict[str, Library]:
    """The libraries by name, oldest first; the last is `next`."""
    work.mkdir(parents=True, exist_ok=True)
    sets = {f"r{number}": RELEASED / f"r{number}.binpb" for number in released()}
    sets["next"] = make_next(work)
    libraries = {
        name: Library(name, number, path, work / name)
        for number, (name, path) in enumerate(sets.items(), 1)
    }
    for library in libraries.values():
        generate(library)
    runtime = sorted(path for path in RUNTIME.rglob("*.c") if path.parent.name != "agent")
    own = needs_generated(runtime, libraries["next"].home / "generated")
    plan = Plan(work)
    for library in libraries.values():
        plan.add(library, runtime, own)
    plan.run()
    return libraries
