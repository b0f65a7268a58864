# SPDX-License-Identifier: Apache-2.0
"""cp, ls and cat on a real engine, the one that DOCKER_HOST names."""

import io
import json
import os
import pty
import signal
import stat
import subprocess
import tarfile
import time
import unittest
from unittest import mock

from real_engine import BUSYBOX, EngineTest, docker
from support import ACTS, CLI, ENGINE, OK, USAGE, CliTest

FAILED = 1
ODD = [b"new\nline", b"\x1b[31mred", b"caf\xc3\xa9", b"\xff\xfe", b"back\\slash", b"-dash", b" ",
       b"\xc2\x9b1m", b"\xe2\x80\xaeturned"]


class Usage(CliTest):
    """What is wrong before the engine is asked."""

    def test_sides(self):
        state = self.path("s")
        for sides in (["a", "b"], [":a", ":b"], ["-", "-"], ["-", "b"]):
            self.refused(USAGE, "cp", "--state", state, *sides, says=":PATH")
        self.refused(USAGE, "cp", "--state", state, "a", says="SRC and DST")
        self.refused(USAGE, "cp", "--state", state, "a", "", says="SRC and DST")
        self.refused(USAGE, "cp", "--state", state, "a", ":b", ":c", says="too many")
        self.refused(USAGE, "cp", "--state", state, "--tar", "a", ":b", says="--tar")
        self.refused(USAGE, "cp", "--state", state, "--tar", ":b", "a", says="--tar")
        self.refused(USAGE, "cp", "--state", "-", "-", ":b", says="standard input")
        self.refused(USAGE, "cp", "a", ":b", says="--state")
        self.refused(USAGE, "cat", "--state", state, says="PATH")
        self.refused(USAGE, "ls", "--state", state, "a", "b", says="too many")
        self.refused(USAGE, "ls", "--state", state, "--json", "-0", says="--json")

    def test_help(self):
        for name in ("cp", "ls", "cat"):
            text = self.expect(OK, name, "--help").stdout.decode()
            self.assertIn("Exit status:", text)
            self.assertLessEqual(max(map(len, text.splitlines())), 80, name)


def listing(root):
    """Everything below a directory: type, mode, time, content or text; no times of links."""
    found = {}
    root = os.fsencode(root)
    for at, directories, files in os.walk(root):
        for name in [b""] * (at == root) + directories + files:
            path = os.path.join(at, name) if name else at
            info = os.lstat(path)
            kind = stat.S_IFMT(info.st_mode)
            content = b""
            if kind == stat.S_IFREG:
                with open(path, "rb") as file:
                    content = file.read()
            elif kind == stat.S_IFLNK:
                content = os.readlink(path)
            found[os.path.relpath(path, root)] = (
                kind, info.st_mode if kind != stat.S_IFLNK else 0,
                info.st_mtime_ns if kind != stat.S_IFLNK else 0,
                info.st_nlink if kind == stat.S_IFREG else 0, content)
    return found


class FilesTest(EngineTest):
    sandbox = None

    def setUp(self):
        super().setUp()
        self.state, self.container = self.create()

    def cp(self, *sides, code=OK, **kwargs):
        return self.expect(code, "cp", "--state", self.state, *sides, **kwargs)

    def cp_refused(self, *sides, says, code=FAILED, **kwargs):
        return self.refused(code, "cp", "--state", self.state, *sides, says=says, **kwargs)

    def inside(self, script):
        return self.expect(OK, "exec", "--state", self.state, "--", BUSYBOX, "sh", "-c",
                           "cd /workspace && " + script).stdout

    def sample(self):
        top = self.path("sample")
        (top / "a/b/c").mkdir(parents=True)
        (top / "empty").mkdir()
        (top / "a/one").write_bytes(b"one\n")
        (top / "a/b/big").write_bytes(os.urandom(1_000_000))
        (top / "a/nothing").write_bytes(b"")
        os.link(top / "a/one", top / "a/b/again")
        os.symlink("one", top / "a/link")
        os.symlink("../../empty", top / "a/b/up")
        os.symlink("nowhere", top / "dangling")
        os.mkfifo(top / "pipe")
        for name in ODD:
            with open(os.path.join(os.fsencode(top), name), "wb") as file:
                file.write(name)
        os.chmod(top / "a/one", 0o4750)
        os.utime(top / "a/one", ns=(0, 981173106_789_012_345))
        os.chmod(top / "a/b/c", 0o555)
        os.utime(top / "a", (0, 1_000_000_000))
        return top


class Trees(FilesTest):
    def test_round_trip(self):
        top = self.sample()
        self.cp(top, ":copy")
        back = self.path("back")
        self.cp(":copy", back)
        os.chmod(top / "a/one", 0o750)  # set-id bits do not come out
        self.assertEqual(listing(back), listing(top))
        # Again, over what is there now, on both sides.
        self.cp(f"{top}/.", ":copy")
        self.cp(":copy/.", back)
        self.assertEqual(listing(back), listing(top))
        self.assertEqual(self.inside("find / -xdev -name '.cofferdam-*'"), b"")

    def test_archive_round_trip(self):
        top = self.sample()
        self.cp(top, ":copy")
        archive = self.cp(":copy", "-").stdout
        self.cp("--tar", "-", ":second/third", stdin=archive)
        back = self.path("back")
        self.cp(":second/third", back)
        os.chmod(top / "a/one", 0o750)
        self.assertEqual(listing(back), listing(top))
        with tarfile.open(fileobj=io.BytesIO(archive), encoding="utf-8",
                          errors="surrogateescape") as tar:
            names = {os.fsencode(name) for name in tar.getnames()}
        self.assertEqual(names, set(listing(top)))

    def test_archives_of_others(self):
        top = self.path("t")
        (top / "x/y").mkdir(parents=True)
        (top / "x/y/f").write_bytes(b"f" * 100_000)
        for flags in ("-c", "-cz", "-cJ"):
            archive = subprocess.run(["tar", "-C", top, flags, "."], check=True,
                                     capture_output=True).stdout
            self.cp("--tar", "-", f":t{flags}", stdin=archive)
            self.assertEqual(self.cp(f":t{flags}/x/y/f", "-").stdout, b"f" * 100_000)
        # Without entries for the directories, into what is there already and keeps its mode.
        self.inside("mkdir there && chmod 0711 there")
        archive = subprocess.run(["tar", "-C", top, "-c", "x/y/f"], check=True,
                                 capture_output=True).stdout
        self.cp("--tar", "-", ":there", stdin=archive)
        self.assertEqual(self.inside("stat -c %a there there/x there/x/y").split(),
                         [b"711", b"755", b"755"])

    def test_bad_archives(self):
        for archive in (b"", b"no archive at all" * 1000):
            self.cp_refused("--tar", "-", ":t", stdin=archive, says="archive")
        for name in ("../x", "/etc/passwd", "a/../../x"):
            out = io.BytesIO()
            with tarfile.open(fileobj=out, mode="w") as tar:
                entry = tarfile.TarInfo(name)
                entry.size = 1
                tar.addfile(entry, io.BytesIO(b"x"))
            self.cp_refused("--tar", "-", ":t", stdin=out.getvalue(), says=name)

    def test_hostile_tree(self):
        self.inside("mkdir h && cd h && ln -s / root && ln -s ../../../etc up && ln -s .. parent &&"
                    " mkdir sub && ln -s ../x fine && ln -s sub/.. through && ln -s . self &&"
                    " ln -s self/self/../.. sly && echo x >sub/x && ln -s ../sub/x sub/ok &&"
                    " chmod 6755 sub/x && mknod null c 1 3")
        back = self.path("back")
        done = self.cp(":h", back, code=FAILED)
        self.assertIn(b"7 left out", done.stderr)
        self.assertEqual(sorted(os.listdir(back)), ["self", "sub"])
        self.assertEqual(sorted(os.listdir(back / "sub")), ["ok", "x"])
        self.assertEqual(stat.S_IMODE((back / "sub/x").stat().st_mode), 0o755)

    def test_links_here_are_not_followed(self):
        outside = self.path("outside")
        outside.mkdir()
        (outside / "victim").write_bytes(b"old")
        back = self.path("back")
        back.mkdir()
        os.symlink(outside, back / "d")
        os.symlink(outside / "victim", back / "f")
        self.inside("mkdir -p t/d && echo new >t/d/victim && echo new >t/f")
        self.cp(":t/.", back)
        self.assertEqual((outside / "victim").read_bytes(), b"old")
        self.assertFalse((back / "f").is_symlink())
        self.assertFalse((back / "d").is_symlink())

    def test_swapped_while_copied(self):
        """A directory of the sandbox and a link to / take turns in one name."""
        self.inside("mkdir -p w/d && echo inside >w/d/hostname && ln -s / w/l")
        swap = subprocess.Popen([CLI, "exec", "--state", self.state, "--timeout", "8", "--", BUSYBOX,
                                 "sh", "-c", "cd /workspace/w; while :; do mv d x; mv l d; mv d l; "
                                 "mv x d; done"], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
        self.addCleanup(swap.wait)
        self.addCleanup(swap.kill)
        for i in range(10):
            done = self.run_cli("cp", "--state", self.state, ":w", self.path(f"back{i}"))
            self.assertIn(done.returncode, (OK, FAILED), done.stderr)
            for at, _, files in os.walk(self.path(f"back{i}")):
                self.assertNotIn("passwd", files, at)
            done = self.run_cli("cp", "--state", self.state, ":w/d/hostname", "-")
            self.assertIn(done.stdout, (b"", b"inside\n"))

    def test_deep(self):
        deep = "/".join("d" * 1 for _ in range(120))
        self.path("deep").mkdir()
        (self.path("deep") / deep).mkdir(parents=True)
        (self.path("deep") / deep / "f").write_bytes(b"deep")
        self.cp(self.path("deep"), ":deep")
        self.cp(":deep", self.path("back"))
        self.assertEqual(listing(self.path("back")), listing(self.path("deep")))
        self.inside("cd deep/" + deep + " && mkdir -p " + deep)
        self.cp_refused(":deep", self.path("again"), says="copy")

    def test_skipped_socket(self):
        top = self.path("t")
        top.mkdir()
        (top / "f").write_bytes(b"f")
        os.mknod(top / "socket", stat.S_IFSOCK | 0o600)
        done = self.cp(top, ":t", code=FAILED)
        self.assertEqual(done.stderr.count(b"\n"), 1)
        self.assertIn(b"1 left out", done.stderr)
        self.assertEqual(self.inside("ls t"), b"f\n")

    def test_owner(self):
        if os.geteuid() != 0:
            self.skipTest("only root can give files away")
        file = self.path("f", b"f")
        top = self.path("t")
        top.mkdir()
        (top / "g").write_bytes(b"g")
        os.chown(file, 1234, 2345)
        os.chown(top / "g", 1234, 2345)
        self.cp("--keep-owner", file, top.parent / "x", code=USAGE)
        self.cp("--keep-owner", file, ":f")
        self.cp("--keep-owner", top, ":t")
        self.cp(file, ":plain")
        self.assertEqual(self.inside("stat -c %u:%g f t/g plain").split(),
                         [b"1234:2345", b"1234:2345", b"0:0"])
        self.cp("--keep-owner", ":t", self.path("back"))
        self.cp(":t", self.path("mine"))
        self.assertEqual((self.path("back") / "g").stat().st_uid, 1234)
        self.assertEqual((self.path("mine") / "g").stat().st_uid, 0)


class Places(FilesTest):
    """Where a copy goes."""

    def test_in(self):
        file = self.path("f", b"f")
        self.cp(file, ":")
        self.cp(file, ":renamed")
        self.inside("mkdir d e && ln -s d ld")
        self.cp(file, ":d")
        self.cp(file, ":e/")
        self.cp(file, ":ld")
        self.cp(file, ":/workspace/absolute")
        self.assertEqual(self.inside("find . -type f | sort").split(),
                         [b"./absolute", b"./d/f", b"./e/f", b"./f", b"./renamed"])
        top = self.path("t")
        top.mkdir()
        (top / "x").write_bytes(b"x")
        self.cp(top, ":new")
        self.cp(f"{top}/", ":new2/")
        self.cp(top, ":d")
        self.cp(f"{top}/.", ":e")
        self.assertEqual(self.inside("ls new new2 d/t; ls e"), b"d/t:\nx\n\nnew:\nx\n\nnew2:\nx\n"
                         b"f\nx\n")
        os.symlink(top, self.path("lt"))
        self.cp(self.path("lt"), ":lt")
        self.cp(f"{self.path('lt')}/", ":followed")
        self.assertEqual(self.inside("readlink lt; ls followed"), os.fsencode(top) + b"\nx\n")

    def test_in_refused(self):
        file = self.path("f", b"f")
        self.cp(file, ":f")
        self.cp_refused(self.path("none"), ":x", says=[str(self.path("none")), "No such file"])
        self.cp_refused(file, ":no/where", says="no/where")
        self.cp_refused(file, ":no/", says="there is no directory ':no/'")
        self.cp_refused(file, ":f/", says="not a directory")
        self.cp_refused(self.dir, ":f", says="':f' is not a directory")
        self.cp_refused(file, ":../f", says="workspace")
        self.cp_refused(file, ":/etc/f", says="workspace")
        self.inside("mkdir -p d/f")
        self.cp_refused(file, ":d", says="d/f")
        self.cp_refused("-", ":d", stdin=b"x", says=["is a directory", "--tar"])

    def test_out(self):
        self.inside("mkdir -p t && echo x >t/x && echo f >f && ln -s f lf && ln -s t lt")
        out = self.path("out")
        out.mkdir()
        self.cp(":f", out)
        self.cp(":f", out / "renamed")
        self.cp(":t", out)
        self.cp(":t/.", out)
        self.cp(":t", out / "new")
        self.cp(":lt/", out / "followed")
        self.assertEqual(sorted(os.listdir(out)), ["f", "followed", "new", "renamed", "t", "x"])
        for at in ("t", "new", "followed"):
            self.assertEqual(os.listdir(out / at), ["x"])
        # A workspace has no name: it is merged.
        self.cp(":", self.path("all"))
        self.cp(":", out)
        self.assertEqual(sorted(os.listdir(self.path("all"))), ["f", "lf", "lt", "t"])
        self.assertEqual((out / "lf").read_bytes(), b"f\n")

    def test_out_refused(self):
        self.inside("mkdir t && echo f >f && ln -s f lf")
        file = self.path("here", b"old")
        self.cp_refused(":none", file, says="there is no ':none'")
        self.cp_refused(":t", file, says="is not a directory")
        self.cp_refused(":f", f"{file}/", says=str(file))
        self.cp_refused(":f", self.path("no/where"), says="no")
        self.cp_refused(":f", f"{self.path('no')}/", says="there is no directory")
        self.cp_refused(":lf", file, says="symbolic link")
        self.cp_refused(":../etc/passwd", file, says="workspace")
        self.assertEqual(file.read_bytes(), b"old")
        (self.dir / "d/f").mkdir(parents=True)
        self.cp_refused(":f", self.path("d"), says="d/f")

    def test_replaces_whole(self):
        """An existing file is there, old or new, at any time; a reader that has it keeps the old."""
        self.inside("echo new >f")
        file = self.path("f", b"old")
        with open(file, "rb") as before:
            self.cp(":f", file)
            self.assertEqual(before.read(), b"old")
        self.assertEqual(file.read_bytes(), b"new\n")
        self.cp(self.path("f", b"newer"), ":f")
        self.assertEqual(self.inside("cat f"), b"newer")

    def test_no_agent_needed_to_say_so(self):
        docker("rm", "-f", self.container)
        self.cp_refused(self.path("f", b"f"), ":f", code=ENGINE, says="No such container")


class NoAgent(FilesTest):
    """The same by the engine's exec and the image's shell."""

    def create(self, name="s", *more):
        with mock.patch.dict(os.environ, COFFERDAM_AGENT_DIR=str(self.dir)):
            return super().create(name, *more)

    def test_trees_and_files(self):
        top = self.path("in")
        (top / "d").mkdir(parents=True)
        (top / "d/f").write_bytes(b"content\n")
        os.link(top / "d/f", top / "g")
        os.symlink("d/f", top / "l")
        for name in ODD:
            with open(os.path.join(os.fsencode(top), name), "wb") as file:
                file.write(name)
        self.cp(top, ":out")
        self.cp(":out", self.path("back"))
        self.assertEqual(subprocess.run(["diff", "-r", top, self.path("back")]).returncode, 0)
        self.assertEqual(self.expect(OK, "cat", "--state", self.state, "out/l").stdout,
                         b"content\n")
        self.assertEqual(self.expect(OK, "ls", "--state", self.state, "out/d").stdout, b"f\n")
        self.cp("-", ":f", stdin=b"from here")
        self.assertEqual(self.cp(":f", "-").stdout, b"from here")
        self.cp_refused(self.path("none", b"x"), ":/etc/passwd", says="workspace")
        self.cp_refused(":none", self.path("x"), says=":none")


class Streams(FilesTest):
    def test_content(self):
        bytes_ = os.urandom(3_000_000)
        self.cp("-", ":f", stdin=bytes_)
        self.assertEqual(self.cp(":f", "-").stdout, bytes_)
        self.assertEqual(self.expect(OK, "cat", "--state", self.state, ":f", "f").stdout,
                         bytes_ + bytes_)
        self.cp("-", ":empty", stdin=b"")
        self.assertEqual(self.cp(":empty", "-").stdout, b"")

    def test_cat(self):
        self.inside("echo a >a; echo b >b; ln -s a l; mkdir d; ln -s /etc/passwd out")
        cat = ["cat", "--state", self.state]
        self.assertEqual(self.expect(OK, *cat, ":a", "b", "l").stdout, b"a\nb\na\n")
        done = self.expect(FAILED, *cat, "a", "none", "b")
        self.assertEqual(done.stdout, b"a\nb\n")
        self.assertIn(b'"none"', done.stderr)
        self.refused(FAILED, *cat, "d", says='"d"')
        self.refused(FAILED, *cat, "out", says="workspace")
        self.refused(FAILED, *cat, "/etc/passwd", says="workspace")

    def test_archive_of_a_file(self):
        self.inside("mkdir d && echo f >d/f")
        with tarfile.open(fileobj=io.BytesIO(self.cp("--tar", ":d/f", "-").stdout)) as tar:
            self.assertEqual(tar.getnames(), ["f"])

    def test_closed_output(self):
        self.inside("head -c 5000000 /dev/zero >f; mkdir d; cp f d")
        for source in ([CLI, "cp", "--state", self.state, ":f", "-"],
                       [CLI, "cp", "--state", self.state, ":d", "-"],
                       [CLI, "cat", "--state", self.state, "f"]):
            process = subprocess.Popen(source, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            process.stdout.read(10)
            process.stdout.close()
            text = process.stderr.read()
            process.stderr.close()
            self.assertEqual(process.wait(60), -signal.SIGPIPE, (source, text))
            self.assertEqual(text, b"")
        with open("/dev/full", "wb") as full:
            for source in (":f", ":d"):
                done = self.cp(source, "-", code=FAILED, stdout=full)
                self.assertIn(b"standard output", done.stderr)

    def test_no_archive_to_a_terminal(self):
        self.inside("mkdir d")
        master, slave = pty.openpty()
        self.cp(":d", "-", code=USAGE, stdout=slave)
        os.close(slave)
        os.close(master)

    def test_slow_source(self):
        """The sandbox's end is heard of while the source has nothing to give."""
        for flags in ([], ["--tar"]):
            read, write = os.pipe()
            process = subprocess.Popen([CLI, "cp", *flags, "--state", self.state, "-", ":f"],
                                       stdin=read, stderr=subprocess.PIPE)
            os.close(read)
            os.write(write, b"x")
            time.sleep(0.5)
            self.assertIsNone(process.poll())
            docker("kill", self.container)
            text = process.stderr.read().decode()
            process.stderr.close()
            self.assertNotEqual(process.wait(60), 0)
            self.assertIn("cofferdam: ", text)
            os.close(write)
            self.expect(OK, "resume", "--state", self.state)


class Interrupts(FilesTest):
    def wait_for(self, condition):
        for _ in range(6000):
            if condition():
                return
            time.sleep(0.01)
        self.fail("it did not happen")

    def test_out(self):
        self.inside("mkdir t && truncate -s 20G t/huge")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            back = self.path(f"back{number}")
            process = subprocess.Popen([CLI, "cp", "--state", self.state, ":t", back],
                                       stderr=subprocess.PIPE)
            self.wait_for(lambda: back.is_dir() and os.listdir(back))
            self.assertTrue(os.listdir(back)[0].startswith(".cofferdam-"))
            process.send_signal(number)
            text = process.stderr.read()
            process.stderr.close()
            self.assertEqual(process.wait(20), -number)
            self.assertEqual(text, b"")
            self.assertEqual(os.listdir(back), [])

    def test_in(self):
        huge = self.path("huge")
        with open(huge, "wb") as file:
            file.truncate(20 << 30)
        self.inside("echo old >huge")
        process = subprocess.Popen([CLI, "cp", "--state", self.state, huge, ":"],
                                   stderr=subprocess.PIPE)
        self.wait_for(lambda: self.inside("ls -a | grep '^.cofferdam-' || true"))
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(20), -signal.SIGINT)
        process.stderr.close()
        self.assertEqual(self.inside("ls -A; cat huge"), b"huge\nold\n")


class Listing(FilesTest):
    def setUp(self):
        super().setUp()
        top = self.path("odd")
        top.mkdir()
        for name in ODD:
            with open(os.path.join(os.fsencode(top), name), "wb") as file:
                file.write(name)
        (top / ".hidden").write_bytes(b"")
        os.symlink(b"to\n\xff", os.path.join(os.fsencode(top), b"zz"))
        self.cp(top, ":odd")
        self.names = sorted([*ODD, b".hidden", b"zz"])

    def ls(self, *arguments, code=OK, **kwargs):
        return self.expect(code, "ls", "--state", self.state, *arguments, **kwargs)

    def test_plain(self):
        self.assertEqual(self.ls("odd").stdout, b"\n".join(self.names) + b"\n")
        self.assertEqual(self.ls("-0", ":odd").stdout, b"\0".join(self.names) + b"\0")
        self.assertEqual(self.ls().stdout, b"odd\n")
        self.assertEqual(self.ls(":").stdout, b"odd\n")
        self.assertEqual(self.ls("/workspace/odd/zz").stdout, b"/workspace/odd/zz\n")

    def test_long(self):
        self.inside("mkdir l && cd l && : >f && chmod 4751 f && mkdir d && chmod 1777 d && "
                    "ln -s f s && mkfifo p && touch -d '2001-02-03 04:05:06' f")
        lines = self.ls("-l", "l").stdout.decode().splitlines()
        self.assertEqual([line[:10] for line in lines],
                         ["drwxrwxrwt", "-rwsr-x--x", "prw-r--r--", "lrwxrwxrwx"])
        self.assertIn("2001-02-03T04:05:06Z f", lines[1])
        self.assertTrue(lines[3].endswith(" s -> f"))

    def test_json(self):
        out = self.ls("--json", "odd").stdout
        self.assertNotRegex(out, ACTS)
        entries = json.loads(out)
        self.assertEqual(len(entries), len(self.names))
        for entry, name in zip(entries, self.names):
            try:
                self.assertEqual(entry["name"], name.decode())
                self.assertNotIn("name_hex", entry)
            except UnicodeDecodeError:
                self.assertIsNone(entry["name"])
                self.assertEqual(bytes.fromhex(entry["name_hex"]), name)
        link = next(entry for entry in entries if entry["name"] == "zz")
        self.assertEqual(link["type"], "link")
        self.assertEqual(bytes.fromhex(link["target_hex"]), b"to\n\xff")

    def test_terminal(self):
        master, slave = pty.openpty()
        self.ls("odd", stdout=slave)
        self.ls("-l", "odd/zz", stdout=slave)
        os.close(slave)
        text = b""
        try:
            while piece := os.read(master, 65536):
                text += piece
        except OSError:
            pass
        os.close(master)
        lines = text.split(b"\r\n")
        self.assertEqual(lines[:-2], [b"\\x1b[31mred", b" ", b"-dash", b".hidden",
                                      b"back\\\\slash", b"caf\xc3\xa9", b"new\\x0aline", b"zz",
                                      b"\\xc2\\x9b1m", b"\\xe2\\x80\\xaeturned", b"\\xff\\xfe"])
        self.assertTrue(lines[-2].endswith(b"odd/zz -> to\\x0a\\xff"))

    def test_refused(self):
        self.refused(FAILED, "ls", "--state", self.state, "none", says='"none"')
        self.refused(FAILED, "ls", "--state", self.state, "..", says="workspace")
        self.inside("ln -s /etc out")
        self.assertIn(b" out -> /etc\n", self.ls("-l", "out").stdout)
        self.refused(FAILED, "ls", "--state", self.state, "out/", says="workspace")


if __name__ == "__main__":
    unittest.main()
