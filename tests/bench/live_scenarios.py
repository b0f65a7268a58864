# SPDX-License-Identifier: Apache-2.0
"""Live sandboxes: commands and files through the agent, against the engine's own exec and archive
calls made by hand (the floor of every client without an agent), and against other clients."""

import os
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
# A stream to a process in the sandbox is all that an agent has: what it could reach at most.
BY_EXEC = "engine, by exec"
# Scenario, repetitions a turn (ours and the floor's), turns, what it is.
SCENARIOS = [
    ("first", 3, 3, "create to the end of the first `true`"),
    ("true", 20, 3, "`true`, one after the other"),
    ("at-once-in-1-16", 1, 3, "16 commands at once, one sandbox"),
    ("at-once-in-1-128", 1, 3, "128 commands at once, one sandbox"),
    ("at-once-in-16-16", 1, 3, "16 at once, one in each of 16 sandboxes"),
    ("at-once-in-16-128", 1, 3, "128 at once in 16 sandboxes"),
    ("stdout", 1, 3, "256 MiB of a command's output"),
    ("stdin", 1, 3, "256 MiB of a command's input"),
    ("write4k", 20, 3, "write a file of 4 KiB"),
    ("read4k", 20, 3, "read a file of 4 KiB"),
    ("write256", 1, 3, "write a file of 256 MiB"),
    ("read256", 1, 3, "read a file of 256 MiB"),
    ("list", 3, 3, "list 10,000 names with attributes"),
]


def find_dockerode(build):
    place = build / "bench-peers"
    found = shutil.which("node") and (place / "node_modules/dockerode").is_dir()
    return ["node", place / "dockerode.mjs"] if found else None


def find_docker_py():
    for python in ("/usr/bin/python3", "python3"):
        if subprocess.run([python, "-c", "import docker"], stderr=subprocess.DEVNULL).returncode == 0:
            return [python, HERE / "peers/docker_py.py"]
    return None


def find_clients(build):
    floor = build / "tests/bench/bench_live_floor"
    clients = {"engine": [floor], BY_EXEC: ["env", "BENCH_BY_EXEC=1", floor],
               "cofferdam": [build / "tests/bench/bench_live_cofferdam"],
               "docker-py": find_docker_py(), "dockerode": find_dockerode(build),
               "docker": ["python3", HERE / "peers/docker_cli.py"]}
    for name in [name for name, command in clients.items() if not command]:
        print(f"{name}: not at hand")
        del clients[name]
    return clients


def measure(command, scenario, count, image):
    out = subprocess.run([*map(str, command), scenario, str(count), image], check=True,
                         stdout=subprocess.PIPE, text=True, timeout=600).stdout
    wall, cpu, peak = map(int, out.split())
    return wall / count / 1e6, cpu / count / 1e6, peak / 1024


def bench_scenario(clients, scenario, count, turns, image, row):
    seen = {name: [] for name in clients}
    names = list(clients)
    for turn in range(turns):
        # Whoever goes first meets another engine than whoever goes last: rotate.
        for name in names[turn % len(names):] + names[:turn % len(names)]:
            seen[name].append(measure(clients[name], scenario, count, image))
    middle = {name: [statistics.median(s[i] for s in samples) for i in range(3)]
              for name, samples in seen.items()}
    for name, (wall, cpu, peak) in middle.items():
        row(f"  {name}", f"{wall:.2f}", f"{wall / middle['engine'][0]:.3f}", f"{cpu:.2f}",
            f"{peak:.1f}")


def show_agent(build, image):
    """Its memory after a few commands, and the size of its program."""
    cli = build / "runtime/cli/cofferdam"
    with tempfile.TemporaryDirectory() as directory:
        state = ["--state", f"{directory}/state"]
        subprocess.run([cli, "create", "--image", image, "--network", "none", *state], check=True,
                       stdout=subprocess.DEVNULL)
        try:
            status = subprocess.run([cli, "exec", *state, "--", "cat", "/proc/1/status"], check=True,
                                    stdout=subprocess.PIPE, text=True).stdout
        finally:
            subprocess.run([cli, "rm", *state], check=True, stdout=subprocess.DEVNULL)
    memory = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:"))
    agents = sorted((build / "runtime/agent").glob("cofferdam-agent-*64"))
    print(f"\nThe agent: {memory} KiB resident;",
          "; ".join(f"{a.name} has {os.path.getsize(a) / 1024:.0f} KiB" for a in agents))


def bench_live(build, image, row):
    clients = find_clients(build)
    print("\nIn live sandboxes; the engine's own exec and archive by hand are the floor of clients"
          "\nwithout an agent\n")
    row("", "wall ms", "to engine", "CPU ms", "peak MiB")
    for scenario, count, turns, text in SCENARIOS:
        print(f"{scenario}: {text}")
        chosen = {name: command for name, command in clients.items()
                  if name != BY_EXEC or scenario in ("read256", "write256")}
        bench_scenario(chosen, scenario, count, turns, image, row)
    show_agent(build, image)
