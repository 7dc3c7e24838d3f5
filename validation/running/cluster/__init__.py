"""Cases on a Dask cluster: the same servers of engines as here, in its workers, asked from here (docs/cluster.md)."""
