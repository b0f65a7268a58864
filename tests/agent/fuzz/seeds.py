# SPDX-License-Identifier: Apache-2.0
"""One good stream of each request, for the fuzzer to spoil."""
import os
import sys

from client import Client, pb

requests = [
    dict(start=pb.Start(argv=[b"x"], env=[b"A=b"], input=True, terminal=True, user=b"0:0")),
    dict(attach=pb.Attach(process_id=1, output=True)), dict(kill=pb.Kill(process_id=1)),
    dict(list_processes=pb.ListProcesses()), dict(get_status=pb.GetStatus()),
    dict(read_file=pb.ReadFile(path=b"f")), dict(list=pb.List(path=b"")),
    dict(write_file=pb.WriteFile(path=b"a/f", write_mode=1, parents=True)),
    dict(stat=pb.Stat(path=b"f", follow=True)), dict(watch=pb.Watch(path=b"")),
    dict(make_directory=pb.MakeDirectory(path=b"d/e", parents=True)),
    dict(remove=pb.Remove(path=b"d", recursive=True)), dict(download=pb.Download(path=b"")),
    dict(rename=pb.Rename(to=b"g", **{"from": b"f"})),
    dict(make_link=pb.MakeLink(path=b"l", target=b"d")),
    dict(set_attributes=pb.SetAttributes(path=b"f", set_mode=True, mode=0o644, set_mtime=True)),
    dict(upload=pb.Upload(path=b"u", replace=True)),
]
more = [dict(entry=pb.Entry(type=2)), dict(entry=pb.Entry(path=b"f", type=1, mode=0o600)),
        dict(data=pb.Data(data=b"content", end=True)),
        dict(entry=pb.Entry(path=b"l", type=3, target=b"f")),
        dict(entry=pb.Entry(type=9, mode=0o755)), dict(data=pb.Data(end=True)),
        dict(credit=pb.Credit(bytes=1000)), dict(cancel=pb.Cancel())]
for i, body in enumerate(requests):
    frames = [Client.frame(pb.ToAgent(channel=i + 1, **b)) for b in [body] + more]
    for j in range(1, len(frames) + 1, 3):
        with open(os.path.join(sys.argv[1], "%d-%d" % (i, j)), "wb") as seed:
            seed.write(b"".join(frames[:j]))
