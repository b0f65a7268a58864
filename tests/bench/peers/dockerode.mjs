// SPDX-License-Identifier: Apache-2.0
// dockerode as a client of bench_live: dockerode.mjs SCENARIO COUNT IMAGE.
import Docker from "dockerode";
import fs from "node:fs";
import { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";

const BULK = 256 << 20;
const SMALL = 4096;
const ENTRIES = 10000;

const docker = new Docker();

async function make(image) {
  const container = await docker.createContainer({
    Image: image, Entrypoint: ["tail"], Cmd: ["-f", "/dev/null"],
    HostConfig: { Init: true, NetworkMode: "none" },
  });
  await container.start();
  return container;
}

class Count extends Writable {
  total = 0;
  _write(piece, encoding, done) {
    this.total += piece.length;
    done();
  }
}

async function run(container, argv, input) {
  const exec = await container.exec({
    Cmd: argv, AttachStdout: true, AttachStderr: true, AttachStdin: !!input,
  });
  const stream = await exec.start({ hijack: true, stdin: !!input });
  const out = new Count(), err = new Count();
  container.modem.demuxStream(stream, out, err);
  const ended = new Promise((resolve, reject) => {
    stream.on("end", resolve);
    stream.on("error", reject);
  });
  if (input) await pipeline(input, stream);
  await ended;
  const { ExitCode } = await exec.inspect();
  if (ExitCode !== 0) throw new Error(`${argv[0]} ended with ${ExitCode}`);
  return out.total;
}

function* zeros(length) {
  const piece = Buffer.alloc(65536);
  for (; length > 0; length -= piece.length) yield piece.subarray(0, Math.min(length, piece.length));
}

// The head of a tar entry, by hand: dockerode leaves that to its users.
function* tar(size) {
  const head = Buffer.alloc(512);
  head.write("file", 0);
  head.write("0000644", 100);
  head.write("0000000", 108);
  head.write("0000000", 116);
  head.write(size.toString(8).padStart(11, "0"), 124);
  head.write("00000000000", 136);
  head.write("        0", 148);
  head.write("ustar", 257);
  head.write("00", 263);
  const sum = head.reduce((a, b) => a + b, 0);
  head.write(sum.toString(8).padStart(6, "0") + "\x00 ", 148);
  yield head;
  yield* zeros(size);
  yield Buffer.alloc(1024);
}

const actions = {
  true: (c) => run(c, ["true"]),
  stdout: async (c) => {
    if (await run(c, ["head", "-c", String(BULK), "/dev/zero"]) !== BULK) throw new Error("short");
  },
  stdin: (c) => run(c, ["sh", "-c", "cat >/dev/null"], Readable.from(zeros(BULK))),
  write4k: (c) => c.putArchive(Readable.from(tar(SMALL)), { path: "/workspace" }),
  write256: (c) => c.putArchive(Readable.from(tar(BULK)), { path: "/workspace" }),
  read4k: async (c) => pipeline(await c.getArchive({ path: "/workspace/file" }), new Count()),
  read256: async (c) => pipeline(await c.getArchive({ path: "/workspace/file" }), new Count()),
  list: (c) => run(c, ["ls", "-la", "/workspace/many"]),
};

async function once(scenario, boxes) {
  if (!scenario.startsWith("at-once-")) return actions[scenario](boxes[0]);
  const width = Number(scenario.split("-").pop());
  return Promise.all(Array.from({ length: width },
                                (_, i) => actions.true(boxes[i % boxes.length])));
}

async function prepare(scenario, box) {
  await run(box, ["mkdir", "-p", "/workspace"]);
  if (scenario === "read4k") await actions.write4k(box);
  if (scenario === "read256") await actions.write256(box);
  if (scenario === "list")
    await run(box, ["sh", "-c",
                    `mkdir /workspace/many && cd /workspace/many && seq ${ENTRIES} | xargs touch`]);
}

// From create to the end of the first command.
async function first(image) {
  const began = process.hrtime.bigint();
  const box = await make(image);
  await actions.true(box);
  const wall = process.hrtime.bigint() - began;
  await box.remove({ force: true });
  return wall;
}

async function measure(scenario, count, image) {
  if (scenario === "first") {
    let wall = 0n;
    for (let i = 0; i < count; i++) wall += await first(image);
    return [wall, 0];
  }
  const boxes = [];
  try {
    for (let i = 0; i < (scenario === "at-once-in-16-128" ? 16 : 1); i++)
      boxes.push(await make(image));
    await prepare(scenario, boxes[0]);
    if (count > 1) await once(scenario, boxes);
    const cpu = process.cpuUsage(), began = process.hrtime.bigint();
    for (let i = 0; i < count; i++) await once(scenario, boxes);
    const wall = process.hrtime.bigint() - began, used = process.cpuUsage(cpu);
    return [wall, (used.user + used.system) * 1000];
  } finally {
    for (const box of boxes) await box.remove({ force: true });
  }
}

const [wall, cpu] = await measure(process.argv[2], Number(process.argv[3]), process.argv[4]);
const peak = fs.readFileSync("/proc/self/status", "ascii").match(/VmHWM:\s+(\d+)/)[1];
console.log(String(wall), cpu, peak);
