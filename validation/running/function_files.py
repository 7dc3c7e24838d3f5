"""A function that builds an engine's own world, as `module:name`: which files it is of. Nothing of it is imported here.

It is of its module, and of the modules that this imports where they are in the same folder, or in the same package if
it is installed: found by reading `import` statements, in those as well. What else it reads or runs is not known.
"""

import ast
import importlib.util
import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from scenarios.catalogue import FAMILIES
from scenarios.native import Model, ModelFile
from scenarios.scene_error import SceneError
from validation.engines import users_folders_last
from validation.running.model_files import MOST_BYTES, MOST_FILES

NAMED = re.compile(r"([^\W\d]\w*(?:\.[^\W\d]\w*)*):([^\W\d]\w*)")


def is_function(word: str) -> bool:
    """Whether what was typed names a function of a module, not a scenario with parameters."""
    found = NAMED.fullmatch(word)
    return found is not None and found[1] not in FAMILIES


def function_model(word: str) -> Model:
    """Raises SceneError, one line, where there is no such module or its file cannot be read."""
    module = word.partition(":")[0]
    file = module_file(module)
    if file is None:
        hint = f"no file of a module {module!r} is installed, in the current folder or in $UPRIGHT_ENGINE_PATH"
        raise SceneError(f"{word}: {hint}; give MODULE:FUNCTION, such as my_level:build_space")
    root = file.parents[len(module.split(".")) - (file.name != "__init__.py")]
    found: dict[Path, bytes] = {}
    _read(file, module, root, found, word)
    paths = sorted((path.relative_to(root).as_posix(), content) for path, content in found.items())
    files = tuple(ModelFile.of(path, content) for path, content in paths)
    return Model(language="python", file=file.relative_to(root).as_posix(), files=files, function=word)


def module_file(module: str) -> Path | None:
    """Where the source of a module is. Only the first of its packages is asked for, which imports none of them."""
    top, *more = module.split(".")
    with users_folders_last():
        try:
            spec = importlib.util.find_spec(top)
        except (ImportError, ValueError):
            return None
    if spec is None:
        return None
    if spec.submodule_search_locations:
        folders = [Path(folder).joinpath(*more[:-1]) for folder in spec.submodule_search_locations]
        names = [f"{more[-1]}.py", f"{more[-1]}/__init__.py"] if more else ["__init__.py"]
        files = [folder / name for folder in folders for name in names]
    else:
        files = [Path(spec.origin)] if spec.origin and not more else []
    return next((file.resolve() for file in files if file.suffix == ".py" and file.is_file()), None)


def _read(file: Path, module: str, root: Path, found: dict[Path, bytes], word: str) -> None:
    if file in found:
        return
    try:
        found[file] = content = file.read_bytes()
        tree = ast.parse(content)
    except OSError as error:
        raise SceneError(f"{word}: {file.name} cannot be read ({error.strerror})") from None
    except (SyntaxError, ValueError, RecursionError) as error:
        raise SceneError(f"{word}: {file.name} is no Python ({str(error)[:200]}); mend the file") from None
    if len(found) > MOST_FILES or sum(map(len, found.values())) > MOST_BYTES:
        most = f"{MOST_BYTES / 2**20:.0f} MiB in {MOST_FILES} files"
        raise SceneError(f"{word}: it imports more than {most} of its own folder; allowed: {most}")
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    for name in _imported(tree, package):
        steps = name.split(".")
        for length in range(1, len(steps) + 1):
            known = ".".join(steps[:length])
            other = module_file(known)
            if other is not None and _is_own(other, root, file):
                _read(other, known, root, found, word)


def _imported(tree: ast.AST, package: str) -> Iterator[str]:
    """Dotted names that may be modules."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names if base and alias.name != "*")


def _is_own(file: Path, root: Path, of: Path) -> bool:
    """Whether a file is the user's own as `of` is: of the same folder, or of the same package where it is installed."""
    if root not in file.parents:
        return False
    installed = {Path(sysconfig.get_path(key)).resolve() for key in ("purelib", "platlib", "stdlib", "platstdlib")}
    if root in installed:
        return file.relative_to(root).parts[0] == of.relative_to(root).parts[0]
    return not any(folder in file.parents and folder not in of.parents for folder in installed)
