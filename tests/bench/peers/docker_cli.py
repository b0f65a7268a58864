#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The docker command as a client of bench_live: docker_cli.py SCENARIO COUNT IMAGE."""

import resource
import subprocess
import sys
import time

BULK = 256 << 20
SMALL = 4096
ENTRIES = 10000
START = ["run", "-d", "--init", "--network", "none", "--entrypoint", "tail"]


def docker(*argv, **options):
    return subprocess.run(["docker", *argv], check=True, **options)


def start(image):
    return docker(*START, image, "-f", "/dev/null", stdout=subprocess.PIPE, text=True).stdout.strip()


def at_once(names, width):
    running = [subprocess.Popen(["docker", "exec", names[i % len(names)], "true"])
               for i in range(width)]
    if any([process.wait() for process in running]):
        sys.exit("a command failed")


def put(name, size):
    """docker cp takes a stream only as a tar archive, so this is how people do it."""
    source = subprocess.Popen(["head", "-c", str(size), "/dev/zero"], stdout=subprocess.PIPE)
    docker("exec", "-i", name, "sh", "-c", "cat >/workspace/file", stdin=source.stdout)
    source.wait()


def once(scenario, names):
    if scenario.startswith("at-once-"):
        at_once(names, int(scenario.rsplit("-", 1)[1]))
    elif scenario == "true":
        docker("exec", names[0], "true")
    elif scenario == "stdout":
        docker("exec", names[0], "head", "-c", str(BULK), "/dev/zero", stdout=subprocess.DEVNULL)
    elif scenario == "stdin":
        source = subprocess.Popen(["head", "-c", str(BULK), "/dev/zero"], stdout=subprocess.PIPE)
        docker("exec", "-i", names[0], "sh", "-c", "cat >/dev/null", stdin=source.stdout)
        source.wait()
    elif scenario in ("write4k", "write256"):
        put(names[0], SMALL if scenario == "write4k" else BULK)
    elif scenario in ("read4k", "read256"):
        docker("cp", f"{names[0]}:/workspace/file", "-", stdout=subprocess.DEVNULL)
    elif scenario == "list":
        docker("exec", names[0], "ls", "-la", "/workspace/many", stdout=subprocess.DEVNULL)
    else:
        sys.exit(f"unknown scenario {scenario}")


def first(image):
    """From create to the end of the first command."""
    began = time.monotonic_ns()
    name = start(image)
    docker("exec", name, "true")
    wall = time.monotonic_ns() - began
    docker("rm", "-f", name, stdout=subprocess.DEVNULL)
    return wall


def prepare(scenario, name):
    docker("exec", name, "mkdir", "-p", "/workspace")
    if scenario in ("read4k", "read256"):
        put(name, SMALL if scenario == "read4k" else BULK)
    if scenario == "list":
        docker("exec", name, "sh", "-c", "mkdir /workspace/many && cd /workspace/many && "
                                         f"seq {ENTRIES} | xargs touch")


def cpu_ns():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return int((used.ru_utime + used.ru_stime) * 1e9)


def measure(scenario, count, image):
    if scenario == "first":
        return sum(first(image) for _ in range(count)), 0
    names = [start(image) for _ in range(16 if scenario == "at-once-in-16-128" else 1)]
    try:
        prepare(scenario, names[0])
        cpu, began = cpu_ns(), time.monotonic_ns()
        for _ in range(count):
            once(scenario, names)
        return time.monotonic_ns() - began, cpu_ns() - cpu
    finally:
        for name in names:
            docker("rm", "-f", name, stdout=subprocess.DEVNULL)


def main():
    wall, cpu = measure(sys.argv[1], int(sys.argv[2]), sys.argv[3])
    print(wall, cpu, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)


if __name__ == "__main__":
    main()
