# SPDX-License-Identifier: Apache-2.0
import errno
import os
import signal
import sys
import time
import unittest

from common import Case, Failed, eventually, needs_engine, pb


EMULATED = bool(os.environ.get("AGENT_RUNNER"))
OWN = ".%d" % os.getpid()  # of a sleep, where others' processes are seen as well


def sh(text):
    return ["/bin/sh", "-c", text]


class Processes(Case):
    def test_output_exit_and_streams(self):
        r = self.c.run(sh("echo out; echo err >&2; exit 7"))
        self.assertEqual((r.out, r.err, r.exit.code, r.exit.signal), (b"out\n", b"err\n", 7, 0))
        self.assertEqual(r.exit.ended_by, pb.ENDED_BY_ITSELF)
        self.assertEqual(r.messages[0], "started")
        self.assertFalse(r.exit.out_of_memory)

    def test_signal(self):
        r = self.c.run(sh("kill -9 $$"))
        self.assertEqual((r.exit.code, r.exit.signal), (0, 9))

    def test_codes_126_127_are_the_commands_own(self):
        for code in (0, 1, 125, 126, 127, 255):
            self.assertEqual(self.c.run(sh("exit %d" % code)).exit.code, code)

    def test_could_not_start(self):
        e = self.fails("NOT_STARTED", lambda: self.c.run(["/no/such"]), errno.ENOENT)
        self.assertEqual(e.step, pb.STEP_EXEC)
        self.fails("NOT_STARTED", lambda: self.c.run(["no-such-name"]), errno.ENOENT)
        self.fails("NOT_STARTED", lambda: self.c.run(["/etc"]), errno.EACCES)
        e = self.fails("NOT_STARTED", lambda: self.c.run(["true"], directory=b"/no"), errno.ENOENT)
        self.assertEqual(e.step, pb.STEP_DIRECTORY)
        self.fails("INVALID", lambda: self.c.run([]))
        self.fails("INVALID", lambda: self.c.run(["a\0b"]))
        self.fails("INVALID", lambda: self.c.run(["true"], env=[b"=x"]))
        self.fails("INVALID", lambda: self.c.run(["true"], env=[b"novalue"]))
        self.fails("INVALID", lambda: self.c.run(["true"], directory=b"relative"))
        self.fails("INVALID", lambda: self.c.run(["true"], user=b"nobody-knows-me"))

    def test_environment(self):
        r = self.c.run(["/usr/bin/env" if os.path.exists("/usr/bin/env") and not self.sandbox
                        else "env"], env=[b"A=x=y==", b"B=", "U=\u00fcml\n".encode()],
                       inherit_env=False)
        self.assertIn(b"A=x=y==\n", r.out)
        self.assertIn(b"B=\n", r.out)
        self.assertIn("U=\u00fcml\n\n".encode(), r.out)
        r = self.c.run(["env"], env=[b"PATH=/usr/bin:/bin", b"PATH2=1"])
        self.assertEqual([v for v in r.out.split(b"\n") if v.startswith(b"PATH=")],
                         [b"PATH=/usr/bin:/bin"])

    def test_environment_of_the_agent_is_not_inherited_unasked(self):
        r = self.c.run(["env"], inherit_env=False)
        self.assertEqual(r.out.replace(b"PWD=" + self.c.hello.workspace + b"\n", b""), b"")

    def test_directory(self):
        self.assertEqual(self.c.run(["pwd"]).out.strip(), self.c.hello.workspace)
        self.assertEqual(self.c.run(["pwd"], directory=b"/etc").out, b"/etc\n")

    def test_stdin(self):
        self.assertEqual(self.c.run(["cat"], data=b"").out, b"")
        self.assertEqual(self.c.run(["cat"], data=bytes(range(256))).out, bytes(range(256)))
        self.assertEqual(self.c.run(["cat"]).out, b"")  # /dev/null

    def test_large_both_ways(self):
        data = os.urandom(1 << 20) * 16
        r = self.c.run(["cat"], data=data)
        self.assertEqual(r.out, data)

    def test_small_write_after_a_large_one(self):
        c = self.c
        channel = c.start(["cat"], input=True)
        c.feed(channel, b"x" * 1000000, end=False)
        c.feed(channel, b"tail", end=False)
        got = b""
        while not got.endswith(b"tail"):
            m = c.next_on(channel)
            if m.WhichOneof("body") == "output":
                got += m.output.data
        self.assertEqual(len(got), 1000004)
        c.send(channel, data=pb.Data(end=True))
        self.assertEqual(c.result(channel).exit.code, 0)

    def test_stdin_that_nobody_reads(self):
        c = self.c
        channel = c.start(["true"], input=True)
        c.feed(channel, b"x" * 3000000)
        r = c.result(channel)
        self.assertEqual(r.exit.code, 0)
        self.assertTrue(r.broken)

    def test_discard_and_join(self):
        r = self.c.run(sh("echo a; echo b >&2"), join_error=True)
        self.assertEqual((r.out, r.err), (b"a\nb\n", b""))
        r = self.c.run(sh("echo a; echo b >&2"), discard_output=True)
        self.assertEqual((r.out, r.err), (b"", b"b\n"))
        r = self.c.run(sh("echo a; echo b >&2"), discard_error=True)
        self.assertEqual((r.out, r.err), (b"a\n", b""))

    def test_nothing_of_the_agent_is_inherited(self):
        r = self.c.run(["ls", "/proc/self/fd"], data=b"")
        self.assertEqual(r.out.split(), [b"0", b"1", b"2", b"3"])  # 3: ls's own
        r = self.c.run(["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"], data=b"")
        lines = r.out.split(b"\n")
        self.assertIn(b"SigBlk:\t0000000000000000", lines)
        self.assertIn(b"SigIgn:\t0000000000000000", lines)

    def test_session_and_group(self):
        r = self.c.run(sh("cut -d' ' -f1,5,6 /proc/$$/stat"))
        self.assertEqual(len(set(r.out.split())), 1)

    def test_limits(self):
        r = self.c.run(sh("ulimit -n; ulimit -c"), limits=[
            pb.ResourceLimit(resource=7, soft=64, hard=64),
            pb.ResourceLimit(resource=4, soft=0, hard=0)])
        self.assertEqual(r.out, b"64\n0\n")

    def test_timeout_ends_the_tree(self):
        t = time.time()
        r = self.c.run(sh("setsid sh -c 'setsid sleep 301%s & sleep 302%s' & sleep 303%s" %
                          (OWN, OWN, OWN)), timeout_ms=300, grace_ms=60000)
        self.assertLess(time.time() - t, 50)
        self.assertEqual(r.exit.ended_by, pb.ENDED_BY_TIMEOUT)
        self.assertEqual(r.exit.signal, signal.SIGTERM)
        self.assertTrue(eventually(lambda: not self.sleeping(b"30[123]")))

    def sleeping(self, pattern):
        r = self.c.run(sh("ps ax -o args 2>/dev/null || ps -o args"))
        import re
        return [line for line in r.out.split(b"\n") if re.fullmatch(b"sleep " + pattern + re.escape(OWN.encode()), line)]

    def test_timeout_kills_what_ignores_term(self):
        t = time.time()
        r = self.c.run(sh("trap '' TERM; setsid sh -c 'trap \"\" TERM; sleep 311%s; sleep 311%s' & "
                          "while :; do sleep 1; done" % (OWN, OWN)), timeout_ms=300, grace_ms=300)
        self.assertLess(time.time() - t, 50)
        self.assertEqual(r.exit.signal, signal.SIGKILL)
        self.assertTrue(eventually(lambda: not self.sleeping(b"311")))

    def test_stopped_process_times_out_as_well(self):
        r = self.c.run(sh("kill -STOP $$; sleep 100"), timeout_ms=200, grace_ms=60000)
        self.assertEqual(r.exit.ended_by, pb.ENDED_BY_TIMEOUT)
        self.assertEqual(r.exit.signal, signal.SIGTERM)

    @unittest.skipIf(EMULATED, "an emulated agent is no match for native forks")
    def test_fork_storm_is_ended(self):
        r = self.c.run(sh("f() { while :; do sh -c 'sleep 3231%s & setsid sleep 3231%s &' ; done; };"
                          " f & f & f & wait" % (OWN, OWN)), timeout_ms=700, grace_ms=0, discard_output=True,
                       discard_error=True)
        self.assertEqual(r.exit.signal, signal.SIGKILL)
        self.assertTrue(eventually(lambda: not self.sleeping(b"3231")))

    def test_kill_and_done_when_the_tree_is_gone(self):
        c = self.c
        channel = c.start(sh("trap '' TERM; n=321%s; sleep $n & setsid sleep $n & wait; wait; sleep $n"
                             % OWN))
        p = c.started(channel).process_id
        c.call(kill=pb.Kill(process_id=p, grace_ms=0))
        self.assertFalse(self.sleeping(b"321"))
        self.assertEqual(c.result(channel).exit.ended_by, pb.ENDED_BY_KILL)
        self.fails("NO_PROCESS", lambda: c.call(kill=pb.Kill(process_id=999999)))

    @unittest.skipIf(EMULATED, "an emulated agent now and then loses a signal while it forks")
    def test_cancel_ends_it(self):
        c = self.c
        channel = c.start(sh("sleep 331"), grace_ms=1000)
        c.started(channel)
        c.send(channel, cancel=pb.Cancel())
        self.assertEqual(c.result(channel).exit.ended_by, pb.ENDED_BY_KILL)

    def test_signals(self):
        c = self.c
        channel = c.start(sh("trap 'echo got; exit 5' USR1; echo ready; while :; do sleep 0.1; done"))
        p = c.started(channel).process_id
        while c.next_on(channel).WhichOneof("body") != "output":
            pass
        c.call(signal=pb.Signal(process_id=p, signal=10, target=pb.TARGET_PROCESS))
        r = c.result(channel)
        self.assertEqual((r.out, r.exit.code), (b"got\n", 5))
        channel = c.start(sh("setsid sleep 341%s & wait" % OWN))
        p = c.started(channel).process_id
        self.assertTrue(eventually(lambda: self.sleeping(b"341")))
        c.call(signal=pb.Signal(process_id=p, signal=9, target=pb.TARGET_TREE))
        self.assertEqual(c.result(channel).exit.signal, 9)
        self.assertTrue(eventually(lambda: not self.sleeping(b"341")))
        channel = c.start(sh("sleep 342 & wait"))
        p = c.started(channel).process_id
        time.sleep(0.2)
        c.call(signal=pb.Signal(process_id=p, signal=15, target=pb.TARGET_GROUP))
        self.assertEqual(c.result(channel).exit.signal, 15)

    def test_pipe_of_much_input_is_larger(self):
        if self.sandbox:
            return  # there is nothing in there that could tell
        look = ("import fcntl, sys, time\n"
                "while fcntl.fcntl(0, 1032) <= 65536: time.sleep(0.01)\n"  # F_GETPIPE_SZ
                "print(len(sys.stdin.buffer.read()))")
        r = self.c.run([sys.executable, "-c", look], data=bytes(1 << 20))
        self.assertEqual((r.out, r.err), (b"1048576\n", b""))

    def test_background_child_holds_output(self):
        c = self.c
        c.run(sh("rm -f now"))
        channel = c.start(sh("(until [ -e now ]; do sleep 0.1; done; echo late) & echo early"))
        out, exited = b"", False
        while not exited:
            m = c.next_on(channel)
            exited = m.WhichOneof("body") == "exited"
            if m.WhichOneof("body") == "output":
                out += m.output.data
        self.assertEqual(out, b"early\n")
        c.run(sh(": >now"))
        self.assertEqual(c.result(channel).out, b"late\n")

    def test_kill_rest(self):
        if EMULATED:
            return  # qemu-user knows no subreapers: an orphan is nobody's
        c = self.c
        r = c.run(sh("setsid sleep 351%s & echo x" % OWN), kill_rest=True)
        self.assertEqual((r.exit.code, r.out, r.exit.ended_by), (0, b"x\n", pb.ENDED_BY_ITSELF))
        self.assertTrue(eventually(lambda: not self.sleeping(b"351")))

    def test_many_at_once(self):
        c = self.c
        channels = [c.start(sh("echo %d; cat >/dev/null" % i), input=True) for i in range(200)]
        for i, channel in enumerate(channels):
            c.started(channel)
        for channel in reversed(channels):
            c.send(channel, data=pb.Data(end=True))
        for i, channel in enumerate(channels):
            self.assertEqual(c.result(channel).out, b"%d\n" % i)

    def test_slow_channel_does_not_block_others(self):
        c = self.c
        slow = c.start(["cat", "/dev/zero"])
        c.held.add(slow)
        c.started(slow)
        time.sleep(0.3)
        for _ in range(5):
            self.assertEqual(c.run(["echo", "x"]).out, b"x\n")
        got = sum(len(m.output.data) for m in c.waiting[slow] if m.WhichOneof("body") == "output")
        self.assertLess(got, c.initial + 70000)
        c.send(slow, cancel=pb.Cancel())
        c.send(slow, credit=pb.Credit(bytes=1 << 30))
        c.result(slow)

    def test_terminal(self):
        c = self.c
        r = c.run(sh("stty size; test -t 0 && test -t 1 && test -t 2 && echo tty"), terminal=True,
                  size=pb.Size(rows=33, columns=101))
        self.assertEqual(r.out, b"33 101\r\ntty\r\n")
        self.assertEqual(r.err, b"")
        channel = c.start(sh("trap 'stty size' WINCH; echo go; read x || read x || read x; [ \"$x\" ] || read x; echo =$x"), terminal=True,
                          input=True, size=pb.Size(rows=24, columns=80))
        p = c.started(channel).process_id
        c.call(resize=pb.Resize(process_id=p, size=pb.Size(rows=50, columns=132)))
        c.send(channel, data=pb.Data(data=b"hello\n"))
        r = c.result(channel)
        self.assertIn(b"=hello", r.out)
        channel = c.start(["cat"], terminal=True, input=True)
        c.started(channel)
        c.send(channel, data=pb.Data(data=b"abc\n", end=True))
        self.assertEqual(c.result(channel).exit.code, 0)
        if EMULATED:  # it starts native commands with signals blocked
            return
        channel = c.start(["sleep", "100"], terminal=True, input=True)
        c.started(channel)
        c.send(channel, data=pb.Data(data=b"\x03"))
        self.assertEqual(c.result(channel).exit.signal, signal.SIGINT)

    def test_long_lines_on_a_terminal(self):
        r = self.c.run(sh("for i in 1 2 3 4; do head -c 100000 /dev/zero | tr '\\0' x; echo; done"),
                       terminal=True)
        self.assertEqual(len(r.out), 4 * 100002)

    def test_zombies(self):
        for _ in range(20):
            self.c.run(sh("(sleep 0.01 &) ; (setsid true &)"))
        count = sh("grep -h '^State' /proc/[0-9]*/status 2>/dev/null | grep -c Z")
        if self.sandbox:
            self.assertTrue(eventually(lambda: self.c.run(count).out.strip() == b"0"))

    def test_rusage(self):
        r = self.c.run(sh("i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"))
        self.assertGreater(r.exit.user_us + r.exit.system_us, 5000)
        self.assertGreater(r.exit.elapsed_us, 5000)
        self.assertGreater(r.exit.max_rss_kib, 100)


class Outliving(Case):
    def test_attach_reads_on(self):
        c = self.c
        channel = c.start(sh("echo one; cat; echo two >&2; exit 9"), input=True, outlive=True,
                          retain=65536)
        p = c.started(channel).process_id
        self.assertEqual(c.next_on(channel).output.data, b"one\n")
        second = c.open(attach=pb.Attach(process_id=p, output=True, input=True))
        c.started(second)
        self.assertEqual(c.next_on(second).output.data, b"one\n")
        c.send(second, data=pb.Data(data=b"typed\n", end=True))
        r = c.result(second)
        self.assertEqual((r.out, r.err, r.exit.code), (b"typed\n", b"two\n", 9))
        c.result(channel)
        info = [m.process_info for m in c.call(list_processes=pb.ListProcesses())
                if m.process_info.mine]
        self.assertEqual([i.process_id for i in info], [p])
        self.assertFalse(info[0].running)
        self.assertEqual(info[0].exited.code, 9)
        self.assertEqual(info[0].output_end, 10)
        r = c.result(c.open(attach=pb.Attach(process_id=p, output=True, output_offset=4)))
        self.assertEqual((r.out, r.exit.code), (b"typed\n", 9))
        self.fails("INVALID", lambda: c.call(attach=pb.Attach(process_id=p, output=True,
                                                               output_offset=11)))
        c.call(forget=pb.Forget(process_id=p))
        self.fails("NO_PROCESS", lambda: c.call(attach=pb.Attach(process_id=p)))

    def test_lost_output_is_told(self):
        c = self.c
        channel = c.start(sh("head -c 100000 /dev/zero; echo end"), outlive=True, retain=4096)
        p = c.started(channel).process_id
        self.assertEqual(len(c.result(channel).out), 100004)  # paced while attached
        r = c.result(c.open(attach=pb.Attach(process_id=p, output=True)))
        self.assertEqual(r.lost[0], 100004 - 4096)
        self.assertEqual(r.out[-4:], b"end\n")
        self.assertEqual(len(r.out), 4096)

    def test_leaving_an_outliving_process(self):
        c = self.c
        channel = c.start(sh("sleep 0.3; echo later"), outlive=True, retain=4096)
        p = c.started(channel).process_id
        c.send(channel, cancel=pb.Cancel())
        self.fails("CANCELLED", lambda: c.collect(channel))
        r = c.result(c.open(attach=pb.Attach(process_id=p, output=True)))
        self.assertEqual((r.out, r.exit.code), (b"later\n", 0))

    def test_too_much_retained(self):
        self.fails("INVALID", lambda: self.c.run(["true"], outlive=True, retain=1 << 30))

    def test_kept_records_are_bounded(self):
        c = self.c
        for _ in range(300):
            c.run(["true"], outlive=True, retain=1)
        self.assertLessEqual(eventually(
            lambda: c.call(get_status=pb.GetStatus())[0].status.kept <= 256), True)
        self.assertLessEqual(len(c.call(list_processes=pb.ListProcesses())), 257)

    @needs_engine
    def test_another_client_finds_it(self):
        c = self.open()
        channel = c.start(sh("i=0; while [ $i -lt 5 ]; do echo $i; i=$((i+1)); sleep 0.2; done; "
                             "read x; exit $x"), outlive=True, retain=65536, input=True)
        p = c.started(channel).process_id
        instance = c.hello.instance
        c.process.kill()
        time.sleep(0.5)
        d = self.open()
        self.assertEqual(d.hello.instance, instance)
        info = [m.process_info for m in d.call(list_processes=pb.ListProcesses())
                if m.process_info.process_id == p][0]
        self.assertTrue(info.running)
        self.assertFalse(info.mine)
        second = d.open(attach=pb.Attach(process_id=p, output=True, output_offset=2, input=True))
        d.send(second, data=pb.Data(data=b"42\n"))
        r = d.result(second)
        self.assertEqual((r.out, r.exit.code), (b"1\n2\n3\n4\n", 42))

    @needs_engine
    def test_a_client_that_vanishes_takes_its_processes(self):
        c = self.open()
        channel = c.start(sh("setsid sleep 361 & sleep 361"))
        c.started(channel)
        other = c.start(sh("sleep 362"), outlive=True)
        p = c.started(other).process_id
        c.process.kill()

        def gone():
            r = self.c.run(sh("ps -o args"))
            return b"sleep 361" not in r.out and b"sleep 362" in r.out
        self.assertTrue(eventually(gone))
        self.c.call(kill=pb.Kill(process_id=p))


if __name__ == "__main__":
    unittest.main()
