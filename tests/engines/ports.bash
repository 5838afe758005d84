# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# ports - on loopback, for servers of a test's own

# free_port: one that nobody listens at now
free_port() {
	/usr/bin/python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}
