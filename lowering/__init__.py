"""Passes, one file each, and the pipelines made of them.

Every pass is a class of this package: `dlc.lowering.ConvertDlToLinalg`, imported when it is first named. `dlc.lowering.registry`
says how files become passes, `dlc.lowering.pipeline` how passes become pipelines.
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    from dlc.lowering.registry import passes

    if name.startswith("_"):
        raise AttributeError(name)
    for entry in passes().values():
        if entry.class_name == name:
            return entry.load()
    raise AttributeError(f"dlc.lowering has no pass class '{name}'")


def __dir__() -> list[str]:
    from dlc.lowering.registry import passes

    return sorted([*globals(), *(entry.class_name for entry in passes().values())])
