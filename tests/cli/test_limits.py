# SPDX-License-Identifier: Apache-2.0
"""Limits, profiles and deadlines by the CLI, on a real engine."""

import json
import time

from real_engine import BUSYBOX, EngineTest, docker
from support import DRIFT, INVALID, OK


class Limits(EngineTest):
    def shown(self, state):
        return json.loads(self.expect(OK, "state", "show", state).stdout)

    def test_the_profile_and_what_it_was_resolved_to(self):
        state, container = self.create("s", "--profile", "hardened", "--memory", "64m", "--cpus",
                                       "0.5")
        options = self.shown(state)["options"]
        self.assertEqual((options["profile"], options["memoryBytes"], options["nanoCpus"],
                          options["pidsLimit"]), ("PROFILE_HARDENED", "67108864", "500000000", 256))
        self.assertIn("FEATURE_READ_ONLY_ROOT", self.shown(state)["requiredFeatures"])
        self.assertEqual(self.exec(state, "id", "-u").stdout, b"65532\n")
        docker("update", "--pids-limit", "300", container)
        self.refused(DRIFT, "resume", "--state", state,
                     says=["HostConfig.PidsLimit", "256", "300"])

    def test_demands(self):
        state, _ = self.create("s", "--memory", "64m", "--user", "1:1")
        for demand in (["--require-memory", "128m"], ["--require-memory", "64m"],
                       ["--require-user", "1:1"]):
            self.expect(OK, "resume", "--state", state, *demand)
        for demand, field in ((["--require-memory", "32m"], "memory_bytes"),
                              (["--require-user", "2:2"], "user"),
                              (["--require-read-only"], "read_only_root"),
                              (["--require-cpus", "8"], "nano_cpus")):
            self.refused(INVALID, "resume", "--state", state, *demand, says=field)

    def test_what_is_refused_before_the_engine_is_asked(self):
        for flags, says in ((["--memory", "1"], "memory_bytes"),
                            (["--memory", "64mb"], "memory_bytes"),
                            (["--cpus", "x"], "decimal"),
                            (["--tmpfs", "/tmp=dev"], "tmpfs[/tmp]"),
                            (["--ulimit", "nice=1:1"], "ulimits[nice]"),
                            (["--profile", "soft"], "accepted: hardened"),
                            (["--profile", "hardened", "--user", "root"], "user"),
                            (["--deadline", "1"], "deadline"),
                            (["--deadline", "tomorrow"], "a time is needed")):
            with self.subTest(flags):
                state = self.path("none")
                self.refused(INVALID, *self.create_arguments(state, *flags), says=says)
                self.assertFalse(state.exists())
        self.assertEqual(self.containers(), [])

    def test_a_deadline_and_reaping(self):
        state, container = self.create("s", "--deadline", "+6")
        deadline = int(self.shown(state)["options"]["deadline"])
        listed = self.expect(OK, "reap", "--dry-run").stdout.decode()
        self.assertNotIn(container, listed)
        time.sleep(max(0, deadline + 0.2 - time.time()))
        self.refused(INVALID, "resume", "--state", state, says=["deadline", "has passed", "reap"])
        self.refused(INVALID, "exec", "--state", state, "--", BUSYBOX, "true",
                     says="has passed")
        found = json.loads(self.expect(OK, "reap", "--dry-run", "--json").stdout)
        entry, = [one for one in found if one["container_id"] == container]
        self.assertEqual((entry["removed"], entry["failure"]), (False, None))
        self.assertEqual(entry["deadline"],
                         time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(deadline)))
        self.assertEqual(self.containers(), [container])
        said = self.expect(OK, "reap").stdout.decode()
        self.assertIn(f"removed {container} of session {entry['session_id']}", said)
        self.assertRegex(said, r"(?m)^\d+ removed$")
        self.assertEqual(self.containers(), [])
        self.expect(OK, "rm", "--state", state)
