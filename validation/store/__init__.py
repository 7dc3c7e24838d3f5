"""The store remembers: runs, cases, measurements, trajectories, what was accepted, what was judged, what was found.

    with open_store("upright.db") as store:             # or postgresql://user@host/name
        run = store.begin_run(describe_run("..."), cases, scenes)
        store.save_results(run, [result])
        store.finish_run(run)

Nothing heavy is imported before a store is opened.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from validation.records.stored import Baseline as Baseline
    from validation.records.stored import StoredFind as StoredFind
    from validation.records.stored import StoredRun as StoredRun
    from validation.store.store import Store as Store
    from validation.store.store import open_store as open_store
    from validation.store.store import take_back_store as take_back_store

__all__ = ["Baseline", "Store", "StoredFind", "StoredRun", "open_store", "take_back_store"]


def __getattr__(name: str) -> Any:
    if name in ("Store", "open_store", "take_back_store"):
        from validation.store import store

        return getattr(store, name)
    if name in __all__:
        from validation.records import stored as records

        return getattr(records, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
