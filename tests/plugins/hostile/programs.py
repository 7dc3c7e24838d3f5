"""Programs in other languages that do not keep the protocol (docs/protocol.md), and what a run reports of each."""
# ruff: noqa: E501  programs as text

from __future__ import annotations

from honest import Expected

SH, PERL, PYTHON = "#!/bin/sh\n", "#!/usr/bin/env perl\n", "#!/usr/bin/env python3\n"
QUIET = 'case "$1" in --*) exit 1;; esac\n'  # knows no option
ANSWER = r"""
import json, struct, sys
if len(sys.argv) > 1:
    sys.exit(1)
question = json.loads(sys.stdin.readline())
scene, dt = question["scene"], question["dt"]
bodies, steps = scene["bodies"], max(1, round(scene["duration"] / dt))
planar = scene["dimension"] == 2
if planar:
    shapes = [["time", [steps + 1]], ["pose", [steps + 1, len(bodies), 3]], ["twist", [steps + 1, len(bodies), 3]]]
    still = [v for b in bodies for v in (*b["position"], b["angle"])], [0.0] * (3 * len(bodies))
else:
    widths = {"position": 3, "orientation": 4, "velocity": 3, "spin": 3}
    shapes = [["time", [steps + 1]]] + [[name, [steps + 1, len(bodies), w]] for name, w in widths.items()]
    still = ([v for b in bodies for v in b["position"]], [v for b in bodies for v in b["orientation"]],
             [0.0] * (3 * len(bodies)), [0.0] * (3 * len(bodies)))
header = {"format": 1, "planar": planar, "dt": dt, "velocity_lag": 0.0, "arrays": [[n, "f8", s] for n, s in shapes]}
numbers = [k * dt for k in range(steps + 1)] + [v for part in still for v in part * (steps + 1)]
body = struct.pack(f"<{len(numbers)}d", *numbers)
write = sys.stdout.buffer.write
def answer(header=header, body=body):
    write(json.dumps(header).encode() + b"\n" + body)
    sys.stdout.buffer.flush()
"""


def sh(what: str, script: str, outcome: str, reason: str) -> Expected:
    return Expected(what=what, outcome=outcome, reason=reason, source=SH + QUIET + script)


def py(what: str, script: str, outcome: str, reason: str) -> Expected:
    return Expected(what=what, outcome=outcome, reason=reason, source=PYTHON + ANSWER + script)


PROGRAMS: dict[str, Expected] = {
    "still.py": py("answers as it should: all is at rest", "answer()", "completed", ""),
    "silent.sh": sh("answers nothing", "cat > /dev/null\n", "crashed", "wrote no trajectory"),
    "unread.sh": sh("reads nothing, answers nothing", "exit 0\n", "crashed", "wrote no trajectory"),
    "status.sh": sh(
        "exit status 3 and a last line", "echo 'no licence' >&2; exit 3\n", "crashed", "exit status 3: no licence"
    ),
    "colours.sh": sh(
        "a last line with escape codes", "printf 'a\\033[2Jb\\000\\377' >&2; exit 1\n", "crashed", "exit status 1: a"
    ),
    "words.sh": sh("text in place of an answer", "echo hello\n", "crashed", "wrote no trajectory"),
    "brace.sh": sh("half of a line", 'printf \'{"format": 1, "plan\'\n', "crashed", "wrote no trajectory"),
    "list.sh": sh("a list in place of an object", "echo '[1, 2]'\n", "crashed", "wrote no trajectory"),
    "number.sh": sh("a number in place of an object", "echo 5\n", "crashed", "wrote no trajectory"),
    "null.sh": sh("null", "echo null\n", "crashed", "wrote no trajectory"),
    "no-arrays.sh": sh("an object without arrays", "echo '{\"format\": 1}'\n", "crashed", "wrote no trajectory"),
    "format.sh": sh("format 99", 'echo \'{"format": 99, "planar": true, "arrays": []}\'\n', "crashed", "format 99"),
    "declines-number.sh": sh(
        "declines with a number", 'echo \'{"format": 1, "declined": 5}\'\n', "crashed", "declined is 5"
    ),
    "declines-empty.sh": sh(
        "declines with nothing", 'echo \'{"format": 1, "declined": ""}\'\n', "crashed", "declined is ''"
    ),
    "declines-long.sh": sh(
        "declines with a megabyte",
        "printf '{\"declined\": \"no '; head -c 1000000 /dev/zero | tr '\\0' x; echo '\"}'\n",
        "declined",
        "no xxx",
    ),
    "deep.py": py("nested 200,000 deep", "write(b'[' * 200000 + b']' * 200000)", "crashed", "wrote no trajectory"),
    "digits.py": py(
        "a number of 100,000 digits", "write(b'{\"dt\": ' + b'9' * 100000 + b'}\\n')", "crashed", "wrote no trajectory"
    ),
    "duplicate.py": py(
        "fields twice",
        'write(b\'{"format": 1, "format": 2, "planar": 1, "arrays": [], "arrays": 5}\\n\')',
        "crashed",
        "wrote no trajectory",
    ),
    "nan.py": py("NaN as a step", "answer(header | {'dt': float('nan')})", "crashed", "dt is nan"),
    "step-text.py": py("text as a step", "answer(header | {'dt': '1/240'})", "crashed", "dt is '1/240'"),
    "extra.py": py("a field that there is not", "answer(header | {'mass': 1})", "crashed", "mass"),
    "hash.py": py("a hash that is a list", "answer(header | {'state_hash': [1]})", "crashed", "state_hash is [1]"),
    "kind.py": py(
        "arrays of single precision",
        "answer(header | {'arrays': [[n, 'f4', s] for n, s in shapes]})",
        "crashed",
        "time: 'f4'",
    ),
    "negative.py": py(
        "a negative shape", "answer(header | {'arrays': [['time', 'f8', [-1]]]})", "crashed", "time: shape [-1]"
    ),
    "overflow.py": py(
        "a shape of 2^70", "answer(header | {'arrays': [['time', 'f8', [2**35, 2**35]]]})", "crashed", "time: shape"
    ),
    "shape-text.py": py(
        "a shape of text", "answer(header | {'arrays': [['time', 'f8', 'abc']]})", "crashed", "time: shape 'abc'"
    ),
    "array-name.py": py("an array named 5", "answer(header | {'arrays': [[5, 'f8', [1]]]})", "crashed", "arrays"),
    "array-group.py": py(
        "an array of a group that there is not",
        "answer(header | {'arrays': [['a.b', 'f8', [0]]]})",
        "crashed",
        "a.b: is unknown",
    ),
    "array-twice.py": py(
        "time twice",
        "answer(header | {'arrays': header['arrays'] + [['time', 'f8', [0]]]})",
        "crashed",
        "time: stands twice",
    ),
    "array-contacts.py": py(
        "half of the contacts",
        "answer(header | {'arrays': header['arrays'] + [['contacts.a', 'i8', [0]]]})",
        "crashed",
        "contacts",
    ),
    "short.py": py("half of the bytes", "answer(body=body[: len(body) // 2])", "crashed", "the bytes end early"),
    "long.py": py("more bytes than announced", "answer(body=body + b'x' * 80)", "crashed", "more bytes"),
    "nan-pose.py": py(
        "NaN in a pose",
        "answer(body=body[:-8 * 3 * len(bodies)] + b'\\xff' * 8 + body[-8 * 3 * len(bodies) + 8:])",
        "not_finite",
        "is not finite",
    ),
    "twice.py": py("answers twice", "answer(); answer()", "crashed", "more bytes"),
    "no-bodies.py": py(
        "a body is missing",
        "n = len(bodies) - 1\nanswer(header | {'arrays': [[a, 'f8', [s[0]] + ([n, s[2]] if len(s) > 1 else [])] for a, s in shapes]},"
        " body=struct.pack(f'<{steps + 1}d', *numbers[: steps + 1]) + b'\\0' * (8 * (steps + 1) * n * sum(s[2] for _, s in shapes[1:])))",
        "crashed",
        "bodies",
    ),
    "noise.sh": sh("a megabyte of noise", "head -c 1000000 /dev/urandom\n", "crashed", "wrote no trajectory"),
    "endless.sh": sh("an answer without end", "exec cat /dev/zero\n", "out_of_memory", "MiB"),
    "endless-errors.sh": sh(
        "standard error without end, then an answer",
        "head -c 300000000 /dev/zero >&2; printf '\\nlast\\n' >&2; exit 4\n",
        "crashed",
        "exit status 4: last",
    ),
    "hangs.sh": sh("reads and hangs", "cat > /dev/null; exec sleep 3600\n", "timed_out", "limit of wall-clock time"),
    "deaf.sh": sh(
        "hangs without reading, deaf to signals",
        "trap '' TERM INT HUP; while :; do sleep 3600; done\n",
        "timed_out",
        "limit of wall-clock time",
    ),
    "closes.sh": sh(
        "closes its output, then hangs", "exec >&- 2>&-; sleep 3600\n", "timed_out", "limit of wall-clock time"
    ),
    "daemon.py": py(
        "answers, and leaves a daemon that has its output",
        "import os, time\nanswer()\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(3600)\n    os._exit(0)\n",
        "completed",
        "",
    ),
    "late.py": py(
        "answers after the limit", "import time; time.sleep(30); answer()", "timed_out", "limit of wall-clock time"
    ),
    "killed.sh": sh("kills itself", "kill -9 $$\n", "crashed", "SIGKILL"),
    "group.sh": sh("kills its process group", "kill -9 0\n", "crashed", "SIGKILL"),
    "stopped.sh": sh("stops itself", "kill -STOP $$; sleep 3600\n", "timed_out", "limit of wall-clock time"),
    "bombs.sh": sh(
        "processes on and on",
        "for i in $(seq 300); do sleep 3600 & done; sleep 3600\n",
        "crashed",
        "processes, the limit is 200",
    ),
    "version-endless.sh": Expected(
        what="a version without end",
        outcome="crashed",
        reason="MiB of an answer",
        source=SH + '[ "$1" = --version ] && exec yes\nexit 0\n',
    ),
    "version-hangs.sh": Expected(
        what="hangs at --version",
        outcome="crashed",
        reason="wrote no trajectory",
        source=SH + '[ "$1" = --version ] && exec sleep 3600\nexit 0\n',
    ),
    "version-colours.sh": Expected(
        what="a version with escape codes",
        outcome="crashed",
        reason="version is",
        source=SH + '[ "$1" = --version ] && printf "1\\033[2J"\nexit 0\n',
    ),
    "settings-list.sh": Expected(
        what="settings that are a list",
        outcome="crashed",
        reason="--settings",
        source=SH + '[ "$1" = --settings ] && echo \'{"settings": [1]}\'\nexit 0\n',
    ),
    "settings-kind.sh": Expected(
        what="a setting that is an object",
        outcome="crashed",
        reason="settings['a']",
        source=SH + '[ "$1" = --settings ] && echo \'{"settings": {"a": {"default": {}}}}\'\nexit 0\n',
    ),
    "no-interpreter.sh": Expected(
        what="an interpreter that there is not",
        outcome="crashed",
        reason="cannot be started",
        source="#!/no/such/interpreter\n",
    ),
    "empty": Expected(what="an empty file", outcome="crashed", reason="cannot be started", source=""),
    "binary": Expected(
        what="a program of another machine",
        outcome="crashed",
        reason="cannot be started",
        source="\x7fELF\x02\x01\x01 no more\n",
    ),
    "perl.pl": Expected(
        what="Perl that dies",
        outcome="crashed",
        reason="cannot divide",
        source=PERL + "exit 1 if @ARGV; $_ = <STDIN>; die 'cannot divide';\n",
    ),
    "awk.sh": sh("awk that prints its input", "exec awk '{ print }'\n", "crashed", "wrote no trajectory"),
}
C_PROGRAMS: dict[str, Expected] = {
    "overflow": Expected(
        what="C, an endless recursion",
        outcome="crashed",
        reason="SIGSEGV",
        source="int f(int n) { volatile char a[4096]; a[0] = n; return f(n + 1) + a[0]; }\nint main(int c, char **v) { return c > 1 ? 1 : f(0); }\n",
    ),
    "wild": Expected(
        what="C, a wild pointer",
        outcome="crashed",
        reason="SIGSEGV",
        source="int main(int c, char **v) { return c > 1 ? 1 : *(volatile int *)8; }\n",
    ),
    "divides": Expected(
        what="C, SIGFPE",
        outcome="crashed",
        reason="SIGFPE",
        source="#include <signal.h>\nint main(int c, char **v) { return c > 1 ? 1 : raise(SIGFPE); }\n",
    ),
    "hoards": Expected(
        what="C, memory without end",
        outcome="out_of_memory",
        reason="MiB resident",
        source="#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n"
        "int main(int c, char **v) { if (c > 1) return 1; for (;;) { memset(malloc(1 << 24), 1, 1 << 24); usleep(2000); } }\n",
    ),
    "daemon": Expected(
        what="C, a daemon that has its output",
        outcome="crashed",
        reason="wrote no trajectory",
        source="#include <unistd.h>\nint main(int c, char **v) { if (c > 1) return 1; if (fork() == 0) { setsid(); if (fork() == 0) sleep(3600); _exit(0); } return 0; }\n",
    ),
}
