"""Opens what runs a command's cases: processes of this machine, or the workers of a Dask cluster."""

from collections.abc import Mapping, Sequence

from validation.running.cluster.address import ExecutorError, address_of
from validation.running.options import LOCAL
from validation.running.processes.executor import Executor
from validation.running.processes.pool import Pool


def executor_at(
    executor: str, commands: Mapping[str, Sequence[str]] | None = None, *, timing: bool = False
) -> Executor:
    """`commands`, for processes of this machine: engine word -> what starts its server, where that is another Python.

    Raises ExecutorError, also where steps are to be timed on a cluster.
    """
    if executor == LOCAL:
        return Pool(commands)
    address = address_of(executor)
    if timing:
        raise ExecutorError("--timing: times of other machines do not compare; time steps without --executor")
    from validation.running.cluster.pool import ClusterPool

    return ClusterPool(address)
