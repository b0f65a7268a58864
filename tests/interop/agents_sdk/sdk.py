# SPDX-License-Identifier: Apache-2.0
"""What the tests let the SDK do, in a process of its own: sdk.py ACTION FILE [ARGUMENTS as JSON]

create   a session, whose document goes to FILE; it stays running
run      resumes the document in FILE and runs {"command"} in it; the result is printed as JSON
stop     resumes it and stops it, as leaving its block in a program does
read     only deserializes, and prints what the SDK would write again
"""

import asyncio
import json
import sys

import docker
from agents.sandbox.entries import File
from agents.sandbox.manifest import Environment, EnvEntry, Manifest, StrEnvValue
from agents.sandbox.sandboxes.docker import DockerSandboxClient, DockerSandboxClientOptions

CLIENT = DockerSandboxClient(docker.from_env())


def keep(path, session):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(CLIENT.serialize_session_state(session.state), file)


def load(path):
    with open(path, encoding="utf-8") as file:
        return CLIENT.deserialize_session_state(json.load(file))


async def create(path, options):
    variables = {"GREETING": "hello from the SDK",
                 "DESCRIBED": EnvEntry(value=StrEnvValue(value="two"), description="a variable")}
    session = await CLIENT.create(
        options=DockerSandboxClientOptions(**options),
        manifest=Manifest(environment=Environment(value=variables),
                          entries={"note.txt": File(content=b"written by the SDK\n")}))
    await session.start()
    keep(path, session)


async def run(path, command):
    state = load(path)
    before = state.container_id
    session = await CLIENT.resume(state)
    await session.start()
    result = await session.exec(command)
    endpoints = [vars(await session.resolve_exposed_port(port)) for port in state.exposed_ports]
    print(json.dumps({"same": session.state.container_id == before,
                      "container": session.state.container_id, "status": result.exit_code,
                      "stdout": result.stdout.decode(), "endpoints": endpoints}, default=str))


async def stop(path):
    session = await CLIENT.resume(load(path))
    await session.start()
    await session.aclose()


def main(action, path, argument="null"):
    argument = json.loads(argument)
    if action == "create":
        asyncio.run(create(path, argument))
    elif action == "run":
        asyncio.run(run(path, argument))
    elif action == "stop":
        asyncio.run(stop(path))
    else:
        print(json.dumps(CLIENT.serialize_session_state(load(path))))


if __name__ == "__main__":
    main(*sys.argv[1:])
