# SPDX-License-Identifier: Apache-2.0
import errno
import fcntl
import os
import shutil
import time
import unittest

from common import Case, Failed, eventually, needs_engine, pb

F = pb.ENTRY_TYPE_FILE
D = pb.ENTRY_TYPE_DIRECTORY
L = pb.ENTRY_TYPE_LINK


class Files(Case):
    def setUp(self):
        super().setUp()
        self.sh("rm -rf /workspace/* /workspace/.[a-z]*" if self.sandbox else
                "rm -rf %s/* %s/.[a-z]*" % (self.workspace, self.workspace))

    def outside(self, name):
        """A directory that is not in the workspace, and no other agent's."""
        return "/dev/shm/" + name if self.sandbox else self.workspace + "-" + name

    def sh(self, text):
        r = self.c.run(["/bin/sh", "-c", text])
        self.assertEqual(r.exit.code, 0, r.err)
        return r.out

    def read(self, path, **options):
        messages = self.c.call(read_file=pb.ReadFile(path=path, **options))
        self.assertEqual(messages[0].WhichOneof("body"), "entry")
        self.assertTrue(messages[-1].data.end)
        return b"".join(m.data.data for m in messages[1:])

    def write(self, path, data, how=pb.WRITE_MODE_REPLACE, **options):
        channel = self.c.open(write_file=pb.WriteFile(path=path, write_mode=how, **options))
        self.c.feed(channel, data)
        return self.c.collect(channel)[-1].entry

    def stat(self, path, **options):
        return self.c.call(stat=pb.Stat(path=path, **options))[0].entry

    def names(self, path):
        return sorted(m.entry.path for m in self.c.call(list=pb.List(path=path)))

    def test_write_and_read(self):
        for size in (0, 1, 4096, 65536, 65537, 3000000):
            data = os.urandom(size)
            entry = self.write(b"f", data)
            self.assertEqual((entry.size, entry.mode, entry.type), (size, 0o644, F))
            self.assertEqual(self.read(b"f"), data)
        self.assertEqual(self.read(b"f", offset=10, length=5), data[10:15])
        self.assertEqual(self.read(b"f", offset=2999999), data[-1:])
        self.assertEqual(self.read(b"f", offset=4000000), b"")
        self.assertEqual(self.read(self.c.hello.workspace + b"/f", length=3), data[:3])
        self.assertEqual(self.names(b""), [b"f"])  # nothing temporary is left

    def test_pipes_are_larger_while_there_is_bulk(self):
        if self.sandbox:
            return  # the pipes are the engine's, and not to be seen from here
        def size(stream):
            return fcntl.fcntl(stream.fileno(), 1032)  # F_GETPIPE_SZ
        c = self.c
        small = size(c.process.stdout)
        channel = c.open(write_file=pb.WriteFile(path=b"bulk", write_mode=pb.WRITE_MODE_REPLACE))
        for _ in range(1000):
            if size(c.process.stdin) > small:
                break
            c.feed(channel, bytes(1 << 20), end=False)
        self.assertGreater(size(c.process.stdin), small)
        c.send(channel, data=pb.Data(end=True))
        c.collect(channel)
        channel = c.open(read_file=pb.ReadFile(path=b"bulk"))
        self.assertTrue(eventually(lambda: size(c.process.stdout) > small))
        c.collect(channel)
        for stream in (c.process.stdin, c.process.stdout):
            self.assertTrue(eventually(lambda: size(stream) == small))

    def test_write_modes(self):
        self.write(b"f", b"old", set_mode=True, mode=0o751, sync=True)
        self.assertEqual(self.write(b"f", b"new").mode, 0o751)
        self.fails("SYSTEM", lambda: self.write(b"f", b"x", pb.WRITE_MODE_CREATE), errno.EEXIST)
        self.assertEqual(self.read(b"f"), b"new")
        self.write(b"f", b"+more", pb.WRITE_MODE_APPEND)
        self.write(b"g", b"made", pb.WRITE_MODE_APPEND)
        self.assertEqual(self.read(b"f"), b"new+more")
        self.write(b"f", b"XX", pb.WRITE_MODE_IN_PLACE, offset=3)
        self.assertEqual(self.read(b"f"), b"newXXore")
        self.fails("SYSTEM", lambda: self.write(b"h", b"", pb.WRITE_MODE_IN_PLACE), errno.ENOENT)
        self.fails("SYSTEM", lambda: self.write(b"no/f", b"x"), errno.ENOENT)
        self.write(b"a/b/c/f", b"x", parents=True)
        self.assertEqual(self.read(b"a/b/c/f"), b"x")
        self.fails("SYSTEM", lambda: self.write(b"a/b", b"x"), errno.EISDIR)
        self.fails("INVALID", lambda: self.write(b"f", b"x", pb.WRITE_MODE_UNSPECIFIED))
        self.assertEqual(self.names(b"a"), [b"b"])

    def test_an_abandoned_write_leaves_nothing(self):
        c = self.open()
        channel = c.open(write_file=pb.WriteFile(path=b"f", write_mode=pb.WRITE_MODE_REPLACE))
        c.send(channel, data=pb.Data(data=b"half"))
        c.call(stat=pb.Stat(path=b""))
        self.assertEqual(len(self.names(b"")), 1 if self.sandbox or True else 0)
        c.send(channel, cancel=pb.Cancel())
        self.fails("CANCELLED", lambda: c.collect(channel))
        self.assertEqual(self.names(b""), [])
        channel = c.open(write_file=pb.WriteFile(path=b"f", write_mode=pb.WRITE_MODE_REPLACE))
        c.send(channel, data=pb.Data(data=b"half"))
        c.call(stat=pb.Stat(path=b""))
        c.close()
        self.assertTrue(eventually(lambda: self.names(b"") == []))

    def test_names_are_bytes(self):
        names = [b"a\nb", b"\xff\xfe", b" ", b"-rf", b"x" * 255, b"\xc3\xbc"]
        for name in names:
            self.write(name, name)
        self.assertEqual(self.names(b""), sorted(names))
        for name in names:
            self.assertEqual(self.read(name), name)
        self.fails("INVALID", lambda: self.read(b"a\0b"))
        self.fails("INVALID", lambda: self.read(b"x" * 5000))
        self.fails("SYSTEM", lambda: self.write(b"y" * 256, b""), errno.ENAMETOOLONG)

    def test_stat_and_links(self):
        self.write(b"f", b"12345")
        self.c.call(make_link=pb.MakeLink(path=b"l", target=b"f"))
        self.c.call(make_link=pb.MakeLink(path=b"h", target=b"f", hard=True))
        e = self.stat(b"l")
        self.assertEqual((e.type, e.target), (L, b"f"))
        self.assertEqual(self.stat(b"").type, D)
        self.fails("SYSTEM", lambda: self.stat(b"none"), errno.ENOENT)
        if self.c.hello.follows_links:
            self.assertEqual(self.read(b"l"), b"12345")
            e = self.stat(b"l", follow=True)
            self.assertEqual((e.type, e.size, e.links), (F, 5, 2))
        else:
            self.fails("SYSTEM", lambda: self.read(b"l"), errno.ELOOP)
            self.fails("SYSTEM", lambda: self.stat(b"l", follow=True), errno.ELOOP)

    def test_directories(self):
        c = self.c
        c.call(make_directory=pb.MakeDirectory(path=b"d"))
        self.fails("SYSTEM", lambda: c.call(make_directory=pb.MakeDirectory(path=b"d")),
                   errno.EEXIST)
        c.call(make_directory=pb.MakeDirectory(path=b"d/e/f/", parents=True, mode=0o2770))
        c.call(make_directory=pb.MakeDirectory(path=b"d/e/f", parents=True))
        self.assertEqual(self.stat(b"d/e/f").mode, 0o2770)
        self.write(b"file", b"")
        self.fails("SYSTEM", lambda: c.call(
            make_directory=pb.MakeDirectory(path=b"file", parents=True)), errno.EEXIST)
        self.fails("SYSTEM", lambda: c.call(remove=pb.Remove(path=b"d")), errno.ENOTEMPTY)
        c.call(rename=pb.Rename(to=b"d2", **{"from": b"d"}))
        self.fails("SYSTEM", lambda: c.call(rename=pb.Rename(to=b"file", no_replace=True,
                                                             **{"from": b"d2"})), errno.EEXIST)
        c.call(remove=pb.Remove(path=b"d2", recursive=True))
        self.fails("SYSTEM", lambda: c.call(remove=pb.Remove(path=b"d2", recursive=True)),
                   errno.ENOENT)
        c.call(remove=pb.Remove(path=b"d2", recursive=True, missing_ok=True))
        self.assertEqual(self.names(b""), [b"file"])
        self.fails("SYSTEM", lambda: c.call(remove=pb.Remove(path=b"", recursive=True)))

    def test_remove_deep_and_wide(self):
        self.sh("cd %s; mkdir w; i=0; while [ $i -lt 3000 ]; do : > w/$i; i=$((i+1)); done; "
                "j=0; while [ $j -lt 300 ]; do mkdir d; cd d; j=$((j+1)); done" %
                self.c.hello.workspace.decode())
        self.c.call(remove=pb.Remove(path=b"w", recursive=True))
        self.c.call(remove=pb.Remove(path=b"d", recursive=True))
        self.assertEqual(self.names(b""), [])

    def test_remove_read_only_directories(self):
        self.sh("cd %s; mkdir -p r/s; : > r/s/f; chmod 0555 r/s; chmod 0 r" %
                self.c.hello.workspace.decode())
        self.c.call(remove=pb.Remove(path=b"r", recursive=True))
        self.assertEqual(self.names(b""), [])

    def test_list_many(self):
        self.sh("cd %s; i=0; while [ $i -lt 5000 ]; do : > n$i; i=$((i+1)); done" %
                self.c.hello.workspace.decode())
        self.assertEqual(len(set(self.names(b""))), 5000)
        self.fails("SYSTEM", lambda: self.names(b"n1"), errno.ENOTDIR)

    def test_attributes(self):
        self.write(b"f", b"12345")
        self.c.call(set_attributes=pb.SetAttributes(path=b"f", set_mode=True, mode=0o4750,
                                                    set_mtime=True, mtime_s=-5, mtime_ns=7,
                                                    set_size=True, size=3))
        e = self.stat(b"f")
        self.assertEqual((e.mode, e.size, e.mtime_s, e.mtime_ns), (0o4750, 3, -5, 7))
        self.c.call(make_link=pb.MakeLink(path=b"l", target=b"f"))
        self.fails("SYSTEM", lambda: self.c.call(set_attributes=pb.SetAttributes(
            path=b"l", set_mode=True, mode=0o777)), errno.EOPNOTSUPP)
        self.c.call(set_attributes=pb.SetAttributes(path=b"l", set_mtime=True, mtime_s=99))
        self.assertEqual((self.stat(b"l").mtime_s, self.stat(b"f").mtime_s), (99, -5))

    def test_nothing_leads_out(self):
        c = self.c
        w = c.hello.workspace.decode()
        outside = self.outside("outside")
        self.addCleanup(shutil.rmtree, outside, True)
        self.sh("rm -rf %s; mkdir %s; echo secret > %s/s" % (outside, outside, outside))
        self.sh("cd %s; ln -s %s abs; ln -s ../../../../../../..%s rel; ln -s %s/s file; mkdir d; "
                "ln -s .. d/up; ln -s / root; ln -s /proc/self/fd magic" %
                (w, outside, outside, outside))
        for path in (b"abs/s", b"rel/s", b"file", b"../x", b"d/../../x", b"root/etc/passwd",
                     b"/etc/passwd", b"d/up/../../etc", b"magic/0", b"/workspacex/f",
                     b"d/up/rel/s"):
            calls = [lambda: self.read(path),
                     lambda: self.write(path, b"x", pb.WRITE_MODE_APPEND),
                     lambda: self.names(path), lambda: self.stat(path, follow=True),
                     lambda: c.call(watch=pb.Watch(path=path))]
            if path != b"file":  # the link itself may be sent, and replaced
                calls += [lambda: self.write(path, b"x"),
                          lambda: c.call(download=pb.Download(path=path))]
            for call in calls:
                with self.assertRaises(Failed, msg=path) as caught:
                    call()
                self.assertIn(caught.exception.code, (pb.ERROR_CODE_OUTSIDE, pb.ERROR_CODE_SYSTEM))
        self.assertEqual(self.sh("cat %s/s" % outside), b"secret\n")
        self.assertEqual(self.sh("ls %s" % outside), b"s\n")
        self.fails("OUTSIDE", lambda: self.read(b"abs/s"))
        self.fails("OUTSIDE", lambda: self.read(b"/etc/passwd"))
        if c.hello.follows_links:
            self.write(b"d/x", b"in")
            self.assertEqual(self.read(b"d/up/d/x"), b"in")
            self.fails("OUTSIDE", lambda: self.read(b"rel/s"))
        c.call(remove=pb.Remove(path=b"abs", recursive=True))
        self.assertEqual(self.sh("cat %s/s" % outside), b"secret\n")

    def test_swapped_while_we_work(self):
        c = self.c
        w = c.hello.workspace.decode()
        outside = self.outside("outside2")
        self.addCleanup(shutil.rmtree, outside, True)
        self.sh("rm -rf %s; mkdir %s; echo secret > %s/s; mkdir -p %s/d; echo inside > %s/d/s" % (
            outside, outside, outside, w, w))
        swap = c.start(["/bin/sh", "-c", "cd %s; while :; do mv d e; ln -s %s d; rm d; mv e d; done"
                        % (w, outside)], discard_error=True)
        c.started(swap)
        seen = set()
        end = time.time() + 3
        n = 0
        while time.time() < end:
            n += 1
            try:
                seen.add(self.read(b"d/s"))
            except Failed as e:
                seen.add(e.errno)
            try:
                self.write(b"d/new%d" % (n % 7), b"x")
                self.write(b"d/s", b"inside\n", pb.WRITE_MODE_APPEND)
            except Failed:
                pass
            try:
                c.call(make_directory=pb.MakeDirectory(path=b"d/p/q", parents=True, mode=0o777))
                c.call(remove=pb.Remove(path=b"d/p", recursive=True))
            except Failed:
                pass
        c.send(swap, cancel=pb.Cancel())
        c.result(swap)
        self.assertFalse([s for s in seen if isinstance(s, bytes) and b"secret" in s])
        self.assertGreater(len(seen), 1)
        self.assertEqual(self.sh("ls %s; cat %s/s" % (outside, outside)), b"s\nsecret\n")

    def test_special_files_do_not_block(self):
        w = self.c.hello.workspace.decode()
        self.sh("cd %s; mkfifo p" % w)
        self.fails("SYSTEM", lambda: self.read(b"p"))
        self.fails("SYSTEM", lambda: self.write(b"p", b"x", pb.WRITE_MODE_APPEND))
        self.fails("SYSTEM", lambda: self.read(b""), errno.EISDIR)

    def test_watch(self):
        c = self.c
        channel = c.open(watch=pb.Watch(path=b""))
        self.assertEqual(c.next_on(channel).watch_event.kind, pb.WATCH_KIND_READY)
        self.sh("cd %s; echo x > new; mv new other; mkdir d; rm other" %
                c.hello.workspace.decode())
        events = []
        while len(events) < 7:
            e = c.next_on(channel, 5).watch_event
            events.append((e.kind, e.name))
        for want in ((pb.WATCH_KIND_CREATED, b"new"), (pb.WATCH_KIND_CLOSED, b"new"),
                     (pb.WATCH_KIND_MOVED_FROM, b"new"), (pb.WATCH_KIND_MOVED_TO, b"other"),
                     (pb.WATCH_KIND_CREATED, b"d"), (pb.WATCH_KIND_REMOVED, b"other")):
            self.assertIn(want, events)
        c.send(channel, cancel=pb.Cancel())
        self.fails("CANCELLED", lambda: c.collect(channel))
        self.write(b"f", b"")
        channel = c.open(watch=pb.Watch(path=b"f"))
        self.assertEqual(c.next_on(channel).watch_event.kind, pb.WATCH_KIND_READY)
        c.call(remove=pb.Remove(path=b"f"))
        self.assertEqual(c.collect(channel)[-1].watch_event.kind, pb.WATCH_KIND_GONE)

    def test_watch_waits_for_credit(self):
        c = self.open(credit=200)
        channel = c.open(watch=pb.Watch(path=b""))
        self.assertEqual(c.next_on(channel).watch_event.kind, pb.WATCH_KIND_READY)
        c.held.add(channel)
        self.sh("cd %s; for i in 1 2 3 4 5 6 7 8; do echo $i > name$i; done" %
                c.hello.workspace.decode())
        left, names = 200 - 10, []
        while len(names) < 24:  # three events for each
            if left <= 0:
                with self.assertRaises(TimeoutError):
                    c.next_on(channel, 0.2)
                c.send(channel, credit=pb.Credit(bytes=100))
                left += 100
            message = c.next_on(channel, 5)
            self.assertGreater(left, 0)
            left -= message.ByteSize()
            names.append(message.watch_event.name)
        self.assertEqual(sorted(names), sorted(3 * [b"name%d" % i for i in range(1, 9)]))

    def tree(self):
        w = self.c.hello.workspace.decode()
        self.sh("cd %s; mkdir -p t/a/b t/ro t/empty; echo 1 > t/a/f; ln t/a/f t/a/hard; "
                "head -c 200000 /dev/zero > t/a/b/big; ln -s a/f t/link; ln -s /abs/olute t/abs; "
                "mkfifo t/pipe; echo x > 't/new\nline'; : > t/none; echo r > t/ro/r; "
                "chmod 4711 t/a/f; touch -d @1000000000 t/a/b t/ro/r t/ro; chmod 0555 t/ro" % w)

    def describe(self, path):
        return self.sh("cd %s/%s; find . -exec ls -ldn {} + | awk '{print $1,$2,$3,$4,$5}' | sort; "
                       "find . -type f | sort | xargs -0 -n1 printf %%s | md5sum; find . | sort; "
                       "ls -l a/b ro | grep -v total | awk '{print $6,$7,$8}'" % (
                           self.c.hello.workspace.decode(), path))

    def test_download_and_upload_of_a_tree(self):
        c = self.c
        self.tree()
        messages = c.call(download=pb.Download(path=b"t"))
        kinds = [m.entry.type for m in messages if m.WhichOneof("body") == "entry"]
        self.assertEqual(kinds.count(pb.ENTRY_TYPE_HARD_LINK), 1)
        self.assertEqual(kinds.count(D), kinds.count(pb.ENTRY_TYPE_LEAVE_DIRECTORY))
        before = self.describe("t")
        for name in (b"u", b"u"):  # twice: over an existing one as well
            channel = c.open(upload=pb.Upload(path=name, replace=True))
            for m in messages:
                body = m.WhichOneof("body")
                while c.credit[channel] <= 0:
                    m2 = c.receive()
                    c.waiting.setdefault(m2.channel, []).append(m2)
                message = pb.ToAgent(channel=channel, **{body: getattr(m, body)})
                if not (body == "data" and not m.data.data):
                    c.credit[channel] -= message.ByteSize()
                c.raw(c.frame(message))
            c.send(channel, data=pb.Data(end=True))
            c.collect(channel)
            self.assertEqual(self.describe("u"), before)
        self.sh("cd %s; chmod 755 t/ro u/ro" % c.hello.workspace.decode())

    def upload(self, path, *entries, **options):
        c = self.c
        channel = c.open(upload=pb.Upload(path=path, **options))
        for e in entries:
            if isinstance(e, bytes):
                c.send(channel, data=pb.Data(data=e, end=True))
            else:
                c.send(channel, entry=e)
        c.send(channel, data=pb.Data(end=True))
        return c.collect(channel)

    def test_hostile_trees(self):
        top = pb.Entry(type=D, mode=0o755)
        outside = self.outside("outside3")
        self.addCleanup(shutil.rmtree, outside, True)
        self.sh("rm -rf %s; mkdir %s; echo secret > %s/s" % (outside, outside, outside))
        door = pb.Entry(path=b"door", type=L, target=outside.encode())
        bad = [
            [top, pb.Entry(path=b"../x", type=F), b"x"],
            [top, pb.Entry(path=b"a/../../x", type=F), b"x"],
            [top, pb.Entry(path=b"/x", type=F), b"x"],
            [top, pb.Entry(path=b"..", type=D)],
            [top, door, pb.Entry(path=b"door/x", type=F), b"x"],
            [top, door, pb.Entry(path=b"door", type=pb.ENTRY_TYPE_LEAVE_DIRECTORY, mode=0)],
            [top, door, pb.Entry(path=b"h", type=pb.ENTRY_TYPE_HARD_LINK, target=b"door/s")],
            [top, pb.Entry(path=b"h", type=pb.ENTRY_TYPE_HARD_LINK, target=b"../../etc/passwd")],
            [top, pb.Entry(path=b"h", type=pb.ENTRY_TYPE_HARD_LINK, target=b"/etc/passwd")],
            [top, pb.Entry(path=b"dev", type=pb.ENTRY_TYPE_BLOCK_DEVICE)],
            [pb.Entry(path=b"x", type=F)],
            [top, b"data without a file"],
            [top, pb.Entry(path=b"f", type=F), pb.Entry(path=b"g", type=F)],
            [top, pb.Entry(path=b"a\0b", type=D)],
        ]
        for i, entries in enumerate(bad):
            with self.assertRaises(Failed, msg=str(entries)):
                self.upload(b"up%d" % i, *entries, replace=True)
        self.assertEqual(self.sh("ls %s; cat %s/s" % (outside, outside)), b"s\nsecret\n")

    def test_single_files_and_links(self):
        self.upload(b"f", pb.Entry(type=F, mode=0o600, mtime_s=12), b"content")
        self.assertEqual(self.read(b"f"), b"content")
        self.assertEqual((self.stat(b"f").mode, self.stat(b"f").mtime_s), (0o600, 12))
        self.fails("SYSTEM", lambda: self.upload(b"f", pb.Entry(type=F), b"y"), errno.EEXIST)
        messages = self.c.call(download=pb.Download(path=b"f"))
        self.assertEqual([m.WhichOneof("body") for m in messages], ["entry", "data"])

    def test_unreadable_is_skipped_or_told(self):
        r = self.c.run(["id", "-u"])
        self.sh("cd %s; mkdir t; echo x > t/f; : > t/g; ln -s / t/l" % self.c.hello.workspace.decode())
        self.c.call(download=pb.Download(path=b"t"))
        self.assertEqual(self.c.done.skipped, 0)
        if r.out.strip() == b"0":
            return
        self.sh("chmod 0 %s/t/f" % self.c.hello.workspace.decode())
        e = self.fails("SYSTEM", lambda: self.c.call(download=pb.Download(path=b"t")), errno.EACCES)
        self.assertEqual(e.error.path, b"f")
        self.c.call(download=pb.Download(path=b"t", keep_going=True))
        self.assertEqual(self.c.done.skipped, 1)

    def test_growing_file_is_cut_at_its_size(self):
        w = self.c.hello.workspace.decode()
        channel = self.c.start(["/bin/sh", "-c", "cd %s; while :; do echo line >> log; done" % w])
        self.c.started(channel)
        time.sleep(0.2)
        for _ in range(20):
            messages = self.c.call(download=pb.Download(path=b"log"))
            size = messages[0].entry.size
            self.assertEqual(sum(len(m.data.data) for m in messages[1:]), size)
        self.c.send(channel, cancel=pb.Cancel())
        self.c.result(channel)


if __name__ == "__main__":
    unittest.main()
