"""The processor: its cores, and what the bits of an engine depend on beside its code, its features and the C library.

Provenance, never identity: where two results differ in it their bits are not compared, and all else is.
"""

import hashlib
import math
import os
import platform
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

FEATURES = ("avx", "avx2", "avx512f", "fma", "fma4", "asimd", "sve")
PROBES = (math.cos, math.atan, math.exp, math.log, math.asin, math.sinh)
PROBED = 2000
"""Arguments of each, over (0, 1): of 14,000 values 16 differ between glibc's sines with FMA and without."""


@cache
def processor() -> str:
    """Words: architecture, vendor, features, C library with its version, and a digest of what that computes.

    The digest shows which of its variants the library has chosen: GLIBC_TUNABLES can switch some off, and does not
    change what the kernel says of the processor.
    """
    known = _cpuinfo()
    flags = f"{known.get('flags', '')} {known.get('Features', '')}".split()
    words = [platform.machine(), known.get("vendor_id") or platform.processor() or "unknown"]
    words += [name for name in FEATURES if name in flags]
    return " ".join((*words, "-".join(filter(None, platform.libc_ver())) or platform.system(), f"libm-{_digest()}"))


def _cpuinfo() -> dict[str, str]:
    """Of the first processor; empty where the kernel does not tell."""
    try:
        first = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split("\n\n", 1)[0]
    except OSError:
        return {}
    pairs = (line.partition(":") for line in first.splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _digest() -> str:
    arguments = [(i + 0.5) / PROBED for i in range(PROBED)]
    values = [f(x) for f in PROBES for x in arguments] + [math.pow(1.0 + x, 2.7) for x in arguments]
    return hashlib.sha256(struct.pack(f"<{len(values)}d", *values)).hexdigest()[:8]


# --- its cores ----------------------------------------------------------------------------------------------------


def available_cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def left_alone(*, wanted: bool) -> Iterator[int | None]:
    """A core that this process keeps off meanwhile, for one simulation at a time; None if there is no second one.

    All its threads keep off: a progress bar has one.
    """
    cores = sorted(os.sched_getaffinity(0)) if wanted and hasattr(os, "sched_setaffinity") else []
    if len(cores) < 2:
        yield None
        return
    restrict_to(cores[:-1])
    try:
        yield cores[-1]
    finally:
        restrict_to(cores)


def restrict_to(cores: Sequence[int]) -> None:
    """Every thread of this process."""
    for thread in threading.enumerate():
        if thread.native_id is not None:
            with suppress(ProcessLookupError):  # it has ended meanwhile
                os.sched_setaffinity(thread.native_id, cores)
