"""Which packages are installed, and of which version, told without importing them. MLIR's bindings take 0.1 s to import."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

_BINDINGS = ("mlir", "torch_mlir")
_FORCED = "DLC_MLIR_PACKAGE"
_DISTRIBUTIONS = {"mlir": "mlir-python-bindings", "torch_mlir": "torch-mlir"}


def wanted_bindings() -> tuple[str, ...]:
    """The packages that hold MLIR's bindings: the first one that is there is used, or the one that `DLC_MLIR_PACKAGE` names."""
    forced = os.environ.get(_FORCED)
    return (forced,) if forced else _BINDINGS


def installed_bindings() -> str:
    """All packages of bindings that may be used, with their versions, as one text."""
    return ", ".join(f"{name} {version_of(name)}" for name in wanted_bindings() if find_spec(name))


def version_of(package: str) -> str:
    """Version of an installed package; "unknown" where nothing tells it."""
    name = _DISTRIBUTIONS.get(package, package)
    prefix = f"{name.replace('-', '_')}-"
    spec = find_spec(package)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    found = [each.stem for folder in folders[:1] for each in Path(folder).parent.glob(f"{prefix}*.dist-info")]
    if len(found) == 1:
        return found[0].removeprefix(prefix)
    from importlib import metadata  # 20 ms

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "unknown"
