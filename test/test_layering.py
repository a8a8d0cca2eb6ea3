"""Imports between the folders point one way, and only `dlc/_mlir.py` imports the MLIR bindings."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from dlc.lowering.registry import passes

ROOT = Path(__file__).resolve().parent.parent
BINDINGS = {"torch_mlir", "mlir"}
LEAVES = {
    "dlc.__version__",
    "dlc._mlir",
    "dlc.devices",
    "dlc.errors",
    "dlc.diagnostics",
    "dlc.dtypes",
    "dlc.file_kinds",
    "dlc.given_values",
    "dlc.memory_limit",
    "dlc.op_modules",
    "dlc.option_values",
    "dlc.package_versions",
    "dlc.partial_files",
}
MACHINE = "dlc.targets.machine"
"""All that lowering sees of targets."""
PARTS = {"analysis", "dialects", "frontends", "lowering", "runtime", "serving", "targets", "tools"}
ALLOWED = {
    "dialects": set(),
    "frontends": {"dialects"},
    "analysis": {"dialects"},
    "lowering": {"analysis", "dialects"},
    "targets": {"analysis", "dialects", "lowering", "runtime"},
    "runtime": set(),
    "serving": {"runtime"},
    "tools": PARTS,
    "dlc": PARTS,
}
SCANNED = [*ALLOWED, "bench", "examples", "test"]
DL: dict[str, set[str]] = {
    "control": set(),
    "simplify": {"control"},
    "decompose": set(),
    "recompose": {"decompose"},
    "weights": {"control", "affine", "dl_to_linalg"},
    "layout": {"weights"},
    "quantize": {"weights"},
    "fuse": {"weights", "quantize"},
}
AFFINE: dict[str, set[str]] = {
    "ir": set(),
    "polyhedral": {"ir"},
    "dependences": {"ir", "polyhedral"},
    "equivalence": {"ir", "polyhedral", "dependences"},
    "cost": {"ir", "polyhedral", "dependences"},
    "loop_generation": {"ir", "polyhedral"},
    "schedule": {"ir", "polyhedral", "dependences", "cost", "loop_generation"},
    "primitives": {"ir", "polyhedral", "dependences", "cost", "loop_generation", "schedule"},
    "search": {"ir", "polyhedral", "dependences", "cost", "loop_generation", "schedule"},
    "fuse": {"ir", "dependences", "cost"},
    "codegen": {"ir", "cost", "schedule", "search"},
    "memory": {"ir", "polyhedral", "dependences", "schedule", "codegen"},
    "vectors": {"ir", "codegen"},
}
DL_TO_LINALG: dict[str, set[str]] = {
    "building": set(),
    "contractions": {"building", "affine"},
    "sampling": {"building"},
    "selection": {"building"},
    "": {"building", "contractions", "sampling", "selection", "linalg"},
}
AFFINE_TO_LLVM: dict[str, set[str]] = {
    "math": {"affine"},
    "parallel": {"affine"},
    "": {"math", "parallel", "affine"},
}
JOBS: dict[str, dict[str, set[str]]] = {"dl": DL, "dl_to_linalg": DL_TO_LINALG, "affine": AFFINE, "affine_to_llvm": AFFINE_TO_LLVM}
"""The folders of levels that are sorted by job, and which of those above them, and which other levels, each may import.

"" stands for the files of the level that lie in no folder.
"""
POLICY = "policy"
"""The folder of numbers, which every other one may read."""
MOST_FILES = 23
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


def job_faults(source: str, level: str, job: str, package: str) -> list[str]:
    """What `source` imports and may not, lying in `lowering/<level>/<job>`, or in the level itself where `job` is ""."""
    jobs = JOBS[level]
    found = []
    for name in imports_of(source, package):
        _, part, there, inner, *_ = [*name.split("."), "", "", ""]
        target = inner if there == level else there
        is_folder = target in jobs if there == level else there != POLICY and (ROOT / "lowering" / there).is_dir()
        if part != "lowering" or not target or not is_folder or target == job or target in jobs.get(job, set()):
            continue
        found.append(f"imports {name}; lowering/{level}/{job} may import {', '.join(sorted(jobs.get(job, set()))) or 'no folder'}")
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


def test_tests_import_tests_of_their_own_folder() -> None:
    """Another folder is on the path only after its tests were read, so that the import fails in some orders."""
    found = []
    for file in (ROOT / "test").rglob("*.py"):
        names = {name.split(".")[0] for name in imports_of(file.read_text("utf-8"), "test")}
        others = {name for name in names if name.startswith("test_") and not file.with_name(f"{name}.py").exists()}
        found += [f"{file.relative_to(ROOT)} imports {name}" for name in sorted(others)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("level", JOBS)
def test_folders_of_a_level_follow_their_table(level: str) -> None:
    top = ROOT / "lowering" / level
    found = []
    for file in sorted(top.rglob("*.py")):
        job = "".join(file.relative_to(top).parts[:-1])
        assert job == "" or job in JOBS[level], f"the table JOBS lacks lowering/{level}/{job}"
        package = ".".join(("dlc", *file.relative_to(ROOT).parts[:-1]))
        found += [f"{file.relative_to(ROOT)} {fault}" for fault in job_faults(file.read_text("utf-8"), level, job, package)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("level", JOBS)
def test_folders_of_a_level_import_those_above_them(level: str) -> None:
    jobs = list(JOBS[level])
    assert [job for job in jobs if not JOBS[level][job] & set(jobs) <= set(jobs[: jobs.index(job)])] == []


@pytest.mark.parametrize("level", JOBS)
def test_folders_of_a_level_are_small_and_say_what_they_hold(level: str) -> None:
    for folder in (ROOT / "lowering" / level / job for job in JOBS[level]):
        assert len(list(folder.glob("*.py"))) - 1 <= MOST_FILES, f"{folder.name} has more than {MOST_FILES} files"
        assert ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8"))), (
            f"{folder.name}/__init__.py has no docstring"
        )


@pytest.mark.parametrize("level", JOBS)
def test_names_of_passes_are_unique_in_a_level(level: str) -> None:
    """A pass is called by its file's name, whichever the folder, so that a second file of the name would hide the first."""
    names = [file.stem for file in (ROOT / "lowering" / level).rglob("*.py")]
    stems = [entry.file.stem for entry in passes().values() if entry.folder.split("/")[0] == level]
    assert not {stem for stem in stems if names.count(stem) > 1}


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
    assert len(job_faults(source, "dl", job, f"dlc.lowering.dl.{job}".strip("."))) == 1


@pytest.mark.parametrize(
    ("job", "source"),
    [
        ("simplify", "from dlc.lowering.dl.matching import type_of\nfrom dlc.lowering.dl.simplify import views"),
        ("weights", "from dlc.lowering.affine.search.copied_panels import MOST_ROWS"),
        ("fuse", "from ..quantize import byte_operands\nfrom dlc.lowering.outlining import outline"),
    ],
)
def test_right_import_between_jobs_passes(job: str, source: str) -> None:
    assert job_faults(source, "dl", job, f"dlc.lowering.dl.{job}") == []


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


def test_public_classes_have_names_of_their_own() -> None:
    """One class name, one meaning. Ops are `dl.<name>` wherever they are used, so that other classes may share their names."""
    names: list[str] = []
    for file in files():
        if file.parts[0] in ALLOWED and file.parts[:2] != ("dialects", "dl"):
            tree = ast.parse((ROOT / file).read_text("utf-8"))
            names += [node.name for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
    assert len(names) > 500
    assert not {name for name in names if names.count(name) > 1}
