# Copyright 2026 The fastmac Authors. All rights reserved.
# Use of this source code is governed by a BSD-style
# license that can be found in the LICENSE file.

"""AsyncSSH as ssh and as sshd -i, with the keys in the current directory.

    asyncssh_peer.py client CIPHER MAC PORT COMMAND
    asyncssh_peer.py server CIPHER MAC

The client connects its standard input and output to COMMAND. The server serves
one connection on its standard input. Both print to standard error what was
negotiated, as ssh -v does. CIPHER and MAC are AsyncSSH's defaults if they are "-".
"""

import asyncio
import socket
import sys

import asyncssh


def report(conn, up, down):
    for direction, way in (("client->server", up), ("server->client", down)):
        cipher, mac = (conn.get_extra_info(way + what) for what in ("_cipher", "_mac"))
        print(f"kex: {direction} cipher: {cipher} MAC: {mac}", file=sys.stderr, flush=True)


async def client(algorithms, port, command):
    async with asyncssh.connect(
        "127.0.0.1", int(port), config=None, known_hosts="known_hosts", agent_path=None,
        username="interop", client_keys=["identity"], **algorithms
    ) as conn:
        result = await conn.run(
            command, stdin=sys.stdin.buffer, stdout=sys.stdout.buffer, encoding=None, check=True
        )
        report(conn, "send", "recv")
        return result.exit_status


async def server(algorithms):
    async def run(process):
        child = await asyncio.create_subprocess_shell(
            process.command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        await process.redirect(stdin=child.stdin, stdout=child.stdout)
        status = await child.wait()
        await process.stdout.drain()
        report(process, "recv", "send")
        process.exit(status)

    conn = await asyncssh.run_server(
        socket.socket(fileno=sys.stdin.fileno()), config=None, server_host_keys=["host_key"],
        authorized_client_keys="authorized_keys", process_factory=run, encoding=None, **algorithms
    )
    await conn.wait_closed()


role, cipher, mac, *rest = sys.argv[1:]
algorithms = {} if cipher == "-" else {"encryption_algs": [cipher], "mac_algs": [mac]}
asyncio.run((client if role == "client" else server)(algorithms, *rest))
