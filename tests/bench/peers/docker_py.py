#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docker-py as a client of bench_live: docker_py.py SCENARIO COUNT IMAGE."""

import io
import resource
import socket
import sys
import tarfile
import time
from concurrent.futures import ThreadPoolExecutor

import docker

BULK = 256 << 20
SMALL = 4096
ENTRIES = 10000


class Zeros(io.RawIOBase):
    """A file of zeros in constant memory."""

    def __init__(self, length):
        self.left = length

    def readable(self):
        return True

    def readinto(self, buffer):
        count = min(len(buffer), self.left)
        buffer[:count] = bytes(count)
        self.left -= count
        return count


def must(code, what):
    if code != 0:
        sys.exit(f"{what} ended with {code}")


class Sandbox:
    def __init__(self, client, image):
        self.api = client.api
        self.container = client.containers.run(
            image, ["-f", "/dev/null"], entrypoint="tail", init=True, network_mode="none",
            detach=True)

    def run(self, *argv):
        must(self.container.exec_run(list(argv)).exit_code, argv[0])

    def true(self):
        self.run("true")

    def stdout(self):
        _, stream = self.container.exec_run(["head", "-c", str(BULK), "/dev/zero"], stream=True)
        if sum(map(len, stream)) != BULK:
            sys.exit("output is missing")

    def stdin(self):
        exec_id = self.api.exec_create(self.container.id, ["sh", "-c", "cat >/dev/null"],
                                       stdin=True)["Id"]
        stream = self.api.exec_start(exec_id, socket=True)
        piece = bytes(65536)
        for _ in range(BULK // len(piece)):
            stream._sock.sendall(piece)
        stream._sock.shutdown(socket.SHUT_WR)
        while stream._sock.recv(65536):
            pass
        must(self.api.exec_inspect(exec_id)["ExitCode"], "cat")

    def write(self, size):
        # One file as a tar stream, in constant memory.
        entry = tarfile.TarInfo("file")
        entry.size = size
        head = entry.tobuf()
        self.container.put_archive("/workspace", chain(head, Zeros(size), bytes(1024)))

    def read(self, size):
        stream, _ = self.container.get_archive("/workspace/file")
        if sum(map(len, stream)) < size:
            sys.exit("content is missing")

    def list(self):
        code, output = self.container.exec_run(["ls", "-la", "/workspace/many"])
        must(code, "ls")
        if len(output.splitlines()) < ENTRIES:
            sys.exit("names are missing")


def chain(head, content, tail):
    yield head
    while piece := content.read(65536):
        yield piece
    yield tail


def prepare(scenario, box):
    box.run("mkdir", "-p", "/workspace")
    if scenario in ("read4k", "read256"):
        size = SMALL if scenario == "read4k" else BULK
        box.run("sh", "-c", f"head -c {size} /dev/zero >/workspace/file")
    if scenario == "list":
        box.run("sh", "-c", f"mkdir /workspace/many && cd /workspace/many && seq {ENTRIES} | "
                            "xargs touch")


def once(scenario, boxes):
    box = boxes[0]
    if scenario.startswith("at-once-"):
        width = int(scenario.rsplit("-", 1)[1])
        with ThreadPoolExecutor(width) as pool:
            list(pool.map(lambda i: boxes[i % len(boxes)].true(), range(width)))
    elif scenario in ("write4k", "write256"):
        box.write(SMALL if scenario == "write4k" else BULK)
    elif scenario in ("read4k", "read256"):
        box.read(SMALL if scenario == "read4k" else BULK)
    else:
        getattr(box, scenario)()


def first(client, image):
    """From create to the end of the first command."""
    began = time.monotonic_ns()
    box = Sandbox(client, image)
    box.true()
    wall = time.monotonic_ns() - began
    box.container.remove(force=True)
    return wall


def cpu_ns():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return int((used.ru_utime + used.ru_stime) * 1e9)


def peak_kib():
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))


def measure(scenario, count, client, image):
    if scenario == "first":
        return sum(first(client, image) for _ in range(count)), 0
    wide = 16 if scenario == "at-once-in-16-128" else 1
    boxes = [Sandbox(client, image) for _ in range(wide)]
    try:
        prepare(scenario, boxes[0])
        if count > 1:
            once(scenario, boxes)
        cpu, began = cpu_ns(), time.monotonic_ns()
        for _ in range(count):
            once(scenario, boxes)
        return time.monotonic_ns() - began, cpu_ns() - cpu
    finally:
        for box in boxes:
            box.container.remove(force=True)


def main():
    scenario, count, image = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    wall, cpu = measure(scenario, count, docker.from_env(max_pool_size=128), image)
    print(wall, cpu, peak_kib())


if __name__ == "__main__":
    main()
