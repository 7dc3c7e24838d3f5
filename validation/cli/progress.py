"""Progress of long work: a live bar on a terminal, a plain line now and then elsewhere. On standard error."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from validation.running.options import Progress

PLAIN_EVERY = 5.0  # s between two plain lines
BAR, ELAPSED, GAPS = 12, 7, 4  # columns
NARROWEST = 8  # columns of a text


class Plain:
    """`canonical suite: 50/214, 12 s` every few seconds."""

    def __init__(self, title: str, total: int) -> None:
        self.title, self.total, self.done = title, total, 0
        self.started = self.shown = time.monotonic()

    def advance(self, what: str = "") -> None:
        self.done += 1
        now = time.monotonic()
        if now - self.shown >= PLAIN_EVERY or self.done == self.total:
            self.shown = now
            click.echo(f"{self.title}: {self.done}/{self.total}, {now - self.started:.0f} s", err=True)


class Live:
    """A bar with the case that runs. The numbers are never cut off; long names are, on both sides of them alike."""

    def __init__(self, title: str, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
        from rich.table import Column

        console, count = Console(stderr=True), 2 * len(str(total)) + 1
        width = max(NARROWEST, (console.width - BAR - count - ELAPSED - GAPS) // 2)
        self.bar = Progress(
            TextColumn("{task.description}", table_column=Column(max_width=width, no_wrap=True)),
            BarColumn(bar_width=BAR),
            MofNCompleteColumn(table_column=Column(width=count, no_wrap=True)),
            TimeElapsedColumn(table_column=Column(width=ELAPSED, no_wrap=True)),
            TextColumn("{task.fields[what]}", table_column=Column(max_width=width, no_wrap=True)),
            console=console,
            transient=True,
        )
        self.task = self.bar.add_task(title, total=total, what="")

    def advance(self, what: str = "") -> None:
        self.bar.update(self.task, advance=1, what=what)


class Shown(Progress):
    """On standard error; without bars where standard output is for programs."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet

    @contextmanager
    def bar(self, title: str, total: int) -> Iterator[Live | Plain]:
        """A bar, or plain lines where standard error is no terminal or nothing is wanted in between."""
        if self.quiet or not sys.stderr.isatty():
            yield Plain(title, total)
            return
        live = Live(title, total)
        with live.bar:
            yield live

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """One thing that takes a while: `compiling kernels ... done (18 s)`."""
        started = time.monotonic()
        live = sys.stderr.isatty()
        click.echo(f"  {title} ... ", nl=not live, err=True)
        yield
        click.echo(f"{'' if live else f'  {title} '}done ({time.monotonic() - started:.0f} s)", err=True)

    @contextmanager
    def activity(self, title: str) -> Iterator[Callable[[str], None]]:
        """Work without a known end: a bar that moves, and what is being done; elsewhere a line when it is done.

        Nothing is shown before the first text: there may be nothing to do.
        """
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        started = time.monotonic()
        title_column, what = TextColumn("  {task.description}"), TextColumn("{task.fields[what]}")
        columns = (title_column, BarColumn(bar_width=BAR), TimeElapsedColumn(), what)
        live = Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty())
        task = live.add_task(title, total=None, what="")
        shown: list[str] = []

        def notify(text: str) -> None:
            live.start()  # which does nothing once it runs
            shown.append(text)
            live.update(task, what=text)

        try:
            yield notify
        finally:
            live.stop()
        if shown:
            click.echo(f"  {title} ... done ({time.monotonic() - started:.0f} s)", err=True)
