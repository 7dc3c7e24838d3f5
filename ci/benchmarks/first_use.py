"""What the first use on a machine costs: everything that the canonical suite needs, compiled into an empty cache.

    python -P ci/benchmarks/first_use.py

Wall and processor time and memory (of the larger process) of `python -P -m validation.running.warm_up` with a fresh
cache, and wall and processor time with the cache that it left; their ratio is what the cache saves each later
process. `UPRIGHT_COMPILER=numba` measures numba's own pipeline (docs/compiler.md). Exits 1 where the first takes longer
than 30 s: two idle cores are meant.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TARGET = 30.0  # s


def warm_up(cache: str) -> tuple[float, float]:
    """(wall, processor) time [s]."""
    environment = {**os.environ, "UPRIGHT_CACHE": cache, "NUMBA_CACHE_DIR": cache}
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-P", "-m", "validation.running.warm_up"], env=environment, check=True)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="upright-first-use-") as cache:
        cold = warm_up(cache)
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        size = sum(file.stat().st_size for file in Path(cache).rglob("*") if file.is_file())
        warm = warm_up(cache)
    print(f"{'':10}{'wall s':>10}{'CPU s':>10}")
    for name, (wall, processor) in (("empty", cold), ("filled", warm)):
        print(f"{name:10}{wall:10.1f}{processor:10.1f}")
    print(
        f"ratio {cold[0] / warm[0]:.0f}; {memory:.0f} MiB of memory; {size / 1e6:.1f} MB on disk; target {TARGET:g} s"
    )
    return 0 if cold[0] <= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
