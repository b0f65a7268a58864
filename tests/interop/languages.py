# SPDX-License-Identifier: Apache-2.0
"""How each language's program is built: in a copy of its folder, with the ordinary generator."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROTOS = [f"cofferdam/v1/{name}.proto" for name in ("annotations", "options", "state")]
OLD_REVISION = "r1"
OFFLINE = re.compile(r"Could not (transfer|resolve)|Unknown host|offline mode", re.IGNORECASE)


class Missing(Exception):
    """A toolchain or a library that this machine has not, and that it cannot get."""


class BuildFailed(Exception):
    pass


def run(argv, cwd, **environment):
    done = subprocess.run([str(word) for word in argv], cwd=cwd, stdin=subprocess.DEVNULL,
                          env={**os.environ, **environment}, capture_output=True, text=True,
                          errors="replace", timeout=800, check=False)
    if done.returncode != 0:
        words = " ".join(str(word) for word in argv)
        raise BuildFailed(f"{words}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def fetch(argv, cwd, **environment):
    """Gets libraries. Mirrors have bad moments: two tries."""
    try:
        run(argv, cwd, **environment)
    except BuildFailed:
        try:
            run(argv, cwd, **environment)
        except BuildFailed as failure:
            lines = str(failure).strip().splitlines()
            reason = next((line for line in lines[1:] if "error" in line.lower()), lines[-1])
            raise Missing(f"its libraries could not be fetched: {reason.strip()}") from failure


class Language:
    name = ""
    # Program: the Debian package that brings it.
    tools = {"protoc": "protobuf-compiler"}
    # What the language's library does with fields that it does not know.
    keeps_unknown_fields = True
    # The order of a map's entries on the wire: "kept" (as they were put in), "hashed" (some other
    # one), or "random" (another one every time).
    map_order = "kept"

    def __init__(self, schema, work):
        self.schema = schema
        self.folder = work / self.name
        self.source = HERE / self.name

    # The programs, as argument lists without their own arguments.
    def driver(self):
        raise NotImplementedError

    def old(self):
        raise NotImplementedError

    def make(self):
        raise NotImplementedError

    def environment(self):
        return {}

    def need_tools(self):
        missing = [f"{tool} (Debian: {package})" for tool, package in self.tools.items()
                   if not shutil.which(tool)]
        if missing:
            raise Missing("not installed: " + ", ".join(missing))

    def build(self):
        self.need_tools()
        stamp, print_of_inputs = self.folder / ".built", self.fingerprint()
        if stamp.exists() and stamp.read_text() == print_of_inputs:
            return
        stamp.unlink(missing_ok=True)
        shutil.copytree(self.source, self.folder, dirs_exist_ok=True)
        self.make()
        stamp.write_text(print_of_inputs)

    def fingerprint(self):
        digest = hashlib.sha256()
        for root in (self.source, self.schema):
            for path in sorted(root.rglob("*")):
                if path.is_file() and "__pycache__" not in path.parts:
                    digest.update(f"{path}\0".encode() + path.read_bytes() + b"\0")
        for tool in self.tools:
            path = os.path.realpath(shutil.which(tool))
            digest.update(f"{path} {os.stat(path).st_mtime_ns}\0".encode())
        digest.update(Path(__file__).read_bytes())
        return digest.hexdigest()

    def protoc(self, *flags, cwd=None, old=False):
        source = [f"-I{self.schema}"]
        if old:
            source = [f"--descriptor_set_in={self.schema}/released/{OLD_REVISION}.binpb"]
        cwd = cwd or self.folder
        cwd.mkdir(parents=True, exist_ok=True)
        run(["protoc", *source, *flags, *PROTOS], cwd)

    def with_old_copy(self, *names):
        """A second folder with the named files, for the bindings of the old revision."""
        folder = self.folder / "with-old-schema"
        for name in names:
            source = self.source / name
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, folder / name, dirs_exist_ok=True)
            else:
                shutil.copy2(source, folder / name)
        return folder


class Python(Language):
    """With the newest protobuf package that protoc's code is made for."""
    name = "python"
    map_order = "hashed"
    tools = {**Language.tools, "python3": "python3"}

    def python(self):
        return self.folder / "venv/bin/python"

    def make(self):
        if not (self.folder / "venv").exists():
            try:
                run([sys.executable, "-c", "import ensurepip, venv"], self.folder)
            except BuildFailed as failure:
                raise Missing("not installed: venv (Debian: python3-venv)") from failure
        run([sys.executable, "-m", "venv", "venv"], self.folder)
        fetch([self.python(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
               "--require-hashes", "--only-binary", ":all:", "-r", "requirements.txt"], self.folder)
        self.bindings()

    def bindings(self):
        self.protoc("--python_out=.")
        self.protoc("--python_out=.", old=True,
                    cwd=self.with_old_copy("cofferdam_state.py", "old.py"))

    def driver(self):
        return [self.python(), self.folder / "driver.py"]

    def old(self):
        return [self.python(), self.folder / "with-old-schema/old.py"]


class DebianPython(Python):
    """With the protobuf package of the interpreter that runs this suite."""
    name = "python-debian"

    def __init__(self, schema, work):
        super().__init__(schema, work)
        self.source = HERE / "python"

    def python(self):
        return sys.executable

    def make(self):
        self.bindings()


class Go(Language):
    name = "go"
    tools = {**Language.tools, "go": "golang-go"}
    map_order = "random"
    # What schema/ does not say: where its Go package is.
    package = "example/interop/cofferdam/v1;cofferdamv1"

    def environment(self):
        return {"GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly -buildvcs=false", "GOWORK": "off"}

    def go_out(self):
        plugin = self.folder / "bin/protoc-gen-go"
        return [f"--plugin={plugin}", "--go_out=.", "--go_opt=paths=source_relative",
                *(f"--go_opt=M{proto}={self.package}" for proto in PROTOS)]

    def make(self):
        environment = self.environment()
        fetch(["go", "mod", "download", "google.golang.org/protobuf"], self.folder, **environment)
        run(["go", "build", "-o", "bin/", "google.golang.org/protobuf/cmd/protoc-gen-go"],
            self.folder, **environment)
        self.protoc(*self.go_out())
        run(["go", "build", "-o", "bin/", "./driver"], self.folder, **environment)
        older = self.with_old_copy("go.mod", "go.sum", "cofferdamstate", "old")
        self.protoc(*self.go_out(), old=True, cwd=older)
        run(["go", "build", "-o", "../bin/", "./old"], older, **environment)

    def driver(self):
        return [self.folder / "bin/driver"]

    def old(self):
        return [self.folder / "bin/old"]


class JavaScript(Language):
    name = "javascript"
    tools = {**Language.tools, "node": "nodejs", "npm": "npm"}
    es_out = ["--plugin=node_modules/.bin/protoc-gen-es", "--es_out=.",
              "--es_opt=target=js,import_extension=js"]

    def make(self):
        fetch(["npm", "ci", "--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts"],
              self.folder)
        self.protoc(*self.es_out)
        older = self.with_old_copy("package.json", "cofferdam_state.js", "old.js")
        modules = older / "node_modules"
        if not modules.is_symlink():
            modules.symlink_to("../node_modules")
        self.protoc(*self.es_out, old=True, cwd=older)

    def driver(self):
        return ["node", self.folder / "driver.js"]

    def old(self):
        return ["node", self.folder / "with-old-schema/old.js"]


class Java(Language):
    name = "java"
    tools = {**Language.tools, "javac": "default-jdk-headless", "mvn": "maven"}

    def make(self):
        command = ["mvn", "-q", "-B", f"-Dschema={self.schema}", "process-classes"]
        try:
            run([*command, "--offline"], self.folder)
        except BuildFailed:
            self.make_online(command)
        older = self.folder / "with-old-schema"
        self.protoc("--java_out=.", old=True, cwd=older)
        sources = [*(older / "cofferdam").rglob("*.java"), *(self.folder / "old").rglob("*.java"),
                   self.folder / "src/main/java/example/CofferdamState.java"]
        run(["javac", "-nowarn", "--release", "17", "-encoding", "UTF-8", "-d", older / "classes",
             "-cp", "target/lib/*", *sources], self.folder)

    def make_online(self, command):
        for last in (False, True):
            try:
                run(command, self.folder)
                return
            except BuildFailed as failure:
                if not last:
                    continue
                found = OFFLINE.search(str(failure))
                if found:
                    line = str(failure)[found.start():].splitlines()[0]
                    raise Missing(f"its libraries could not be fetched: {line}") from failure
                raise

    def java(self, classes, main):
        # These programs live for a tenth of a second.
        return ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-cp",
                f"{self.folder / classes}:{self.folder / 'target/lib'}/*", main]

    def driver(self):
        return self.java("target/classes", "example.Driver")

    def old(self):
        return self.java("with-old-schema/classes", "example.Old")


class Rust(Language):
    name = "rust"
    tools = {**Language.tools, "cargo": "cargo-web", "rustc": "rustc-web", "cc": "gcc"}
    keeps_unknown_fields = False
    map_order = "random"

    def environment(self):
        return {"COFFERDAM_SCHEMA": str(self.schema),
                "CARGO_TARGET_DIR": str(self.folder / "target")}

    def make(self):
        fetch(["cargo", "fetch", "--locked", "--quiet"], self.folder, **self.environment())
        run(["cargo", "build", "--locked", "--offline", "--quiet"], self.folder,
            **self.environment())

    def driver(self):
        return [self.folder / "target/debug/driver"]

    def old(self):
        return [self.folder / "target/debug/old"]


# The slowest to build first.
ALL = [Rust, Java, Go, JavaScript, Python, DebianPython]
