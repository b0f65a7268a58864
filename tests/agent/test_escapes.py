# SPDX-License-Identifier: Apache-2.0
"""Commands that have the agent's user and do not want to end: nothing of them is left."""
import os
import shutil
import subprocess
import tempfile
import time
import unittest

from client import eventually, pb
from common import Case, needs_engine

EMULATED = bool(os.environ.get("AGENT_RUNNER"))
HERE = os.path.dirname(os.path.abspath(__file__))


class Escapes(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.build = tempfile.mkdtemp(prefix="escapist-")
        cls.escapist = os.path.join(cls.build, "escapist")
        subprocess.run(["musl-gcc", "-static", "-O1", "-w", os.path.join(HERE, "escapist.c"),
                        "-o", cls.escapist, "-lpthread"], check=True)

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        shutil.rmtree(cls.build)

    def setUp(self):
        super().setUp()
        if not self.sandbox:
            return
        put = self.c.open(write_file=pb.WriteFile(
            path=b"escapist", write_mode=pb.WRITE_MODE_REPLACE, set_mode=True, mode=0o755))
        with open(self.escapist, "rb") as program:
            self.c.feed(put, program.read())
        self.c.collect(put)

    def start(self, how, **options):
        path = "/workspace/escapist" if self.sandbox else self.escapist
        channel = self.c.start([path, how], **options)
        message = self.c.started(channel)
        return channel, message.process_id

    def test_a_process_without_its_main_thread(self):
        channel, process_id = self.start("without-main-thread", timeout_ms=300, grace_ms=200)
        self.assertEqual(self.c.result(channel).exit.ended_by, pb.ENDED_BY_TIMEOUT)
        channel, process_id = self.start("without-main-thread")
        time.sleep(0.1)
        self.c.call(signal=pb.Signal(process_id=process_id, signal=9, target=pb.TARGET_TREE))
        self.assertEqual(self.c.result(channel).exit.signal, 9)

    @unittest.skipIf(EMULATED, "an emulated agent knows no subreapers")
    def test_a_keeper_that_is_killed_after_its_command(self):
        channel, process_id = self.start("kill-keeper-late", timeout_ms=300, grace_ms=600000)
        # What has got away would hold the output open.
        result = self.c.result(channel)
        self.assertEqual(result.exit.ended_by, pb.ENDED_BY_TIMEOUT)
        self.assertEqual(sorted(result.ends), [1, 2])

    def test_a_stopped_keeper(self):
        channel, process_id = self.start("stop-keeper", timeout_ms=300)
        self.assertEqual(self.c.result(channel).exit.ended_by, pb.ENDED_BY_TIMEOUT)

    @needs_engine
    def test_a_keeper_that_is_killed_before_its_command_is_one(self):
        killed = 0
        for _ in range(3):
            attack, _ = self.start("kill-keeper-early")
            time.sleep(0.1)
            channel = self.c.start(["/bin/sleep", "373"], timeout_ms=60000)
            time.sleep(0.2)  # the attacker has to guess the numbers
            others = [self.c.start(["/bin/sh", "-c", "echo %d; exit %d" % (i, i)],
                                   env=[b"A=" + b"a" * 100 * i]) for i in range(8)]
            for i, other in enumerate(others):
                result = self.c.result(other)
                self.assertEqual((result.out, result.exit.code), (b"%d\n" % i, i))
            killed += b"killed" in self.c.result(attack).out
            self.c.send(channel, cancel=pb.Cancel())
            self.assertEqual(self.c.result(channel).exit.signal in (9, 15), True)
            self.assertTrue(eventually(
                lambda: self.c.call(get_status=pb.GetStatus())[0].status.running == 0))
            self.assertNotIn(b"373", self.c.run(["/bin/ps", "-o", "args"]).out)
        self.assertGreater(killed, 0)

    @needs_engine
    def test_signals_in_the_engines_name(self):
        channel, _ = self.start("signal-as-outsider")
        self.assertIn(b"0 ", self.c.result(channel).out)
        time.sleep(0.2)
        self.assertEqual(self.c.run(["/bin/true"]).exit.code, 0)
        self.assertTrue(self.sandbox.inspect()["State"]["Running"])
