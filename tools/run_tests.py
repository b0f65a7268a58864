#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of the build trees that ./dev test made, and sums up their cases.

The trees run side by side: most tests wait for an engine more than they work. A test that looks at
the library as it is shipped runs in build-release; tests of threads run in build-tsan and, with all
others, in build-asan. The last line is "N passed, N failed", with ", N skipped" when there are any.
In CI a skipped case is a failure.
"""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROCESSES = {"asan": "5", "release": "6", "tsan": "1"}
RELEASE_SUITES = {"abi", "install", "headers", "docs", "oom"}
ENVIRONMENT = {
    "ASAN_OPTIONS": "abort_on_error=1:detect_leaks=1:detect_stack_use_after_return=1:"
    "allocator_may_return_null=1",
    "UBSAN_OPTIONS": "halt_on_error=1:abort_on_error=1:print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
    # There is no network where the tests run; what is not fetched yet is not to be had.
    "npm_config_fetch_retries": "0",
}
# A skip for these reasons is nobody's fault, not even in CI: a registry was out of reach; an
# emulator is none of the machine that it plays.
EXPECTED_SKIP = re.compile("could not be (fetched|installed)|an emulated agent ")


def belongs(tree, suites):
    if tree == "release":
        return bool(suites & RELEASE_SUITES)
    if tree == "tsan":
        return "threads" in suites
    return not suites & RELEASE_SUITES


def tests_of(tree, wanted):
    """Their names, in the order in which `meson test` is to begin them, and the wanted that were
    met."""
    listed = subprocess.run(
        ["meson", "introspect", "--tests", f"build-{tree}"],
        cwd=ROOT, check=True, capture_output=True, text=True).stdout
    chosen, met = {}, set()
    for test in json.loads(listed):
        suites = {suite.split(":")[-1] for suite in test["suite"]}
        if not belongs(tree, suites):
            continue
        hits = wanted & (suites | {test["name"]})
        if hits or not wanted:
            chosen[test["name"]] = max(test["priority"], chosen.get(test["name"], 0))
            met |= hits
    return sorted(chosen, key=lambda name: (-chosen[name], name)), met


class Tally:
    def __init__(self):
        self.passed, self.skipped, self.failed = 0, [], []


def relay(tree, lines):
    """The lines of several trees mix; each says whose it is."""
    for line in lines:
        if line.strip():
            print(f"{tree:8}{line}", end="", flush=True)


def run_tree(tree, names):
    """Returns the exit status and the seconds that it took."""
    for stale in (ROOT / f"build-{tree}" / "meson-logs").glob("testlog*"):
        stale.unlink()
    # Memory randomized too far is more than gcc 12's sanitizers can take on some kernels.
    fixed = ["setarch", "-R"]
    if subprocess.run([*fixed, "true"], capture_output=True, check=False).returncode != 0:
        fixed = []
    begun = time.monotonic()
    # A test that hangs is ended, and so is told; one that is slow on a busy machine has time.
    with subprocess.Popen(
            [*fixed, "meson", "test", "-C", f"build-{tree}", "--no-rebuild", "--timeout-multiplier",
             "3", "--num-processes", PROCESSES[tree], *names],
            cwd=ROOT, env={**os.environ, **ENVIRONMENT}, text=True, errors="replace",
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as run:
        relay(tree, run.stdout)
    return run.returncode, time.monotonic() - begun


def run_trees(chosen, tally):
    outcomes = {}

    def run(tree):
        outcomes[tree] = run_tree(tree, chosen[tree])

    threads = [threading.Thread(target=run, args=[tree]) for tree in chosen]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print()
    for tree, names in chosen.items():
        status, seconds = outcomes.get(tree, (None, 0))
        before = len(tally.failed)
        collect(tree, tally)
        if status != 0 and len(tally.failed) == before:
            tally.failed.append((f"{tree}: meson test ended with status {status}", ""))
        print(f"== build-{tree}: {len(names)} tests in {seconds:.0f} s", flush=True)


def tap_cases(output):
    """Pairs of name and "ok", "failed" or "skipped"; CMocka 1.1.5 says "not ok N # SKIP name"."""
    for line in output.splitlines():
        found = re.match(r"(not )?ok\b *(\d*)(?: - )? *(.*)", line)
        if not found:
            continue
        name, _, directive = found[3].partition("# SKIP")
        if "# SKIP" in found[3]:
            yield f"{name.strip()} {directive.strip()}".strip(), "skipped"
        else:
            yield found[3], "failed" if found[1] else "ok"


def unittest_counts(output):
    """Passed and skipped cases of a Python program, or None."""
    ran = re.search(r"^Ran (\d+) tests? in", output, re.MULTILINE)
    if not ran:
        return None
    counts = {key: int(value) for key, value in re.findall(
        r"\b(failures|errors|skipped)=(\d+)", output[ran.end():])}
    skipped = counts.get("skipped", 0)
    return int(ran[1]) - sum(counts.values()), skipped


def around(record, name):
    """What a program says before and after it reports a case, and the end of its stderr."""
    lines = (record.get("stdout") or "").splitlines()
    at = next((i for i, line in enumerate(lines)
               if line.startswith("not ok") and line.endswith(name)), 0)
    end = next((i for i in range(at + 1, len(lines)) if re.match(r"(not )?ok\b", lines[i])),
               len(lines))
    said = lines[max(0, at - 5):end]
    return "\n".join(cut(said, 60) + cut((record.get("stderr") or "").splitlines(), 60))


def cut(lines, count):
    """The beginning says what went wrong, and the end what came of it."""
    if len(lines) <= count:
        return lines
    return lines[:count // 3] + ["[...]"] + lines[-(count - count // 3):]


def collect(tree, tally):
    """Every case that a program reports, and the program itself when it ended badly otherwise."""
    log = ROOT / f"build-{tree}" / "meson-logs" / "testlog.json"
    for line in log.read_text(errors="replace").splitlines() if log.exists() else []:
        record = json.loads(line)
        program = record["name"].split(" / ")[-1].split(":")[-1]
        output = (record.get("stdout") or "") + (record.get("stderr") or "")
        label, result = f"{tree}: {program}", record["result"]
        good = result in ("OK", "SKIP", "EXPECTEDFAIL")
        cases = list(tap_cases(record.get("stdout") or ""))
        failed = [name for name, verdict in cases if verdict == "failed"]
        skipped = [name for name, verdict in cases if verdict == "skipped"]
        tally.failed += [(f"{label}: {name}", around(record, name)) for name in failed]
        tally.skipped += [f"{label}: {name}" for name in skipped]
        tally.passed += sum(verdict == "ok" for _, verdict in cases)
        counts = unittest_counts(output)
        if not cases and counts:
            tally.passed += counts[0]
            tally.skipped += [f"{label}: {counts[1]} cases of it"] if counts[1] else []
        elif not cases and result == "SKIP":
            tally.skipped.append(label)
        elif not cases and good:
            tally.passed += 1
        only_skipped = skipped and result == "FAIL" and record.get("returncode") == 0
        if not good and not failed and not only_skipped:
            tally.failed.append((f"{label} as a whole ({result})", output))


def report(tally, strict):
    shown = None
    for label, output in tally.failed:
        print(f"\nFAILED {label}")
        if output and output != shown:
            print("\n".join("  | " + line for line in cut(output.splitlines(), 130)))
        shown = output
    unexpected = [label for label in tally.skipped if strict and not EXPECTED_SKIP.search(label)]
    for label in tally.skipped:
        print(f"SKIPPED {label}" + (" (a failure in CI)" if label in unexpected else ""))
    failed = len(tally.failed) + len(unexpected)
    skipped = len(tally.skipped) - len(unexpected)
    print(f"\n{tally.passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or not tally.passed else 0


def restore_signals():
    """Whoever starts this in the background may have them ignored, and so would all tests."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def main(arguments):
    restore_signals()
    wanted, tally, chosen = set(arguments), Tally(), {}
    unmet = set(wanted)
    for tree in PROCESSES:
        names, met = tests_of(tree, wanted)
        unmet -= met
        if names:
            chosen[tree] = names
    run_trees(chosen, tally)
    for name in sorted(unmet):
        tally.failed.append((f"there is no test or suite called {name}", ""))
    return report(tally, os.environ.get("CI") == "true")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
