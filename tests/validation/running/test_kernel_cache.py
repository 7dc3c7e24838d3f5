"""Compiled kernels are kept for just the sources that they were compiled from, and not for ever."""

import os
import time
from pathlib import Path

from tests.validation.command import upright
from validation.running import kernel_cache


def test_an_edited_or_rewritten_source_has_a_folder_of_its_own(monkeypatch, tmp_path):
    """numba keeps an index by the path and the time of a source: a copy that differs in either is compiled anew."""
    monkeypatch.setenv("UPRIGHT_CACHE", str(tmp_path))
    source = tmp_path / "project" / "reference_engine" / "gap.py"
    source.parent.mkdir(parents=True)
    copy = tmp_path / "project" / "validation" / "running" / "kernel_cache.py"
    monkeypatch.setattr(kernel_cache, "__file__", str(copy))
    folders = []
    for text, written in (("a", 1.0), ("a", 1.0), ("b", 1.0), ("b", 2.0)):
        source.write_text(text)
        os.utime(source, (written, written))
        folders.append(kernel_cache.kernel_folder())
    assert folders[0] == folders[1]
    assert len(set(folders)) == 3


def test_a_folder_that_nobody_used_for_a_month_goes_and_a_use_keeps_it(tmp_path):
    month_ago = time.time() - 31 * 86400.0
    folders = [tmp_path / name for name in ("in_use", "new", "old", "being_made")]
    for folder in folders:
        folder.mkdir()
        (folder / "kernel.nbi").touch()
    in_use, new, old, _ = folders
    for folder in (in_use, old):
        (folder / kernel_cache.WARM).touch()
        os.utime(folder / kernel_cache.WARM, (month_ago, month_ago))
    assert kernel_cache.is_warm(in_use)
    kernel_cache.remove_unused(new)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["being_made", "in_use", "new"]
    assert not kernel_cache.is_warm(Path(tmp_path / "being_made"))


def test_where_no_folder_can_be_kept_that_is_said_and_nothing_is_left_behind(tmp_path, monkeypatch):
    blocked, temporary = tmp_path / "a file", tmp_path / "tmp"
    blocked.touch()
    temporary.mkdir()
    monkeypatch.setenv("UPRIGHT_CACHE", str(blocked))
    kernel_cache.temporary_folder.cache_clear()
    with monkeypatch.context() as patch:  # one folder however often it is asked for
        patch.setenv("NUMBA_CACHE_DIR", "")
        patch.setattr(kernel_cache.tempfile, "tempdir", str(temporary))
        folders = {kernel_cache.use_kernel_cache(), kernel_cache.use_kernel_cache()}
    [folder] = folders
    assert folder.parent == temporary and not kernel_cache.is_filled(folder)
    folder.rmdir()
    kernel_cache.temporary_folder.cache_clear()
    # A command that ends by an error, after which the folder of its kernels is gone too.
    done = upright("run", "stak", folder=tmp_path, TMPDIR=str(temporary))
    assert done.returncode == 2 and "did you mean 'stack'" in done.stderr
    assert list(temporary.iterdir()) == []
