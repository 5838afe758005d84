#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""terminal - a person at a terminal: an outer interactive bash on a pty, and what is typed into it

usage: terminal.py SCENARIO EXITMETER SOURCE

Every wait is for something that can be seen (text, the terminal's foreground group, a state in
/proc) and has a deadline.  Prints what the terminal showed when something is wrong, and fails.
"""
import fcntl
import os
import pty
import re
import select
import shlex
import signal
import struct
import sys
import termios
import time

DEADLINE = 40
CTRL_C, CTRL_D, CTRL_Z = "\x03", "\x04", "\x1a"


class Wrong(Exception):
    pass


def stat_of(pid):
    with open(f"/proc/{pid}/stat", encoding="latin-1") as f:
        return f.read().rpartition(")")[2].split()


def state_of(pid):
    try:
        return stat_of(pid)[0]
    except OSError:
        return "gone"


def children_of(pid):
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if int(stat_of(name)[1]) == pid:
                found.append(int(name))
        except OSError:
            pass
    return found


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="latin-1") as f:
            return f.read().strip()
    except OSError:
        return ""


def until(what, condition):
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    raise Wrong(f"never: {what}")


class Terminal:
    """An interactive bash; its prompt is OUT<status>."""

    def __init__(self, exitmeter, source):
        self.meter = f"{shlex.quote(exitmeter)} --source={source}"
        self.seen = ""  # not yet expected
        self.log = ""
        env = {k: os.environ[k] for k in ("PATH", "HOME", "TMPDIR") if k in os.environ}
        env |= {"TERM": "xterm", "LC_ALL": "C.UTF-8", "PS1": "OUT<$?> ", "HISTFILE": ""}
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            for signo in range(1, signal.NSIG):
                if signo not in (signal.SIGKILL, signal.SIGSTOP) and not 32 <= signo < 34:
                    signal.signal(signo, signal.SIG_DFL)
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], env)
        self.resize(24, 80)
        self.prompt(0)

    def read(self):
        if select.select([self.fd], [], [], 0.05)[0]:
            try:
                text = os.read(self.fd, 65536).decode("utf-8", "replace")
            except OSError:
                raise Wrong("the terminal was hung up") from None
            self.seen += text
            self.log += text

    def expect(self, pattern):
        end = time.monotonic() + DEADLINE
        while True:
            found = re.search(pattern, self.seen)
            if found:
                self.seen = self.seen[found.end():]
                return found
            if time.monotonic() > end:
                raise Wrong(f"never shown: {pattern}")
            self.read()

    def prompt(self, status):
        """The outer shell is back, has the terminal, and saw this status."""
        got = self.expect(r"OUT<(\d+)> ").group(1)
        if int(got) != status:
            raise Wrong(f"status {got}, not {status}")
        self.foreground(self.pid)

    def inner(self, status):
        got = self.expect(r"IN<(\d+)> ").group(1)
        if int(got) != status:
            raise Wrong(f"status {got} in the inner shell, not {status}")

    def type(self, text):
        os.write(self.fd, text.encode())

    def line(self, text):
        self.type(text + "\n")

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def group(self):
        return os.tcgetpgrp(self.fd)

    def foreground(self, group):
        until(f"group {group} in the foreground", lambda: self.group() == group)

    def metered(self, name):
        """exitmeter's and its command's pid, once that is a program called so and is in the foreground."""

        def look():
            for pid in children_of(self.pid):
                for child in children_of(pid):
                    if name_of(pid) == "exitmeter" and name_of(child) == name:
                        return pid, child
            return None

        meter, child = until(f"{name} runs", look)
        self.foreground(meter)
        for pid in (meter, child):
            if int(stat_of(pid)[2]) != meter or int(stat_of(pid)[3]) != self.pid:
                raise Wrong(f"{pid} is not in the shell's session and the job's group")
        return meter, child

    def states(self, pids, wanted):
        """T, or t for one that is traced, is stopped."""
        until(f"{pids} in state {wanted}", lambda: all(state_of(p) in wanted for p in pids))

    def modes(self):
        self.line("stty -g")
        modes = self.expect(r"[\n\r]([0-9a-f:]{40,})\r").group(1)
        self.prompt(0)
        return modes

    def close(self):
        for pid in children_of(self.pid) + [self.pid]:
            for signo in (signal.SIGCONT, signal.SIGHUP, signal.SIGKILL):
                try:
                    os.kill(pid, signo)
                except ProcessLookupError:
                    pass
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def sleep(t):
    """Ctrl-Z, jobs, fg, Ctrl-C of a metered sleep."""
    before = t.modes()
    t.line(f"{t.meter} --json sum.json -- sleep 300")
    pids = t.metered("sleep")
    t.type(CTRL_Z)
    t.expect(r"Stopped.*sleep 300")
    t.prompt(148)
    t.states(pids, "Tt")
    t.line("jobs")
    t.expect(r"\[1\]\+ +Stopped.*sleep 300")
    t.prompt(0)
    t.line("fg")
    t.expect("sleep 300")
    t.foreground(pids[0])
    t.states(pids, "SRD")
    t.type(CTRL_Z)
    t.expect(r"Stopped.*sleep 300")
    t.prompt(148)
    t.line("bg")
    t.expect(r"sleep 300 &")
    t.prompt(0)
    t.states(pids, "SRD")
    t.line("fg")
    t.expect("sleep 300")
    t.foreground(pids[0])
    t.type(CTRL_C)
    t.expect(r"exitmeter: ")
    t.prompt(130)
    if t.modes() != before:
        raise Wrong("other terminal modes than before")


def alone(t):
    """A command that stops only itself, as less and top do: the shell gets the terminal back."""
    for stop in ("TSTP", "STOP"):
        t.line(f"{t.meter} -q -- sh -c 'kill -{stop} $$; echo re''sumed; exit 5'")
        t.expect(r"Stopped")
        t.prompt(128 + signal.Signals["SIG" + stop] if stop == "TSTP" else 148)
        t.line("fg")
        t.expect("resumed")
        t.prompt(5)


def ignoring(t):
    """A command that ignores Ctrl-Z keeps the terminal."""
    t.line(f"{t.meter} -q -- sh -c 'trap \"\" TSTP; echo re''ady; read x; echo got-$x; exit 4'")
    t.expect("ready")
    t.type(CTRL_Z)
    t.line("typed")
    t.expect("got-typed")
    t.prompt(4)
    if "Stopped" in t.log:
        raise Wrong("it was stopped")


def suspended(t):
    """An inner shell is suspended: it has a group of its own."""
    t.line(f"PS1='IN<$?> ' {t.meter} -q -- bash --norc -i")
    t.inner(0)
    t.line("suspend")
    t.expect("Stopped")
    t.prompt(148)
    t.line("fg")
    t.line("echo a$((1 + 1))b")
    t.expect("a2b")
    t.inner(0)
    t.line("exit 6")
    t.prompt(6)


def background(t):
    """TSTP and CONT to exitmeter alone; a job in the background that reads stops."""
    t.line(f"{t.meter} -q -- sleep 300 &")
    meter = int(t.expect(r"\[1\] (\d+)").group(1))
    t.prompt(0)
    child = until("sleep runs", lambda: [c for c in children_of(meter) if name_of(c) == "sleep"])[0]
    os.kill(meter, signal.SIGTSTP)
    t.states([meter], "T")
    t.states([child], "SRD")
    os.kill(meter, signal.SIGCONT)
    t.states([meter], "SRD")
    os.kill(child, signal.SIGTERM)
    t.line("wait %1")
    t.prompt(143)
    t.line(f"{t.meter} -q -- cat &")
    meter = int(t.expect(r"\[1\] (\d+)").group(1))
    until("the reader stops", lambda: state_of(meter) == "T")
    t.line("fg")
    t.foreground(meter)
    t.line("typed")
    t.expect("typed\r\ntyped")
    t.type(CTRL_D)
    t.expect(r"OUT<0> ")
    t.foreground(t.pid)


def reading(t):
    """read, stty and the window's size in the command."""
    before = t.modes()
    t.line(f"{t.meter} -q -- sh -c 'echo re''ady; read x; echo \"got-$x\"; stty -echo; echo hid''den; read y; stty echo;"
           " echo \"also-$y\"; stty size; exit 9'")
    t.expect("ready")
    t.resize(41, 97)
    t.line("one")
    t.expect("got-one")
    t.expect("hidden")
    t.line("secret")
    t.expect("also-secret")
    t.expect("41 97")
    t.prompt(9)
    if t.log.count("secret") != 1:
        raise Wrong("what was typed without echo was shown")
    if t.modes() != before:
        raise Wrong("other terminal modes than before")


def inner(t):
    """An interactive shell under exitmeter, with job control of its own."""
    before = t.modes()
    t.line(f"PS1='IN<$?> ' {t.meter} --json sum.json -- bash --norc -i")
    t.inner(0)
    t.line("sleep 300 &")
    job = int(t.expect(r"\[1\] (\d+)").group(1))
    t.inner(0)
    until("the job is sleep", lambda: name_of(job) == "sleep")  # not bash's child, deaf to Ctrl-Z
    shell = t.group()
    t.line("fg")
    t.expect("sleep 300")
    t.foreground(job)
    t.type(CTRL_Z)
    t.expect(r"Stopped.*sleep 300")
    t.inner(148)
    t.foreground(shell)
    t.states([job], "Tt")
    t.line("bg")
    t.expect(r"sleep 300 &")
    t.inner(0)
    t.states([job], "SRD")
    t.line("fg")
    t.expect("sleep 300")
    t.foreground(job)
    t.type(CTRL_C)
    t.inner(130)
    t.foreground(shell)
    t.resize(33, 99)
    t.line("stty size")
    t.expect("33 99")
    t.inner(0)
    t.line("exit 37")
    t.expect("exitmeter: ")
    t.prompt(37)
    if t.modes() != before:
        raise Wrong("other terminal modes than before")


def screen(t):
    """Full-screen programs: entered, stopped, continued and left."""
    with open("page", "w", encoding="ascii") as f:
        f.writelines(f"line {n}\n" for n in range(500))
    programs = {"vi": ("vi page", ":q!\n"), "less": ("less page", "q"), "top": ("top -d 60", "q")}
    own = ('s=$(stty -g); stty raw -echo; printf "\\033[?1049h"; dd bs=1 count=1 >/dev/null 2>&1; stty "$s";'
           ' printf "\\033[?1049l"')
    before = t.modes()
    t.line(f"{t.meter} -q -- sh -c '{own}'")
    t.expect(re.escape("\x1b[?1049h"))
    t.type("q")
    t.expect(re.escape("\x1b[?1049l"))
    t.prompt(0)
    for name, (command, leave) in programs.items():
        if not any(os.access(os.path.join(p, name), os.X_OK) for p in os.environ["PATH"].split(":")):
            continue
        t.line(f"{t.meter} -q -- {command}")
        t.expect({"vi": r"line 22", "less": r"mpage", "top": r"PID +USER"}[name])
        # less misses a signal that comes right before it reads a key
        t.states(t.metered(name)[1:], "S")
        # until the program has the terminal's modes it is the kernel that echoes what is typed
        until("its own modes", lambda: not termios.tcgetattr(t.fd)[3] & termios.ECHO)
        t.type(CTRL_Z)
        t.expect("Stopped")
        # all that the program does with the screen comes before the shell's word
        t.prompt(148)
        if t.seen:
            raise Wrong(f"{name} wrote on after it was stopped")
        if t.modes() != before:
            raise Wrong(f"{name} stopped: other terminal modes than before")
        t.line("fg")
        until("its own modes", lambda: not termios.tcgetattr(t.fd)[3] & termios.ICANON)
        t.expect(r"PID +USER" if name == "top" else r"line 22")
        t.type(leave)
        t.prompt(0)
        if t.modes() != before:
            raise Wrong(f"{name}: other terminal modes than before")


def main():
    scenario, exitmeter, source = sys.argv[1:]
    t = Terminal(exitmeter, source)
    try:
        globals()[scenario](t)
    except Wrong as wrong:
        print(f"{scenario}: {wrong}; the terminal showed:")
        print(t.log.encode("unicode_escape").decode().replace("\\n", "\n"))
        return 1
    finally:
        t.close()
    return 0


sys.exit(main())
