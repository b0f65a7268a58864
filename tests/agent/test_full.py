# SPDX-License-Identifier: Apache-2.0
"""Files where the disk is full, the file system ends, or the client leaves in the middle: a name shows
the old file or the whole new one, nothing is left under other names, and errors say what it was."""
import errno
import unittest

from client import eventually, pb
from common import AGENT, Case, Failed, needs_engine

D, F = pb.ENTRY_TYPE_DIRECTORY, pb.ENTRY_TYPE_FILE


def write(client, path, data, mode=pb.WRITE_MODE_REPLACE, **options):
    channel = client.open(write_file=pb.WriteFile(path=path, write_mode=mode, **options))
    client.feed(channel, data)
    return client.collect(channel, 20)


def read(client, path):
    messages = client.call(read_file=pb.ReadFile(path=path))
    return b"".join(m.data.data for m in messages if m.WhichOneof("body") == "data")


def names(client, path=b""):
    return sorted(m.entry.path for m in client.call(list=pb.List(path=path)))


def upload(client, path, files, **options):
    """A directory with these, which are whole; the channel."""
    channel = client.open(upload=pb.Upload(path=path, **options))
    client.send(channel, entry=pb.Entry(type=D, mode=0o755))
    for name, data in files:
        client.send(channel, entry=pb.Entry(type=F, path=name, mode=0o644))
        client.feed(channel, data)
    return channel


class Abandoned(Case):
    def half(self, path, **options):
        """An upload that is in the middle of the file "half"."""
        channel = upload(self.c, path, [(b"whole", b"new")], **options)
        self.c.send(channel, entry=pb.Entry(type=F, path=b"half", mode=0o644))
        self.c.feed(channel, b"x" * 100000, end=False)
        return channel

    def test_an_upload_that_is_cancelled(self):
        channel = self.half(b"cancelled")
        self.c.send(channel, cancel=pb.Cancel())
        self.fails("CANCELLED", lambda: self.c.collect(channel))
        self.assertEqual(names(self.c, b"cancelled"), [b"whole"])

    def test_an_upload_whose_client_leaves(self):
        write(self.c, b"left/half", b"old", parents=True)
        write(self.c, b"left/whole", b"old", parents=True)
        self.half(b"left", replace=True)
        if not self.sandbox:
            self.c.close()  # and the agent with it
            self.c = self.open()
        else:
            other = self.open()
            self.c.close()
            self.c = other
        self.assertTrue(eventually(lambda: names(self.c, b"left") == [b"half", b"whole"]))
        self.assertEqual(read(self.c, b"left/half"), b"old")

    def test_an_upload_is_seen_when_it_is_whole(self):
        write(self.c, b"seen/half", b"old", parents=True)
        channel = self.half(b"seen", replace=True)
        self.assertTrue(eventually(lambda: read(self.c, b"seen/whole") == b"new"))
        self.assertEqual(read(self.c, b"seen/half"), b"old")
        self.c.feed(channel, b"y")
        self.c.send(channel, data=pb.Data(end=True))
        self.c.collect(channel)
        self.assertEqual(read(self.c, b"seen/half"), b"x" * 100000 + b"y")
        self.assertEqual(names(self.c, b"seen"), [b"half", b"whole"])

    def test_what_comes_into_the_way_of_an_upload(self):
        channel = self.half(b"way")
        write(self.c, b"way/half", b"another's")
        self.c.send(channel, data=pb.Data(end=True))
        failed = self.fails("SYSTEM", lambda: self.c.collect(channel), errno.EEXIST)
        self.assertEqual(failed.error.path, b"half")
        self.assertEqual(read(self.c, b"way/half"), b"another's")
        self.assertEqual(names(self.c, b"way"), [b"half", b"whole"])


@needs_engine
class Full(unittest.TestCase):
    """Not of Case: the workspace has 1 MiB and 32 inodes, another file system below, and room for
    files of 3 MB."""
    @classmethod
    def setUpClass(cls):
        import engine
        cls.sandbox = engine.Sandbox(AGENT, engine.BUSYBOX, engine.HARDENED + [
            "--tmpfs", "/workspace:rw,exec,mode=1777,size=1m,nr_inodes=32",
            "--tmpfs", "/workspace/other:rw,mode=1777", "--ulimit", "fsize=3000000:3000000"])

    @classmethod
    def tearDownClass(cls):
        cls.sandbox.remove()

    def setUp(self):
        self.c = self.sandbox.client()
        self.c.run(["/bin/sh", "-c", "rm -rf /workspace/[a-n]* /workspace/other/*"])

    def fails(self, number, call):
        with self.assertRaises(Failed) as caught:
            call()
        self.assertEqual((caught.exception.code, caught.exception.errno),
                         (pb.ERROR_CODE_SYSTEM, number), str(caught.exception))
        return caught.exception.error

    def test_no_space(self):
        write(self.c, b"a", b"old")
        error = self.fails(errno.ENOSPC, lambda: write(self.c, b"a", b"x" * 2000000))
        self.assertEqual(error.step, pb.STEP_WRITE)
        self.fails(errno.ENOSPC,
                   lambda: write(self.c, b"b", b"x" * 2000000, pb.WRITE_MODE_CREATE))
        self.assertEqual(names(self.c), [b"a", b"other"])
        self.assertEqual(read(self.c, b"a"), b"old")
        self.fails(errno.ENOSPC,
                   lambda: write(self.c, b"a", b"x" * 2000000, pb.WRITE_MODE_APPEND))
        self.assertEqual(read(self.c, b"a")[:4], b"oldx")  # what could be appended has been

    def test_no_space_for_a_tree(self):
        write(self.c, b"d/half", b"old", parents=True)
        channel = upload(self.c, b"d", [(b"a", b"new"), (b"half", b"x" * 2000000)], replace=True)
        error = self.fails(errno.ENOSPC, lambda: self.c.collect(channel))
        self.assertEqual((error.step, error.path), (pb.STEP_WRITE, b"half"))
        self.assertEqual(names(self.c, b"d"), [b"a", b"half"])
        self.assertEqual(read(self.c, b"d/half"), b"old")

    def test_no_inodes(self):
        write(self.c, b"a", b"old")
        self.c.run(["/bin/sh", "-c",
                    "cd /workspace; i=0; while [ $i -lt 32 ]; do : > n$i; i=$((i+1)); done"])
        for call in (lambda: write(self.c, b"a", b"new"), lambda: write(self.c, b"b", b"new"),
                     lambda: write(self.c, b"b", b"", pb.WRITE_MODE_APPEND),
                     lambda: self.c.call(make_directory=pb.MakeDirectory(path=b"b")),
                     lambda: self.c.collect(upload(self.c, b"b", []))):
            self.assertEqual(self.fails(errno.ENOSPC, call).step in (pb.STEP_CREATE, pb.STEP_OPEN),
                             True)
        self.assertEqual(read(self.c, b"a"), b"old")

    def test_a_file_may_not_become_so_large(self):
        """The signal that comes along (SIGXFSZ) does not end the agent."""
        for mode in (pb.WRITE_MODE_REPLACE, pb.WRITE_MODE_APPEND):
            self.fails(errno.EFBIG, lambda: write(self.c, b"other/a", b"x" * 4000000, mode))
        self.fails(errno.EFBIG, lambda: self.c.call(
            set_attributes=pb.SetAttributes(path=b"other/a", set_size=True, size=1 << 40)))
        self.fails(errno.EFBIG, lambda: write(self.c, b"other/a", b"x", pb.WRITE_MODE_IN_PLACE,
                                              offset=1 << 62))
        self.assertEqual(names(self.c, b"other"), [b"a"])

    def test_another_file_system_is_not_outside(self):
        write(self.c, b"other/a", b"1")
        self.fails(errno.EXDEV, lambda: self.c.call(
            make_link=pb.MakeLink(path=b"a", target=b"other/a", hard=True)))
        self.fails(errno.EXDEV, lambda: self.c.call(
            rename=pb.Rename(**{"from": b"other/a", "to": b"a"})))
        with self.assertRaises(Failed) as caught:
            self.c.call(make_link=pb.MakeLink(path=b"a", target=b"../a", hard=True))
        self.assertEqual(caught.exception.code, pb.ERROR_CODE_OUTSIDE)
        channel = upload(self.c, b"", [(b"other/b", b"1")])
        self.c.send(channel, entry=pb.Entry(type=pb.ENTRY_TYPE_HARD_LINK, path=b"b",
                                            target=b"other/b"))
        self.assertEqual(self.fails(errno.EXDEV, lambda: self.c.collect(channel)).path, b"b")
