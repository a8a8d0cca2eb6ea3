"""Runs mypy over dlc. Its sub-packages lie beside `dlc/`, so a tree of links shows mypy the layout that is imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TREE = ROOT / "build" / "typecheck"
PARTS = ("analysis", "dialects", "frontends", "lowering", "runtime", "serving", "targets", "tools")


def link_tree() -> None:
    """Make `build/typecheck/dlc` hold links to the files of `dlc/` and to the root folders that are its parts."""
    package = TREE / "dlc"
    package.mkdir(parents=True, exist_ok=True)
    own = [*(ROOT / "dlc").glob("*.py"), *(file.parent for file in (ROOT / "dlc").glob("*/__init__.py"))]
    sources = [*own, *(ROOT / part for part in PARTS)]
    for stale in package.iterdir():
        if stale.is_symlink():
            stale.unlink()
    for source in sources:
        (package / source.name).symlink_to(source)


def readable(line: str) -> str:
    """A line of mypy's output with the paths of the repository."""
    prefix = "dlc/"
    first = line.removeprefix(prefix).split("/", 1)[0]
    return line.removeprefix(prefix) if first in PARTS else line


def main() -> int:
    link_tree()
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml")]
    command += ["--cache-dir", str(ROOT / ".mypy_cache"), "-p", "dlc", *sys.argv[1:]]
    environment = os.environ | {"MYPYPATH": str(TREE)}
    done = subprocess.run(command, cwd=TREE, env=environment, capture_output=True, text=True, check=False)
    print("\n".join(readable(line) for line in (done.stdout + done.stderr).splitlines()))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
