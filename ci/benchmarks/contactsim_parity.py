"""Repeats recorded runs of the original ContactSim engine and compares the end states and the collisions counted.

    python -P ci/benchmarks/contactsim_parity.py DIR [NAME...]

DIR holds one JSON file a run; NAME is a part of a file's name. A hit ends within the tolerance of the engine's own
test (1e-6 where it states none) with the same number of collisions, mine/recorded; a run that the original ends in an
exception ends in one of the same kind. Exits 1 on a miss.
"""

import json
import sys
import time
from pathlib import Path

from validation.running.kernel_cache import use_kernel_cache

sys.path.append(str(Path(__file__).parents[2]))


def line(path: Path) -> tuple[bool, str]:
    from reference_engine.errors import ContactForceError, UnresolvedContact, WorldError
    from tests.reference_engine.contactsim.replay import repeat

    started = time.perf_counter()
    try:
        run = json.loads(path.read_text())
        outcome = repeat(run)
    except WorldError as reason:
        return False, f"miss  {path.stem:60} cannot represent it: {reason}"
    except (UnresolvedContact, ContactForceError) as reason:
        return False, f"miss  {path.stem:60} {type(reason).__name__}: {reason}"
    except (TypeError, ValueError, AttributeError, IndexError) as reason:  # another format, or none
        return False, f"miss  {path.stem:60} cannot read it: {type(reason).__name__}: {reason}"
    seconds = time.perf_counter() - started
    counts = " ".join(
        f"{name} {getattr(outcome.totals, name, '?')}/{was}" for name, was in (run.get("totals") or {}).items()
    )
    seeds = (run.get("meta") or {}).get("seed_change", run.get("seed_change"))
    return outcome.hit, (
        f"{'hit ' if outcome.hit else 'miss'}  {path.stem:60} difference {outcome.difference:8.1e} of "
        f"{outcome.tolerance:.0e} ({outcome.worst or 'none'}), {counts}, other seeds change it by {seeds}, "
        f"{seconds:.1f} s{outcome.note}"
    )


def main(arguments: list[str]) -> int:
    if not arguments or not Path(arguments[0]).is_dir():
        print(__doc__)
        return 2
    use_kernel_cache()
    files = sorted(Path(arguments[0]).glob("*.json"))
    files = [path for path in files if not arguments[1:] or any(name in path.stem for name in arguments[1:])]
    hits = 0
    for path in files:
        hit, text = line(path)
        hits += hit
        print(text, flush=True)
    print(f"{hits} of {len(files)} runs repeated")
    return int(hits < len(files) or not files)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
