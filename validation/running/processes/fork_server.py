"""The fork server of one engine: imports it once, then forks a child for each simulation and watches it.

    python -P -m validation.running.processes.fork_server WORD DESCRIPTOR PARENT

It speaks frames over the socket DESCRIPTOR. First it says hello (name, version, profiles, settings) or why it cannot.
Then, for each request,
    {"id", "plan": 2} + [{"scene", "dt", "profile", "overrides"}, {...}]  ->  {"id", "plans": [...]}
    {"id", "describe": {"duration", "title", "overrides"}} + its files     ->  {"id", "outcome", "reason"} + its scene
    {"id", "dt", "settings", "time_limit", "memory_limit"}       ->  {"id", "outcome", "reason", ...} + bytes
    the same with "profile" and "overrides" for "settings"                ->  the same; declined is an outcome
    the same with "before": a scene that is simulated first, in the same process, of which nothing is answered
    {"id", "dt", "replay": settings, "scene_bytes", ...} + scene and states  ->  {"id", "outcome", "reason"} + states
    {"id", "dt", "query": name, "profile", "overrides", "scene_bytes", ...} + scene and poses  ->  the same + answers
    {"id", "dt", "settings", "live": steps of a frame}  ->  {"id", "more"} + frames, and so on (`live`)
    {"to": id, "until", "springs", "thrusters"} moves that one on;  {"to": id, "end"} ends it, or any other
    the same with "profile" and "overrides", and null for settings        ->  the same; declined is an outcome
is done in a forked child (on the "core" asked for, if any), so that whatever an engine does to its process is that
child's affair. Scenes come as JSON text: the body of a simulation, or "scene" in each item of a plan, which is its
request's body. The server itself reads them, because a text met again costs nothing then, and a first one a tenth of
what it costs in a process just forked. A simulation's reply has the trajectory's bytes, then the step times as
float64; the header says how many. A replay's states are a trajectory, behind the scene's "scene_bytes"; what comes back
is one step from each of them.
"""

import contextlib
import fcntl
import gc
import json
import os
import selectors
import signal
import socket
import sys
import tempfile
import time
import traceback
import uuid
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any, NoReturn

from scenarios.scene import Scene, parse_scene
from validation import engines
from validation.engines.answers import abilities_of, check_declared, described
from validation.engines.engine import DOUBLE, SteppingEngine
from validation.engines.faults import failure
from validation.engines.shared.lifeline import SERVER_FOLDER, adopt_orphans, die_with_parent, ended_by, outlive_parent
from validation.running.processes.child import answer, describe, live_reply, plan, query_reply, replay
from validation.running.processes.family import MARK, children_of, end_children, kill, removed
from validation.running.processes.frames import ClosedError, GarbledError, Reader, pack, receive, send
from validation.running.processes.limits import LAST_WORDS, last_words, limit_files, own_folder, use_folder, used
from validation.running.processes.processor import processor
from validation.running.processes.received import reply_of

POLL = 0.05  # s between two looks at memory and clock
ATTEMPTS = 3  # at a simulation that somebody else kills, as a kernel short of memory does
LEAVE_LIMIT = 2.0  # s for a child that has closed its pipe to be gone
TIME_LIMIT = 60.0  # s of wall-clock time, where a request has none
PIPE_BYTES = 1 << 20  # a trajectory in a few pieces, not in dozens
UNWRITTEN = 74  # exit status of a child whose answer nobody takes (EX_IOERR)


@dataclass(slots=True)
class Child:
    request: dict[str, Any]
    body: bytes
    attempt: int
    pid: int
    pipe: int  # its reply comes here
    errors: Any  # its standard error, a file
    started: float
    checked_at: float  # when its memory was looked at
    folder: str  # for its temporary files
    reply: bytearray = field(default_factory=bytearray)
    peak_memory: int = 0
    killed: tuple[str, str] | None = None  # outcome and reason, if it was us
    inbox: int | None = None  # what a live one is asked goes here
    asked: int = 0  # questions that a live one has not answered; while there is none its clock stands
    stream: Reader = field(default_factory=Reader)  # of a live one's answers
    ended: tuple[int, int, float] | None = None  # once gone: wait status, peak memory (bytes), time on a core (s)


class Server:
    def __init__(self, engine: Any, connection: socket.socket, folder: str) -> None:
        self.engine = engine
        self.connection = connection
        self.children: dict[int, Child] = {}
        self.selector = selectors.DefaultSelector()
        self.selector.register(connection, selectors.EVENT_READ)
        self.own = set(children_of(os.getpid()))  # what the engine's import has started
        self.folder = os.environ[SERVER_FOLDER] = use_folder(folder)
        self.started = 0  # children, so far

    def serve(self) -> None:
        """Until the other side closes the connection; then no child is left."""
        reader = Reader()
        try:
            while True:
                for key, _ in self.selector.select(POLL if self.children else None):
                    if key.fileobj is self.connection:
                        for request, body in receive(self.connection, reader):
                            if "to" in request:
                                self.hand_on(request)
                            else:
                                self.start(request, body)
                    else:
                        self.collect(self.children[key.fd])
                for child in list(self.children.values()):
                    self.watch(child)
        except ClosedError:
            pass
        finally:
            for child in self.children.values():
                kill(child.pid)
            self.own.clear()
            self.children.clear()
            self.end_orphans()
            removed(self.folder)

    def end_orphans(self) -> None:
        """What an ended simulation has left behind in a session of its own: the kernel hands it over to us.

        While the simulation's process lives, its orphans are its own children, so these here are nobody's any more."""
        known = self.own | {child.pid for child in self.children.values()}
        end_children(lambda pid: pid not in known)

    def start(self, request: dict[str, Any], body: bytes, attempt: int = 1) -> None:
        work = json.loads(body) if "plan" in request else []
        scenes = [scene_of(item["scene"]) for item in work]
        if not scenes and "describe" not in request:
            scenes = [scene_of(body[: request.get("scene_bytes")].decode())]
        readable, writable = os.pipe()
        os.set_blocking(readable, False)
        with contextlib.suppress(OSError, AttributeError):  # Linux has it, up to a limit for each user
            fcntl.fcntl(writable, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        inbox = os.pipe() if "live" in request else None
        errors = tempfile.TemporaryFile()  # noqa: SIM115  closed when the child is collected
        server = os.getpid()
        self.started += 1
        folder = f"{self.folder}/{self.started}"
        pid = os.fork()
        if pid == 0:
            request["inbox"] = inbox and inbox[0]
            self.become_child(request, body, work, scenes, writable, errors.fileno(), folder, server)
        os.close(writable)
        now = time.perf_counter()
        with contextlib.suppress(OSError):  # the child does so too; whoever comes first
            os.setpgid(pid, pid)
        child = self.children[readable] = Child(request, body, attempt, pid, readable, errors, now, now, folder)
        if inbox:
            os.close(inbox[0])
            os.set_blocking(inbox[1], False)
            child.inbox, child.asked = inbox[1], 1
        self.selector.register(readable, selectors.EVENT_READ)

    def become_child(
        self,
        request: dict[str, Any],
        body: bytes,
        work: list[Any],
        scenes: list[Scene],
        writable: int,
        errors: int,
        folder: str,
        server: int,
    ) -> NoReturn:
        status = 1
        try:
            die_with_parent(server)
            adopt_orphans()
            os.setpgid(0, 0)
            self.connection.close()
            for descriptor, other in self.children.items():
                os.close(descriptor)
                if other.inbox is not None:
                    os.close(other.inbox)
            gc.set_threshold(100_000, 20, 20)  # it lives for a moment
            os.dup2(errors, 2)
            os.dup2(errors, 1)  # engines print; our standard output is not theirs
            use_folder(folder)
            limit_files()
            if request.get("core") is not None:
                os.sched_setaffinity(0, {request["core"]})
            if "plan" in request:
                reply = pack({"plans": [plan(self.engine, item, scene) for item, scene in zip(work, scenes)]})
            elif "describe" in request:
                reply = describe(self.engine, request["describe"], body)
            elif "replay" in request:
                reply = replay(self.engine, scenes[0], request, body[request["scene_bytes"] :])
            elif "query" in request:
                reply = query_reply(self.engine, scenes[0], request, body[request["scene_bytes"] :])
            elif "live" in request:
                reply = live_reply(self.engine, scenes[0], request, writable)
            else:
                reply = answer(self.engine, request, scenes[0])
            status = UNWRITTEN
            view = memoryview(reply)
            while view:
                view = view[os.write(writable, view) :]
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)

    def collect(self, child: Child) -> None:
        """What has come from it; at the end of the stream it is on its way out, and one that hangs there is killed."""
        try:
            data = os.read(child.pipe, 1 << 20)
        except BlockingIOError:
            return
        if data:
            self.take(child, data)
            return
        deadline = time.perf_counter() + LEAVE_LIMIT
        while not self.has_ended(child):
            if time.perf_counter() > deadline:
                child.killed = child.killed or ("crashed", "it closed the pipe of its answer and did not end: killed")
                kill(child.pid)
            time.sleep(0.0005)
        self.finish(child)

    def take(self, child: Child, data: bytes) -> None:
        if child.inbox is None:
            child.reply += data
            return
        try:
            messages = child.stream.feed(data)
        except GarbledError as error:
            messages, child.killed = [], ("crashed", f"killed: its answer cannot be read, {error}")
            kill(child.pid)
        for header, body in messages:
            if header.get("more"):
                child.asked -= 1
                child.started = time.perf_counter()
                send(self.connection, header | {"id": child.request["id"]}, body)
            else:
                child.reply += pack(header, body)

    def has_ended(self, child: Child) -> bool:
        if child.ended is None:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                scale = 1 if sys.platform == "darwin" else 1024
                child.ended = status, usage.ru_maxrss * scale, usage.ru_utime + usage.ru_stime
        return child.ended is not None

    def hand_on(self, request: dict[str, Any]) -> None:
        """To the child that answers that request, if there still is one."""
        child = next((one for one in self.children.values() if one.request["id"] == request["to"]), None)
        if child is None:
            return
        if "end" in request:
            child.killed = ("ended", "ended by whom it was asked")
            kill(child.pid)
        elif child.inbox is not None:
            if not child.asked:
                child.started = time.perf_counter()
            try:
                whole = os.write(child.inbox, message := pack(request)) == len(message)
            except OSError:  # full, or on its way out
                whole = False
            child.asked += 1
            if not whole and not child.killed:
                child.killed = ("timed_out", "it does not take what it is asked")
                kill(child.pid)

    def finish(self, child: Child) -> None:
        """It has ended: its answer goes out, and what it has left behind is killed."""
        assert child.ended is not None
        status, peak, cpu = child.ended
        self.selector.unregister(child.pipe)
        os.close(child.pipe)
        if child.inbox is not None:
            os.close(child.inbox)
        del self.children[child.pipe]
        kill(child.pid)  # its process group
        self.end_orphans()
        child.peak_memory = max(child.peak_memory, peak)
        wall = time.perf_counter() - child.started
        killed_by_others = status == signal.SIGKILL and child.killed is None and child.inbox is None
        spent = child.request.get("spent", 0.0) + wall
        if killed_by_others and child.attempt < ATTEMPTS and spent < child.request.get("time_limit", TIME_LIMIT):
            child.errors.close()
            removed(child.folder)
            self.start(child.request | {"spent": spent}, child.body, child.attempt + 1)
            return
        header: dict[str, Any] = {"id": child.request["id"], "wall_time": wall, "peak_memory": child.peak_memory}
        body = b""
        try:
            if child.killed or status:
                raise GarbledError
            answered, body = answer_of(child.reply)
            header = answered | header | {"more": False}
        except GarbledError as error:
            outcome, cause = child.killed or ("crashed", ended(os.waitstatus_to_exitcode(status), wall, str(error)))
            printed = last_words(child.errors)
            last = f": {printed[-1][-LAST_WORDS:]}" if printed else ""
            share = min(1.0, cpu / wall) if wall > 0.0 else 1.0
            header |= {"outcome": outcome, "reason": cause + last, "trace": "\n".join(printed), "cpu_share": share}
        child.errors.close()
        removed(child.folder)
        send(self.connection, header, body)

    def watch(self, child: Child) -> None:
        """Its limits, and whether it has ended: somebody else may hold its pipe open, so the stream may have no end."""
        if child.pipe not in self.children:
            return
        if time.perf_counter() - child.checked_at >= POLL and self.has_ended(child):
            with contextlib.suppress(BlockingIOError):
                if data := os.read(child.pipe, PIPE_BYTES):
                    self.take(child, data)
            self.finish(child)
            return
        if child.killed:
            return
        now, limit = time.perf_counter(), child.request.get("time_limit", TIME_LIMIT)
        idle = child.inbox is not None and child.asked <= 0
        if now - child.started + child.request.get("spent", 0.0) > limit and not idle:
            child.killed = ("timed_out", f"killed after {limit:g} s, the limit of wall-clock time")
        elif now - child.checked_at >= POLL:
            child.checked_at = now
            allowed = child.request.get("memory_limit", 2**31)
            memory, child.killed = used(child.pid, len(child.reply), allowed, child.folder, child.errors)
            child.peak_memory = max(child.peak_memory, memory)
        if child.killed:
            kill(child.pid)


def answer_of(reply: bytearray) -> tuple[dict[str, Any], bytes]:
    """The one message in it. Raises GarbledError: an engine may have written into the pipe, too."""
    reader = Reader()
    messages = reader.feed(reply)
    if len(messages) != 1 or reader.rest:
        found = f"{len(messages)} answers and {reader.rest} bytes" if messages else "no whole answer"
        raise GarbledError(f"{found} in its pipe, where one answer should be" if reply else "")
    header, body = messages[0]
    return reply_of(header, body), body


def ended(code: int, wall: float, fault: str) -> str:
    """How a child has ended, by its exit code, and what was wrong with its answer."""
    if code == UNWRITTEN:
        fault = "its answer could not be written; the engine closed the pipe"
    elif code == 0:
        fault = f"its answer cannot be read, {fault}" if fault else "without an answer"
    return f"{ended_by(code)} after {wall:.2g} s" + (f", {fault}" if fault else "")


@lru_cache(maxsize=512)
def scene_of(text: str) -> Scene:
    """Ours and sound: it has been through `parse_scene` in the process that asks."""
    return parse_scene(json.loads(text))


def choices(settings: Any) -> dict[str, list[str]]:
    """Of the settings that are words or yes-or-no, every value as it is typed, the default first."""
    found: dict[str, list[str]] = {}
    for name, setting in settings.items():
        values = [True, False] if isinstance(setting.default, bool) else list(setting.choices)
        if values:
            typed = [str(value).lower() if isinstance(value, bool) else str(value) for value in values]
            found[name] = sorted(typed, key=lambda value: value != str(setting.default).lower())
    return found


def main() -> None:
    word, descriptor, parent = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    die_with_parent(parent)  # an import may hang, and then nobody listens
    adopt_orphans()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    connection = socket.socket(fileno=descriptor)
    folder = own_folder(os.environ.get(MARK) or uuid.uuid4().hex)  # before an engine changes anything
    choice = None
    gc.disable()  # what is imported stays
    try:
        choice = engines.engine_of(word)
        engine = engines.load_engine(choice)
        check_declared(engine)
        if hasattr(engine, "warm_up"):
            engine.warm_up()
        hello = {
            "name": engine.name,
            "version": str(engine.version),
            "profiles": list(getattr(engine, "profiles", ("default",))),
            "settings": list(getattr(engine, "settings", {})),
            "processor": "" if getattr(engine, "same_bits_everywhere", False) else processor(),
            "abilities": [name for name, able in abilities_of(engine).items() if able.works],
            "choices": choices(getattr(engine, "settings", {})),
            "of_models": list(getattr(engine, "settings_of_models", {})),
            "table": {name: asdict(setting) for name, setting in getattr(engine, "settings", {}).items()},
            "steps": isinstance(engine, SteppingEngine) and not engine.own_step,
            "relations": [asdict(one) for one in getattr(engine, "relations", ())],
            "loads": sorted(getattr(engine, "loads", ())),
            "round_off": getattr(engine, "round_off", DOUBLE),
            "queries": {name: described(query) for name, query in getattr(engine, "queries", {}).items()},
        }
    except BaseException as error:  # an engine may raise whatever it likes when it is imported
        failed = failure(error, choice.name if choice and choice.name in engines.OURS else None)
        send(connection, {"error": failed["reason"], "outcome": failed["outcome"]})
        return
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # whatever the engine made of it: children are waited for
    gc.enable()
    gc.collect()
    gc.freeze()  # children share these pages
    outlive_parent()
    if os.getppid() != parent:
        return
    send(connection, hello)
    Server(engine, connection, folder).serve()


if __name__ == "__main__":
    main()
