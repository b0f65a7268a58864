# SPDX-License-Identifier: Apache-2.0
"""The agent as PID 1 of real sandboxes: what hostile code inside may try, and how it ends."""
import os
import subprocess
import tempfile
import time
import unittest

from client import Client, Closed, eventually, pb
from common import AGENT, ENGINE, Failed

if ENGINE:
    import engine
    from engine import AGENT as INSIDE, BUSYBOX, EMPTY, HARDENED, Sandbox, docker, empty_image

WORKSPACE = ["--tmpfs", "/workspace:rw,exec,mode=1777"]


def attacker():
    out = os.path.join(tempfile.mkdtemp(prefix="attacker-"), "attacker")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "attacker.c")
    subprocess.run(["musl-gcc", "-static", "-O1", "-w", source, "-o", out], check=True)
    with open(out, "rb") as program:
        return program.read()


def put(client, name, content):
    channel = client.open(write_file=pb.WriteFile(path=name, write_mode=pb.WRITE_MODE_REPLACE,
                                                  set_mode=True, mode=0o755))
    client.feed(channel, content)
    client.collect(channel)


def top(sandbox):
    return docker("top", sandbox.id)


def ticks(sandbox):
    """Of the agent's processor time, hundredths of a second."""
    with open("/proc/%s/stat" % docker("inspect", "-f", "{{.State.Pid}}", sandbox.id).strip()) as f:
        return sum(int(word) for word in f.read().rsplit(")", 1)[1].split()[11:13])


@unittest.skipUnless(ENGINE, "needs an engine")
class Hostile(unittest.TestCase):
    def both(self):
        for options in (WORKSPACE, WORKSPACE + HARDENED):
            sandbox = Sandbox(AGENT, BUSYBOX, options)
            self.addCleanup(sandbox.remove)
            client = sandbox.client()
            put(client, b"attacker", attacker())
            yield sandbox, client

    def attack(self, client, what, **options):
        return client.run(["/workspace/attacker", what], **options).out.decode()

    def test_nobody_inside_gets_in(self):
        for sandbox, c in self.both():
            for what in ("connect", "hand-over", "hidden", "child", "sibling",
                         "new-pid-namespace"):
                out = self.attack(c, what)
                self.assertNotIn("LET IN", out, what)
                self.assertTrue("refused" in out or "clone" in out, (what, out))
            r = c.run([INSIDE, "relay"])
            self.assertEqual(r.exit.code, 4)
            r = c.run(["/bin/sh", "-c", "cat %s > /workspace/copy && chmod 755 /workspace/copy && "
                       "/workspace/copy relay" % INSIDE])
            self.assertNotEqual(r.exit.code, 0)
            self.assertGreater(c.call(get_status=pb.GetStatus())[0].status.refused_peers, 4)
            self.assertEqual(c.call(get_status=pb.GetStatus())[0].status.clients, 1)

    def test_another_user_gets_in_nowhere(self):
        with Sandbox(AGENT, BUSYBOX, WORKSPACE) as sandbox:
            c = sandbox.client()
            put(c, b"attacker", attacker())
            out = self.attack(c, "hand-over", user=b"1000:1000")
            self.assertIn("refused", out)
            out = self.attack(c, "look", user=b"1000:1000")
            self.assertRegex(out, r"^tried [1-9]\d*\n$")
            d = sandbox.client(user="1000", hello=False)  # a relay of another user
            d.process.stdin.close()
            self.assertEqual(d.process.wait(20), 4)

    def test_a_program_put_in_by_the_engine_that_is_not_the_relay(self):
        for sandbox, c in self.both():
            out = docker("exec", sandbox.id, "/workspace/attacker", "hand-over")
            self.assertIn("refused", out)
            # As PROTOCOL.md says: one that hides its program cannot be told from a relay.

    def test_nothing_of_the_agent_can_be_looked_into(self):
        for sandbox, c in self.both():
            out = self.attack(c, "look")
            self.assertRegex(out, r"^tried [3-9]\n$")

    def test_relays_cannot_be_caught_young(self):
        # Root with CAP_DAC_OVERRIDE can read the program, so the kernel lets it look into the
        # process until that forbids it; but such a one is all that the agent is.
        for options in (HARDENED, ["--cap-drop", "ALL"]):
            sandbox = Sandbox(AGENT, BUSYBOX, WORKSPACE + options)
            self.addCleanup(sandbox.remove)
            c = sandbox.client()
            put(c, b"attacker", attacker())
            channel = c.start(["/workspace/attacker", "race"])
            for _ in range(12):
                sandbox.client().close()
            self.assertEqual(c.result(channel).out, b"caught 0 of 1\n")

    def test_signals_from_inside_do_not_reach_the_agent(self):
        for sandbox, c in self.both():
            self.assertEqual(self.attack(c, "kill-init"), "0000\n")
            self.assertEqual(c.run(["echo", "x"]).out, b"x\n")

    def test_a_killed_keeper_ends_its_command(self):
        for sandbox, c in self.both():
            r = c.run(["/workspace/attacker", "kill-keeper"])
            self.assertEqual(r.exit.signal, 9)
            self.assertTrue(eventually(
                lambda: b"attacker" not in c.run(["ps", "-o", "args"]).out))
            self.assertEqual(c.run(["echo", "x"]).out, b"x\n")
            self.assertTrue(eventually(
                lambda: c.call(get_status=pb.GetStatus())[0].status.running == 0))

    def test_an_agent_whose_limits_were_lowered_still_ends_what_it_is_to_end(self):
        for what in ("starve", "starve-memory"):
            for sandbox, c in self.both():
                c.start(["/workspace/attacker", what], timeout_ms=1000, grace_ms=100)
                self.assertTrue(eventually(lambda: "attacker" in top(sandbox)))
                # The relay goes as well: nothing can be told apart any more.
                self.assertTrue(eventually(lambda: "attacker" not in top(sandbox)), top(sandbox))

    def test_an_agent_without_descriptors_does_not_spin(self):
        for sandbox, c in self.both():
            c.start(["/workspace/attacker", "starve"])
            for _ in range(3):
                sandbox.client(hello=False)
            time.sleep(0.5)
            before = ticks(sandbox)
            time.sleep(1)
            self.assertLess(ticks(sandbox) - before, 20)

    def test_a_flood_of_connections(self):
        for sandbox, c in self.both():
            self.assertEqual(self.attack(c, "flood"), "flooded\n")
            d = sandbox.client()
            self.assertEqual(d.run(["echo", "x"]).out, b"x\n")

    def test_a_relay_that_is_killed_from_inside(self):
        for sandbox, c in self.both():
            d = sandbox.client()
            p = d.start(["sleep", "381"])
            d.started(p)
            d.send(900, start=pb.Start(inherit_env=True, argv=[
                b"/bin/sh", b"-c", b"ps -o pid,args | while read p a; do case \"$a\" in "
                b"*agent\\ relay) kill -9 $p;; esac; done"]))
            with self.assertRaises(Closed):
                d.collect(900)
                d.result(p)
            e = sandbox.client()
            self.assertTrue(eventually(
                lambda: b"sleep 381" not in e.run(["ps", "-o", "args"]).out))


@unittest.skipUnless(ENGINE, "needs an engine")
class Sandboxes(unittest.TestCase):
    def test_an_empty_image(self):
        for options in ([], HARDENED):
            with Sandbox(AGENT, empty_image(), options) as sandbox:
                c = sandbox.client()
                self.assertTrue(c.hello.init)
                r = c.run([INSIDE, "--version"])
                self.assertEqual((r.exit.code, r.out[:15]), (0, b"cofferdam-agent"))

    def test_the_first_client_on_our_own_streams(self):
        sandbox = Sandbox(AGENT, BUSYBOX, ["-i", "--log-driver", "none"], ["--stdio"], start=False)
        with sandbox:
            c = Client(["docker", "start", "-ai", sandbox.id])
            self.assertEqual(c.run(["cat"], data=b"x" * 1000000).out, b"x" * 1000000)
            d = sandbox.client()
            self.assertEqual(d.call(get_status=pb.GetStatus())[0].status.clients, 2)
            p = c.start(["sleep", "100"])
            c.started(p)
            c.process.kill()
            self.assertTrue(eventually(
                lambda: d.call(get_status=pb.GetStatus())[0].status.clients == 1))
            self.assertEqual(d.run(["echo", "x"]).out, b"x\n")
            self.assertTrue(eventually(
                lambda: d.call(get_status=pb.GetStatus())[0].status.running == 0))

    def test_deadline(self):
        for seconds in (3, 10, 60):
            deadline = int(time.time()) + seconds
            with Sandbox(AGENT, BUSYBOX, [], ["--deadline", str(deadline)]) as sandbox:
                try:
                    c = sandbox.client()
                    p = c.start(["sh", "-c", "trap '' TERM; while :; do sleep 1; done"])
                    c.started(p)
                except (Closed, OSError):
                    self.assertGreaterEqual(time.time(), deadline)
                    continue  # the engine took longer than that
                with self.assertRaises(Closed):
                    c.result(p)
                self.assertGreaterEqual(time.time(), deadline)
                self.assertTrue(eventually(lambda: not sandbox.inspect()["State"]["Running"]))
                self.assertEqual(sandbox.inspect()["State"]["ExitCode"], 124)
                return
        self.fail("the engine takes a minute to start something")

    def test_a_deadline_that_has_passed(self):
        with Sandbox(AGENT, BUSYBOX, [], ["--deadline", "1000"]) as sandbox:
            self.assertTrue(eventually(lambda: not sandbox.inspect()["State"]["Running"]))

    def test_stop(self):
        with Sandbox(AGENT, BUSYBOX, []) as sandbox:
            t = time.time()
            docker("stop", "-t", "60", sandbox.id)
            self.assertLess(time.time() - t, 50)
            self.assertEqual(sandbox.inspect()["State"]["ExitCode"], 0)
        with Sandbox(AGENT, BUSYBOX, [], ["--stop-grace-ms", "300"]) as sandbox:
            c = sandbox.client()
            c.started(c.start(["sh", "-c", "trap '' TERM; while :; do sleep 1; done"]))
            t = time.time()
            docker("stop", "-t", "60", sandbox.id)
            self.assertLess(time.time() - t, 50)

    def test_shutdown(self):
        with Sandbox(AGENT, BUSYBOX, []) as sandbox:
            c = sandbox.client()
            p = c.start(["sleep", "100"])
            c.started(p)
            self.assertEqual(c.call(shutdown=pb.Shutdown(grace_ms=1000)), [])
            self.assertEqual(c.result(p).exit.ended_by, pb.ENDED_BY_SHUTDOWN)
            self.assertTrue(eventually(lambda: not sandbox.inspect()["State"]["Running"]))

    def test_out_of_memory(self):
        options = ["--memory", "24m", "--memory-swap", "24m"]
        with Sandbox(AGENT, BUSYBOX, options) as sandbox:
            c = sandbox.client()
            r = c.run(["tail", "/dev/zero"])
            self.assertEqual(r.exit.signal, 9)
            self.assertTrue(r.exit.out_of_memory)
            r = c.run(["sh", "-c", "tail /dev/zero"])
            self.assertTrue(r.exit.out_of_memory)
            r = c.run(["sh", "-c", "kill -9 $$"])
            self.assertEqual((r.exit.signal, r.exit.out_of_memory), (9, False))

    def test_pids_limit(self):
        with Sandbox(AGENT, BUSYBOX, ["--pids-limit", "20"]) as sandbox:
            c = sandbox.client()
            started = failed = 0
            # One after the other: those that fail hold a process for a moment, too.
            for _ in range(30):
                try:
                    c.started(c.start(["sleep", "100"]))
                    started += 1
                except Failed as e:
                    self.assertEqual(e.code, pb.ERROR_CODE_NOT_STARTED)
                    self.assertEqual((e.step, e.errno), (pb.STEP_FORK, 11))
                    failed += 1
            self.assertGreater(started, 5)
            self.assertGreater(failed, 5)

    def test_the_workspace_is_made_when_it_is_needed(self):
        with Sandbox(AGENT, BUSYBOX) as sandbox:
            c = sandbox.client()
            self.assertEqual(c.hello.workspace, b"/workspace")
            docker("exec", sandbox.id, "test", "!", "-e", "/workspace")
            self.assertEqual(c.run(["pwd"]).out, b"/workspace\n")

    def test_users(self):
        with Sandbox(AGENT, BUSYBOX, WORKSPACE) as sandbox:
            c = sandbox.client()
            r = c.run(["id"], user=b"1234:2345", groups=[77])
            self.assertEqual(r.out, b"uid=1234 gid=2345 groups=77\n")
            docker("exec", sandbox.id, "sh", "-c", "mkdir -p /etc; echo 'u:x:1500:1600::/h:/s' > /etc/passwd; "
                   "printf 'g:x:1700:u,v\\nh:x:1800:\\n' > /etc/group")
            self.assertIn(b"uid=1500(u) gid=1600 groups=1700(g)", c.run(["id"], user=b"u").out)
            self.assertIn(b"uid=1500(u) gid=1800(h)", c.run(["id"], user=b"u:h").out)
            self.assertIn(b"uid=1500(u) gid=1600", c.run(["id"], user=b"1500").out)
            self.assertEqual(c.run(["sh", "-c", "echo $HOME"], user=b"u").out, b"/h\n")
            # A number is one, whatever bears it as a name.
            docker("exec", sandbox.id, "sh", "-c",
                   "for n in 1234 2345 4294967296; do echo $n:x:0:0::/:/s >> /etc/passwd; "
                   "echo $n:x:0: >> /etc/group; done")
            self.assertEqual(c.run(["id"], user=b"1234:2345").out, b"uid=1234 gid=2345\n")
            for user in b"4294967296", b"u:4294967296":
                with self.assertRaises(Failed):
                    c.run(["id"], user=user)
            docker("exec", sandbox.id, "sh", "-c", "rm /etc/passwd; mkfifo /etc/passwd")
            self.assertEqual(c.run(["echo", "x"], user=b"1500").out, b"x\n")
            with self.assertRaises(Failed):
                c.run(["id"], user=b"u")
            r = c.run(["cat", "/proc/self/status"], user=b"1500", no_new_privileges=True)
            self.assertIn(b"NoNewPrivs:\t1", r.out)
            self.assertIn(b"CapEff:\t0000000000000000", r.out)
            self.assertIn(b"Groups:\t \n", r.out)
        with Sandbox(AGENT, BUSYBOX, HARDENED) as sandbox:
            c = sandbox.client()
            self.assertEqual(c.run(["id", "-u"], user=b"1000").out, b"1000\n")
            with self.assertRaises(Failed) as caught:
                c.run(["id", "-u"], user=b"0")
            self.assertEqual(caught.exception.code, pb.ERROR_CODE_NOT_STARTED)

    def test_a_thousand_processes(self):
        with Sandbox(AGENT, BUSYBOX, []) as sandbox:
            c = sandbox.client()
            channels = [c.start(["sleep", "300"]) for _ in range(1000)]
            for channel in channels:
                c.started(channel)
            rss = int(sandbox.exec("grep", "VmRSS", "/proc/1/status").split()[1])
            t = time.time()
            c.process.kill()
            d = sandbox.client()
            self.assertTrue(eventually(
                lambda: d.call(get_status=pb.GetStatus())[0].status.running == 0))
            print("\n1000 processes: agent RSS %d KiB; all ended %.2f s after their client" % (
                rss, time.time() - t))
            count = ["sh", "-c", "ls -d /proc/[0-9]* | wc -l"]
            self.assertTrue(eventually(lambda: int(d.run(count).out) < 8))

    def test_nothing_grows(self):
        with Sandbox(AGENT, BUSYBOX, WORKSPACE) as sandbox:
            c = sandbox.client()

            def size():
                fds = len(sandbox.exec("ls", "/proc/1/fd").split())
                return fds, int(sandbox.exec("grep", "VmRSS", "/proc/1/status").split()[1])

            def work(count):
                for i in range(count):
                    c.run(["true"])
                    if i % 10 == 0:
                        c.run(["cat"], data=b"x" * 100000)
                        put(c, b"f", b"x" * 10000)
                        c.call(read_file=pb.ReadFile(path=b"f"))
                        try:
                            c.run(["nonexistent"])
                        except Failed:
                            pass
            work(500)
            before = size()
            work(3000)
            after = size()
            print("\ndescriptors, RSS KiB: %s then %s" % (before, after))
            self.assertEqual(before[0], after[0])
            self.assertLess(after[1], before[1] + 64)


if __name__ == "__main__":
    unittest.main()
