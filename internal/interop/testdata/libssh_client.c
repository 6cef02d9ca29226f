// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Runs a command by libssh, with the algorithms that libssh negotiates by default.
//
//     libssh_client PORT COMMAND

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <libssh/callbacks.h>
#include <libssh/libssh.h>

static int status = -1;

static void fail(const char *what, ssh_session session)
{
	fprintf(stderr, "libssh_client: %s: %s\n", what, ssh_get_error(session));
	exit(1);
}

// receive writes what the command has written, whichever call of libssh it
// arrives in. So a call that waits for the server never stops the output.
static int receive(ssh_session session, ssh_channel channel, void *data, uint32_t len,
                   int is_stderr, void *userdata)
{
	for (uint32_t done = 0; done < len;) {
		ssize_t n = write(is_stderr ? 2 : 1, (char *)data + done, len - done);
		if (n < 0) {
			perror("libssh_client: write");
			exit(1);
		}
		done += n;
	}
	return len;
}

static void exited(ssh_session session, ssh_channel channel, int exit_status, void *userdata)
{
	status = exit_status;
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: libssh_client PORT COMMAND\n");
		return 1;
	}
	signal(SIGPIPE, SIG_IGN);
	ssh_session session = ssh_new();
	bool config = false; // else ssh_config would set the algorithms
	ssh_options_set(session, SSH_OPTIONS_PROCESS_CONFIG, &config);
	ssh_options_set(session, SSH_OPTIONS_HOST, "127.0.0.1");
	ssh_options_set(session, SSH_OPTIONS_USER, "interop");
	if (ssh_options_set(session, SSH_OPTIONS_PORT_STR, argv[1]) != SSH_OK ||
	    ssh_connect(session) != SSH_OK)
		fail("connect", session);
	if (ssh_userauth_none(session, NULL) != SSH_AUTH_SUCCESS)
		fail("authentication", session);

	ssh_channel channel = ssh_channel_new(session);
	struct ssh_channel_callbacks_struct callbacks = {
		.channel_data_function = receive,
		.channel_exit_status_function = exited,
	};
	ssh_callbacks_init(&callbacks);
	ssh_set_channel_callbacks(channel, &callbacks);
	if (ssh_channel_open_session(channel) != SSH_OK)
		fail("session", session);
	if (ssh_channel_request_exec(channel, argv[2]) != SSH_OK)
		fail("exec", session);

	ssh_event event = ssh_event_new();
	ssh_event_add_session(event, session);
	struct pollfd fds[] = {{ssh_get_fd(session), POLLIN, 0}, {0, POLLIN, 0}};
	static char buf[1 << 18];
	// libssh must have sent all that it has to send before poll waits.
	while (ssh_blocking_flush(session, -1) == SSH_OK && ssh_channel_is_open(channel)) {
		if (poll(fds, 2, -1) < 0) {
			perror("libssh_client: poll");
			return 1;
		}
		if (fds[0].revents && ssh_event_dopoll(event, 0) == SSH_ERROR)
			break;
		if (fds[1].revents && ssh_channel_is_open(channel)) {
			ssize_t n = read(0, buf, sizeof buf);
			if (n < 0) {
				perror("libssh_client: read");
				return 1;
			}
			// A failure shows in the channel, which is closed then.
			if (n > 0) {
				ssh_channel_write(channel, buf, n);
			} else {
				ssh_channel_send_eof(channel);
				fds[1].fd = -1; // poll ignores it
			}
		}
	}
	if (status < 0)
		fail("the command ended without an exit status", session);
	return status;
}
