# SPDX-License-Identifier: Apache-2.0
"""Where the tests get an agent from. AGENT is the program (and AGENT_RUNNER what runs it, such as
an emulator); with AGENT_ENGINE=1 it is PID 1 in a sandbox on a real engine, else it serves on its
standard input and output."""
import os
import shutil
import tempfile
import unittest

from client import Client, Failed, eventually, pb  # noqa: F401

AGENT = os.environ.get("AGENT", "")
RUNNER = os.environ.get("AGENT_RUNNER", "").split()
ENGINE = os.environ.get("AGENT_ENGINE") == "1"


class Case(unittest.TestCase):
    """One agent for each class, one client for each test."""
    options = []

    @classmethod
    def setUpClass(cls):
        cls.sandbox = None
        cls.workspace = None
        if ENGINE:
            import engine
            options = engine.HARDENED if os.environ.get("AGENT_HARDENED") == "1" else []
            options = options + ["--tmpfs", "/workspace:rw,exec,mode=1777"]
            cls.sandbox = engine.Sandbox(AGENT, engine.BUSYBOX, options)
        else:
            cls.workspace = tempfile.mkdtemp(prefix="agent-workspace-")

    @classmethod
    def tearDownClass(cls):
        if cls.sandbox:
            cls.sandbox.remove()
        if cls.workspace:
            shutil.rmtree(cls.workspace, ignore_errors=True)

    def open(self, **options):
        if self.sandbox:
            client = self.sandbox.client(**options)
        else:
            client = Client([*RUNNER, AGENT, "serve-stdio", "--workspace", self.workspace],
                            **options)
        self.addCleanup(client.close)
        return client

    def setUp(self):
        self.c = self.open()

    def fails(self, code, call, errno=None):
        with self.assertRaises(Failed) as caught:
            call()
        self.assertEqual(pb.ErrorCode.Name(caught.exception.code), "ERROR_CODE_" + code,
                         str(caught.exception))
        if errno is not None:
            self.assertEqual(caught.exception.errno, errno)
        return caught.exception


def needs_engine(test):
    """Only where the agent is PID 1 there is such a test at all."""
    return test if ENGINE else None
