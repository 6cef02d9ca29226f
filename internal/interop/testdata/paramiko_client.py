# Copyright 2026 The fastmac Authors. All rights reserved.
# Use of this source code is governed by a BSD-style
# license that can be found in the LICENSE file.

"""Runs a command by Paramiko, with the algorithms that Paramiko negotiates by default.

    paramiko_client.py PORT COMMAND
"""

import os
import sys
import threading

import paramiko


def send(channel):
    """Copies standard input to the command. It ends early if the command does."""
    try:
        while data := os.read(0, 32000):  # about a packet
            channel.sendall(data)
        channel.shutdown_write()
    except OSError:
        if not channel.closed:  # standard input has failed
            channel.close()
            raise


def receive(recv, out):
    while data := recv(1 << 20):
        out.write(data)
        out.flush()


port, command = sys.argv[1:]
transport = paramiko.Transport(("127.0.0.1", int(port)))
transport.start_client()
transport.auth_none("interop")
channel = transport.open_session()
channel.exec_command(command)
errors = threading.Thread(
    target=receive, args=(channel.recv_stderr, sys.stderr.buffer), daemon=True
)
errors.start()
threading.Thread(target=send, args=(channel,), daemon=True).start()
receive(channel.recv, sys.stdout.buffer)
errors.join()
status = channel.recv_exit_status()
sys.exit(status if status >= 0 else "the command ended without an exit status")
