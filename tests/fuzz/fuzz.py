#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the fuzz targets that tests/fuzz/run has built; two at a time.

First the machinery has to find a fault that was planted. Inputs that turned out interesting are
kept in build-fuzz/corpus/ and are where the next run begins; whatever fails is kept in
build-fuzz/findings/. Ends with status 1 when anything was found.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build-fuzz"
PROGRAMS = BUILD / "tests" / "fuzz"
SEEDS, CORPORA = PROGRAMS / "seeds", HERE / "corpora"
FOUND, KEPT = BUILD / "findings", BUILD / "corpus"
TARGETS = sorted(path.stem for path in (HERE / "targets").glob("*.c"))
# What these accept is judged by checker.py while they run.
CHECKED = {"create_body", "protojson", "state", "textproto"}
MAX_INPUT, MAX_KEPT = 4096, 1024
SANITIZERS = {
    "ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1:detect_stack_use_after_return=1",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
}
Outcome = collections.namedtuple("Outcome", "target status seconds executions coverage inputs log")


def command(program, *arguments):
    # Memory randomized too far is more than sanitizers can take on some kernels.
    fixed = ["setarch", "-R"]
    if subprocess.run([*fixed, "true"], capture_output=True, check=False).returncode != 0:
        fixed = []
    return [*fixed, str(PROGRAMS / f"fuzz_{program}"), *map(str, arguments)]


def number(pattern, log):
    found = re.findall(pattern, log)
    return int(found[-1]) if found else 0


def fuzz(target, seconds):
    found, kept = FOUND / target, KEPT / target
    found.mkdir(parents=True, exist_ok=True)
    kept.mkdir(parents=True, exist_ok=True)
    line = command(target, f"-max_total_time={seconds}", f"-max_len={MAX_INPUT}", "-timeout=60",
                   "-print_final_stats=1", f"-artifact_prefix={found}/", kept, SEEDS / target,
                   CORPORA / target)
    dictionary = HERE / "dictionaries" / target
    if dictionary.exists():
        line.insert(-3, f"-dict={dictionary}")
    if target in CHECKED:
        line = [sys.executable, str(HERE / "checker.py"), target, *line]
    path = BUILD / f"{target}.log"
    with path.open("wb") as log:
        program = subprocess.Popen(line, cwd=found, stdout=log, stderr=log, env={
            **os.environ, **SANITIZERS, "FUZZ_ARTIFACTS": str(found)})
        _, status, usage = os.wait4(program.pid, 0)
        program.returncode = os.waitstatus_to_exitcode(status)
    log = path.read_text(errors="replace")
    return Outcome(target, program.returncode, usage.ru_utime + usage.ru_stime,
                   number(r"number_of_executed_units: (\d+)", log),
                   number(r" cov: (\d+)", log), number(r" corp: (\d+)", log), log)


def find_planted():
    """The fault in planted/compare.c, from one good answer of an engine."""
    with tempfile.TemporaryDirectory() as place:
        seeds = pathlib.Path(place, "seeds")
        seeds.mkdir()
        shutil.copy(SEEDS / "inspect" / "bare", seeds)
        done = subprocess.run(command("planted", "-seed=1", "-runs=300000", "-max_total_time=120",
                                      "-print_final_stats=1", f"-artifact_prefix={place}/", seeds),
                              capture_output=True, check=False, env={**os.environ, **SANITIZERS})
    log = done.stderr.decode(errors="replace")
    found = done.returncode != 0 and "not true: json_is_object(networks)" in log
    runs = number(r"number_of_executed_units: (\d+)", log)
    print("planted fault:", f"found after {runs} executions" if found else "NOT FOUND", flush=True)
    return found


def report(outcome):
    print(f"{outcome.target:16} {outcome.executions:>12,} executions  "
          f"{outcome.seconds:>6.0f} s of processor  {outcome.coverage:>5} edges  "
          f"{outcome.inputs:>5} inputs  {'ok' if outcome.status == 0 else 'FOUND SOMETHING'}",
          flush=True)
    if outcome.status != 0:
        print("\n".join("  | " + line[:300] for line in outcome.log.splitlines()[-40:]))
        print(f"  reproducers: {FOUND / outcome.target}/\n  again: "
              f"{PROGRAMS / ('fuzz_' + outcome.target)} FILE", flush=True)


def minimise(target):
    """Adds to the committed corpus what reaches code that neither it nor the seeds reach."""
    corpus = CORPORA / target
    with tempfile.TemporaryDirectory() as place:
        merged = pathlib.Path(place, "merged")
        shutil.copytree(SEEDS / target, merged)
        shutil.copytree(corpus, merged, dirs_exist_ok=True)
        before = set(merged.iterdir())
        subprocess.run(command(target, "-merge=1", "-use_counters=0", f"-max_len={MAX_KEPT}",
                               merged, KEPT / target),
                       capture_output=True, check=True, env={**os.environ, **SANITIZERS})
        new = set(merged.iterdir()) - before
        for path in new:
            name = "found-" + hashlib.sha256(path.read_bytes()).hexdigest()[:12]
            shutil.copyfile(path, corpus / name)
    print(f"{target}: {len(new)} inputs added to {corpus}")


def main():
    parser = argparse.ArgumentParser(prog="./dev fuzz", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--time", type=int, default=60, metavar="S",
                        help="seconds for each target (default: 60)")
    parser.add_argument("--minimise", action="store_true",
                        help="then add what reaches new code to the corpora in tests/fuzz/corpora/")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    arguments = parser.parse_args()
    targets = arguments.targets or TARGETS
    for target in targets:
        if target not in TARGETS:
            parser.error(f"there is no target called {target}; there are {', '.join(TARGETS)}")
    good = find_planted()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for outcome in pool.map(lambda target: fuzz(target, arguments.time), targets):
            report(outcome)
            good = good and outcome.status == 0
    if arguments.minimise:
        for target in targets:
            minimise(target)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
