#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do the targets and libFuzzer find faults that were planted? check.py ROOT REPLAY PLANTED SEEDS

REPLAY and PLANTED replay files with the target `inspect`; PLANTED has planted/compare.c in it.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

ROOT, REPLAY, PLANTED, SEEDS = (pathlib.Path(argument) for argument in sys.argv[1:5])
HERE = pathlib.Path(__file__).resolve().parent
BASE = [ROOT / "runtime/base" / name for name in ("buffer.c", "fail.c", "utf8.c")]
FLAGS = ["-std=gnu11", "-g", "-O1", "-D_GNU_SOURCE", "-fsanitize=fuzzer,address,undefined",
         f"-I{ROOT}/runtime", f"-I{ROOT}/runtime/include", f"-I{ROOT}/generated/include",
         f"-I{HERE.parent}"]
count = 0


def say(good, name, output="", skip=""):
    global count
    count += 1
    print(f"{'ok' if good else 'not ok'} {count} - {name}{f' # SKIP {skip}' if skip else ''}")
    if not good:
        print("\n".join("# " + line for line in output.splitlines()[-40:]))


def run(*line, **more):
    done = subprocess.run([str(word) for word in line], stdout=subprocess.PIPE, check=False,
                          stderr=subprocess.STDOUT, text=True, errors="replace", **more)
    return done.returncode, done.stdout


def fuzz(program, place):
    """From one good stream, with the same numbers every time."""
    seeds = pathlib.Path(place, "seeds")
    seeds.mkdir(exist_ok=True)
    (seeds / "whole").write_bytes((SEEDS / "exec_stream" / "whole").read_bytes())
    return run(program, "-seed=1", "-runs=100000", f"-artifact_prefix={place}/", seeds, cwd=place)


def compile_target(source, program):
    return run("clang", *FLAGS, "-o", program, HERE.parent / "targets/exec_stream.c",
               HERE.parent / "fuzz.c", source, ROOT / "runtime/engine/exec_stream.c", *BASE)


def has_libfuzzer(place):
    source = pathlib.Path(place, "empty.c")
    source.write_text("#include <stdint.h>\n#include <stddef.h>\n"
                      "int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) "
                      "{ (void)d; (void)n; return 0; }\n")
    try:
        return run("clang", "-fsanitize=fuzzer,address", "-o", f"{place}/empty", source)[0] == 0
    except FileNotFoundError:
        return False


def main():
    reproducer = SEEDS / "inspect" / "two-networks"
    status, output = run(REPLAY, reproducer)
    say(status == 0, "the input that shows the planted fault is none for the real library", output)
    status, output = run(PLANTED, reproducer)
    say(status != 0 and "not true: json_is_object(networks)" in output,
        "it fails where the comparison overlooks a network", output)
    found = "fuzzing finds the fault that is planted in the demultiplexer"
    none = "and none where there is none"
    with tempfile.TemporaryDirectory() as place:
        if not has_libfuzzer(place):
            say(True, found, skip="no clang with libFuzzer")
            say(True, none, skip="no clang with libFuzzer")
        for name, source, faulty in ((found, HERE / "stdcopy.c", True),
                                     (none, ROOT / "runtime/engine/stdcopy.c", False)):
            if count >= 4:
                break
            program = pathlib.Path(place, f"fuzz-{source.parent.name}")
            status, output = compile_target(source, program)
            if status == 0:
                status, output = fuzz(program, place)
                good = "fuzz: " in output and "not true" in output if faulty else status == 0
            else:
                good = False
            say(good and (status != 0) == faulty, name, output)
    print(f"1..{count}")


if __name__ == "__main__":
    os.environ.pop("FUZZ_CHECKER_FD", None)
    main()
