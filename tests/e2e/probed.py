#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""probed - a client of exitmeter-probed that does not keep to the rules

usage: probed.py SOCKET WHAT [ARGUMENT...]; prints the errno of the answer, 0 or "closed"

The packets are those of user/capture/source_bpf_wire.h.
"""
import array
import ctypes
import errno
import mmap
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import time

VERSION, REQUEST_BYTES, ROOTS = 1, 16 + 4 * 64, 64
OPEN, PULSE, SAMPLE, LATE, IDLE, CLOSE, LIVING, WAKE = range(1, 9)
ATTACH = 2

PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36
libc = ctypes.CDLL(None)


def error_of(data):
    return "closed" if not data else errno.errorcode.get(-struct.unpack_from("=i", data, 8)[0], "0")


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(15)
        self.socket.connect(path)
        self.fds = []

    def send(self, op, flags=0, roots=(), proofs=(), version=VERSION, n=None, cut=0, more=b""):
        data = struct.pack("=IIII64i", version, op, flags, len(roots) if n is None else n, *roots,
                           *[0] * (ROOTS - len(roots)))
        assert len(data) == REQUEST_BYTES
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", proofs))] if proofs else []
        try:
            self.socket.sendmsg([data[:len(data) - cut] + more], rights)
        except BrokenPipeError:  # what it said before it closed comes yet
            pass

    def answer(self):
        """The next packet that is none to wake us; b"" at the end."""
        while True:
            try:
                data, fds, _, _ = socket.recv_fds(self.socket, 65536, 8)
            except ConnectionResetError:
                continue
            self.fds += fds
            if len(data) < 12 or struct.unpack_from("=I", data, 4)[0] != WAKE:
                return data

    def error(self):
        return error_of(self.answer())


def proof(pid):
    return os.open(f"/proc/{pid}/auxv", os.O_RDONLY)


def held():
    """A child that waits, as the one exitmeter holds."""
    wait, go = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(go)
        os.read(wait, 1)
        os._exit(0)
    os.close(wait)
    return pid, go


def opened(path):
    """A session of a held child."""
    c = Client(path)
    pid, c.gate = held()
    c.send(OPEN, roots=[pid], proofs=[proof(pid)])
    c.first = c.answer()
    return c


def attach(path, pid, of=None):
    """To @pid, or a child, with what the kernel gives for it, or for @of."""
    c = Client(path)
    pid, c.gate = held() if pid == "child" else (int(pid), None)
    c.send(OPEN, ATTACH, [pid], [proof(of or pid)])
    print(c.error())


def with_proof(path, pid, kind):
    """Anything that is no proof."""
    fds = {"none": [], "file": [os.open("/etc/passwd", os.O_RDONLY)], "pipe": [os.pipe()[0]],
           "folder": [os.open(f"/proc/{pid}", os.O_RDONLY)], "stat": [os.open(f"/proc/{pid}/stat", os.O_RDONLY)],
           "two": [proof("self"), proof("self")]}[kind]
    c = Client(path)
    c.send(OPEN, ATTACH, [int(pid)], fds)
    print(c.error())


def comm(pid):
    with open(f"/proc/{pid}/comm", encoding="utf-8") as f:
        return f.read().strip()


def before_setuid(path, program, *arguments):
    """What a child gave away before it executed a program that is another user's."""
    ready, go = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(go)
        os.read(ready, 1)
        os.execv(program, [program, *arguments])
    c = Client(path)
    p = proof(child)
    os.close(go)
    while comm(child) != os.path.basename(program)[:15]:
        time.sleep(0.01)
    c.send(OPEN, ATTACH, [child], [p])
    print(c.error())


def become(uid):
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)  # it was lost with the ids


def orphan():
    """A process that sleeps, and is not our child."""
    told, tell = os.pipe()
    if os.fork() == 0:
        pid = os.fork()
        if pid == 0:
            time.sleep(60)
            os._exit(0)
        os.write(tell, struct.pack("=i", pid))
        os._exit(0)
    pid = struct.unpack("=i", os.read(told, 4))[0]
    os.wait()
    return pid


def stop():
    os.kill(os.getpid(), signal.SIGSTOP)


def stale(path, server, uid, when):
    """
    A process ends and another user's gets its number, @when "before" the session is asked for, or
    "between": it was allowed and is not marked yet, as long as the client does not leave its CPU.
    Run by root, the client as @uid.
    """
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    told, tell = os.pipe()
    client = os.fork()
    if client == 0:
        become(int(uid))
        target = orphan()
        c = Client(path)
        p = proof(target)
        os.write(tell, struct.pack("=i", target))
        if when == "before":
            stop()
        c.send(OPEN, ATTACH, [target], [p])
        if when == "between":
            stop()
        print(c.error(), flush=True)
        os._exit(0)
    target = struct.unpack("=i", os.read(told, 4))[0]
    os.waitpid(client, os.WUNTRACED)
    if when == "between":
        wait_for_hooks(int(server))
    victim = reuse(target)
    os.kill(client, signal.SIGCONT)
    os.waitpid(client, 0)
    victim.kill()
    victim.wait()


def wait_for_hooks(server):
    """Until a session has its programs attached."""
    while True:
        with open(f"/proc/{server}/task/{server}/children", encoding="ascii") as f:
            for child in f.read().split():
                try:
                    links = [os.readlink(f"/proc/{child}/fd/{fd}") for fd in os.listdir(f"/proc/{child}/fd")]
                except OSError:
                    continue
                if sum("bpf_link" in link or "raw-tracepoint" in link for link in links) >= 5:
                    return
        time.sleep(0.005)


def reuse(pid):
    """Ends @pid, and makes another process of ours with its number."""
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    for _ in range(500):
        with open("/proc/sys/kernel/ns_last_pid", "w", encoding="ascii") as f:
            f.write(str(pid - 1))
        victim = subprocess.Popen(["sleep", "60"])
        if victim.pid == pid:
            return victim
        victim.kill()
        victim.wait()
    raise SystemExit("nobody got that number")


def nonsense(c, rnd, pid, p):
    kind = rnd.randrange(8)
    if kind == 0:
        c.socket.send(rnd.randbytes(rnd.randrange(1, 2000)))
    elif kind == 1:
        c.send(rnd.randrange(0, 1 << 32), rnd.randrange(0, 1 << 32), [pid], [p])
    elif kind == 2:
        c.send(OPEN, ATTACH, [rnd.randrange(-(1 << 31), 1 << 31) for _ in range(64)],
               [p] * rnd.randrange(1, 65), n=rnd.randrange(0, 1 << 32))
    elif kind == 3:
        c.send(OPEN, 0, [pid], [p] * 200)
    elif kind == 4:
        c.send(OPEN, 0, [pid], [p], cut=rnd.randrange(1, REQUEST_BYTES))
    elif kind == 5:
        c.send(OPEN, 0, [pid], [p], more=b"x" * rnd.randrange(1, 4096))
    elif kind == 6:
        c.send(OPEN, 0, [pid], [p], version=rnd.randrange(2, 1 << 32))
    else:
        c.send(rnd.randrange(2, 12))


def garbage(path, seed):
    """500 connections with nonsense; how many were taken."""
    rnd = random.Random(int(seed))
    pid, gate = held()
    p = proof(pid)
    taken = 0
    for _ in range(500):
        c = Client(path)
        try:
            nonsense(c, rnd, pid, p)
            taken += error_of(c.answer()) == "0"
        except OSError:
            pass
        c.socket.close()
        for fd in c.fds:
            os.close(fd)
    os.close(gate)
    print(taken)


def requests(path, kind):
    """Inside a session that was opened rightly."""
    c = opened(path)
    print(error_of(c.first))
    if kind == "again":
        c.send(OPEN, roots=[os.getpid()], proofs=[proof("self")])
    elif kind == "unknown":
        c.send(99)
    elif kind == "short":
        c.send(PULSE, cut=8)
    elif kind == "living":  # while it is metered
        c.send(LIVING)
    elif kind == "fds":
        for _ in range(300):
            c.send(PULSE, proofs=[c.gate] * 60)
            c.answer()
        c.send(PULSE)
    print(c.error())


def sessions(path, n):
    """As many as there are to be had, of @n; they stay until a line comes."""
    all_of = []
    for _ in range(int(n)):
        all_of.append(opened(path))
    print(" ".join(error_of(c.first) for c in all_of), flush=True)
    sys.stdin.readline()


def hang(path, how):
    """Opens a session and says nothing more; prints its own pid."""
    c = Client(path) if how == "mute" else opened(path)
    if how == "heir":  # somebody else has the socket still
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
    print(os.getpid(), flush=True)
    signal.pause()
    del c


def handed_over(path):
    """What a client gets, and what it can do with it."""
    c = opened(path)
    wrong = []
    if len(c.fds) != 1:
        wrong.append(f"{len(c.fds)} descriptors")
    with open(f"/proc/self/fdinfo/{c.fds[0]}", encoding="ascii") as f:
        info = dict(line.split(":\t", 1) for line in f.read().splitlines() if ":\t" in line)
    if info.get("map_type") != "27":
        wrong.append(f"a map of type {info.get('map_type')}")
    page = mmap.PAGESIZE
    for offset in (page, 2 * page):
        try:
            mmap.mmap(c.fds[0], page, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE, offset=offset)
            wrong.append(f"page {offset // page} can be written")
        except (PermissionError, OSError):
            pass
    packets = [c.first]
    for op in (PULSE, LATE, SAMPLE, CLOSE):
        c.send(op)
        packets.append(c.answer())
    c.send(LIVING)
    while True:
        packets.append(c.answer())
        if struct.unpack_from("=I", packets[-1], 4)[0] == 0:
            break
    size = int(info["max_entries"])
    ring = mmap.mmap(c.fds[0], page + size, mmap.MAP_SHARED, mmap.PROT_READ, offset=page)
    packets.append(ring[:])
    for packet in packets:
        for at in range(0, len(packet) - 7, 8):
            value = struct.unpack_from("=Q", packet, at)[0]
            if 0xffff800000000000 <= value < 0xfffffffffffff000:
                wrong.append(f"an address of the kernel: {value:x}")
    if len(packets) < 8 or not any(packets[-1]):
        wrong.append("nothing to look at")
    print("\n".join(wrong) or "nothing else")


def main():
    path, what, *arguments = sys.argv[1:]
    globals()[what](path, *arguments)


main()
