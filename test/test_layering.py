"""Imports between the folders point one way, and only `dlc/_mlir.py` imports the MLIR bindings."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BINDINGS = {"torch_mlir", "mlir"}
LEAVES = {"dlc._mlir", "dlc.devices", "dlc.errors", "dlc.diagnostics", "dlc.dtypes", "dlc.partial_files"}
MACHINE = "dlc.targets.machine"
"""All that lowering sees of targets."""
PARTS = {"analysis", "dialects", "frontends", "lowering", "runtime", "targets", "tools"}
ALLOWED = {
    "dialects": set(),
    "frontends": {"dialects"},
    "analysis": {"dialects"},
    "lowering": {"analysis", "dialects"},
    "targets": {"analysis", "dialects", "lowering", "runtime"},
    "runtime": set(),
    "tools": PARTS,
    "dlc": PARTS,
}
SCANNED = [*ALLOWED, "bench", "examples", "test"]
JOBS: dict[str, set[str]] = {
    "simplify": set(),
    "decompose": set(),
    "recompose": {"decompose"},
    "weights": {"affine", "dl_to_linalg"},
    "layout": {"weights"},
    "quantize": {"weights"},
    "fuse": {"weights", "quantize"},
}
"""The folders of `lowering/dl`, and which of those above them, and which other levels, each may import."""
MOST_FILES = 20
"""Files of such a folder beside its `__init__.py`."""


def imports_of(source: str, package: str) -> Iterator[str]:
    """Dotted names that `source`, a module of `package`, imports anywhere: `a.b` of `from a import b` too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from (str(given.value) for given in node.args[:1] if isinstance(given, ast.Constant))


def faults(source: str, folder: str, package: str) -> list[str]:
    """What `source` imports and may not, lying in `folder` and imported in `package`."""
    found = []
    for name in imports_of(source, package):
        parts = name.split(".")
        if parts[0] in BINDINGS:
            found.append(f"imports {name}; import it from dlc._mlir")
        if parts[0] != "dlc" or folder not in ALLOWED:
            continue
        part = parts[1] if len(parts) > 1 and parts[1] in PARTS else "dlc"
        is_leaf = any(name == leaf or name.startswith(f"{leaf}.") for leaf in LEAVES)
        is_fact = folder == "lowering" and (name == MACHINE or name.startswith(f"{MACHINE}."))
        if part == folder or part in ALLOWED[folder] or is_leaf or is_fact or folder in ("tools", "dlc"):
            continue
        found.append(f"imports {name}; {folder}/ may import {', '.join(sorted(ALLOWED[folder])) or 'nothing else'}")
    return found


def job_faults(source: str, job: str, package: str) -> list[str]:
    """What `source` imports and may not, lying in `lowering/dl/<job>`, or in `lowering/dl` itself where `job` is ""."""
    found = []
    for name in imports_of(source, package):
        _, part, level, inner, *_ = [*name.split("."), "", "", ""]
        target = inner if level == "dl" else level
        is_folder = target in JOBS if level == "dl" else (ROOT / "lowering" / level).is_dir()
        if part != "lowering" or not target or not is_folder or target == job or target in JOBS.get(job, set()):
            continue
        found.append(f"imports {name}; lowering/dl/{job} may import {', '.join(sorted(JOBS.get(job, set()))) or 'no folder'}")
    return found


def files() -> list[Path]:
    return sorted(file.relative_to(ROOT) for folder in SCANNED for file in (ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("folder", SCANNED)
def test_imports_follow_the_table(folder: str) -> None:
    found = []
    for file in files():
        if file.parts[0] != folder or file == Path("dlc/_mlir.py"):
            continue
        parents = file.parts[:-1] if folder == "dlc" else ("dlc", *file.parts[:-1])
        found += [f"{file} {fault}" for fault in faults((ROOT / file).read_text("utf-8"), folder, ".".join(parents))]
    assert not found, "\n".join(found)


def test_folders_of_dl_follow_their_table() -> None:
    top = ROOT / "lowering" / "dl"
    found = []
    for file in sorted(top.rglob("*.py")):
        job = "".join(file.relative_to(top).parts[:-1])
        assert job == "" or job in JOBS, f"the table JOBS lacks lowering/dl/{job}"
        package = ".".join(("dlc", *file.relative_to(ROOT).parts[:-1]))
        found += [f"{file.relative_to(ROOT)} {fault}" for fault in job_faults(file.read_text("utf-8"), job, package)]
    assert not found, "\n".join(found)


def test_folders_of_dl_import_those_above_them() -> None:
    jobs = list(JOBS)
    assert [job for job in jobs if not JOBS[job] & JOBS.keys() <= set(jobs[: jobs.index(job)])] == []


def test_folders_of_dl_are_small_and_name_each_file_once() -> None:
    """A pass is called by its file's name, whichever the folder, so that a second file of the name would hide the first."""
    found = [file for file in (ROOT / "lowering" / "dl").rglob("*.py") if file.name != "__init__.py"]
    names = [file.name for file in found]
    assert not {name for name in names if names.count(name) > 1}
    folders = [file.parent for file in found]
    assert not {folder.name for folder in folders if folders.count(folder) > MOST_FILES}


@pytest.mark.parametrize(
    ("job", "source"),
    [
        ("", "from dlc.lowering.dl.weights.scales import RULES"),
        ("simplify", "def f():\n    from dlc.lowering.dl import fuse"),
        ("weights", "from ..quantize import byte_operands"),
        ("weights", "from dlc.lowering.linalg import fuse_consumers"),
        ("recompose", "import dlc.lowering.dl.weights.scales"),
    ],
)
def test_wrong_import_between_jobs_is_found(job: str, source: str) -> None:
    assert len(job_faults(source, job, f"dlc.lowering.dl.{job}".strip("."))) == 1


@pytest.mark.parametrize(
    ("job", "source"),
    [
        ("simplify", "from dlc.lowering.dl.matching import type_of\nfrom dlc.lowering.dl.simplify import views"),
        ("weights", "from dlc.lowering.affine.copied_panels import MOST_ROWS"),
        ("fuse", "from ..quantize import byte_operands\nfrom dlc.lowering.outlining import outline"),
    ],
)
def test_right_import_between_jobs_passes(job: str, source: str) -> None:
    assert job_faults(source, job, f"dlc.lowering.dl.{job}") == []


@pytest.mark.parametrize(
    ("folder", "source"),
    [
        ("lowering", "from dlc.frontends.onnx import importer"),
        ("lowering", "from dlc import runtime"),
        ("lowering", "from dlc.targets.cpu import host"),
        ("lowering", "from dlc.targets import registry"),
        ("dialects", "def f():\n    import dlc.lowering.registry"),
        ("analysis", "from ..lowering import registry"),
        ("runtime", "import dlc"),
        ("tools", "def f():\n    from torch_mlir import ir"),
        ("test", "import importlib\nimportlib.import_module('mlir.ir')"),
    ],
)
def test_wrong_import_is_found(folder: str, source: str) -> None:
    assert len(faults(source, folder, f"dlc.{folder}")) == 1


@pytest.mark.parametrize(
    ("folder", "source"),
    [
        ("lowering", "from dlc.targets import machine"),
        ("lowering", "from dlc._mlir import ir"),
        ("runtime", "from dlc.errors import RuntimeLoadError"),
        ("frontends", "from .onnx import importer"),
        ("tools", "import dlc"),
    ],
)
def test_right_import_passes(folder: str, source: str) -> None:
    assert faults(source, folder, f"dlc.{folder}") == []


def test_files_of_tests_have_names_of_their_own() -> None:
    """Tests import their helpers by bare names, so that the second of two files of one name would never be found."""
    names = [file.name for file in (ROOT / "test").rglob("*.py") if file.name not in ("conftest.py", "__init__.py")]
    assert not {name for name in names if names.count(name) > 1}
