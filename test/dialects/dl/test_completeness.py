"""Every dl op is whole: documented, labelled, lowered, and tested in each of the places that its family has."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from case import all_cases

from dlc.dialects.dl import ops
from dlc.dialects.dl.base import DLOp
from dlc.dialects.dl.types import ALL_DTYPES, MOVABLE
from dlc.lowering.dl_to_linalg.building.lowerings import lowerings

_HERE = Path(__file__).parent
_STRUCTURE = "structure"
_LABEL_IN_CODE = re.compile(r"""["'](c\d+)(?=["':])""")
_LABEL_IN_DOCSTRING = re.compile(r"\b(c\d+): ")

every_op = pytest.mark.parametrize("name", list(ops()))


def _family(op: type[DLOp]) -> str:
    return op.__module__.rpartition(".")[2]


def _own_classes(op: type[DLOp]) -> list[type]:
    """The op's class and its bases below `DLOp`."""
    return [cls for cls in op.__mro__ if issubclass(cls, DLOp) and cls is not DLOp]


def _docstring(op: type[DLOp]) -> str:
    return inspect.cleandoc(op.__dict__.get("__doc__") or "")


def _checked_labels(op: type[DLOp]) -> set[str]:
    """Labels in the code that checks the op: its `infer`, the helpers of its module that this names, and its own methods."""
    module = inspect.getmodule(op)
    code = inspect.getsource(op.infer)
    if "verify_region_invariants" in op.__dict__:
        code += "".join(inspect.getsource(cls) for cls in _own_classes(op))
    seen: set[str] = set()
    while True:
        called = set(re.findall(r"\b(\w+)\(", code)) - seen
        helpers = [getattr(module, name, None) for name in sorted(called)]
        seen |= called
        own = [item for item in helpers if inspect.isfunction(item) and item.__module__.startswith("dlc.dialects.dl")]
        if not own:
            return set(_LABEL_IN_CODE.findall(code))
        code += "".join(inspect.getsource(item) for item in own)


def _limits_dtypes(op: type[DLOp]) -> bool:
    """Whether an operand takes neither all types to compute with nor, with those that are only stored, all types."""
    return any(set(op.accepted_dtypes(field.name)) not in (set(ALL_DTYPES), set(MOVABLE)) for field in op.operand_fields)


@every_op
def test_docstring_states_the_meaning(name: str) -> None:
    op = ops()[name]
    summary, _, meaning = _docstring(op).partition("\n\n")
    assert summary.strip().endswith((".", ":")), "the summary is a sentence"
    if _family(op) != _STRUCTURE:
        assert meaning and not _LABEL_IN_DOCSTRING.match(meaning), "a paragraph after the summary gives the formula"


@every_op
def test_labels_of_docstring_and_checks_agree(name: str) -> None:
    op = ops()[name]
    assert set(_LABEL_IN_DOCSTRING.findall(_docstring(op))) == _checked_labels(op)


@every_op
def test_each_label_has_an_invalid_form(name: str) -> None:
    op = ops()[name]
    labels = set(_LABEL_IN_DOCSTRING.findall(_docstring(op))) | ({"t1"} if _limits_dtypes(op) else set())
    file = _HERE / _family(op) / "invalid.mlir"
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    missing = [label for label in sorted(labels) if f"func.func @{name}_{label}(" not in text]
    assert not missing, f"{file.parent.name}/{file.name} has no @{name}_{missing[0]}"


@every_op
def test_round_trips(name: str) -> None:
    file = _HERE / _family(ops()[name]) / "ops.mlir"
    assert file.exists() and f'"dl.{name}"(' in file.read_text(encoding="utf-8"), f"no round trip in {file.parent.name}/{file.name}"


@every_op
def test_has_a_lowering(name: str) -> None:
    assert name in lowerings() or _family(ops()[name]) == _STRUCTURE


@every_op
def test_has_a_numerics_case(name: str) -> None:
    assert _family(ops()[name]) == _STRUCTURE or name in {case.op for case in all_cases()}


@every_op
def test_numerics_cover_every_dtype(name: str) -> None:
    op = ops()[name]
    if _family(op) == _STRUCTURE or not op.operand_fields:
        return
    run = {dtype for case in all_cases() if case.op == name for dtype in case.run_dtypes()}
    missing = set(op.accepted_dtypes(op.operand_fields[0].name)) - run
    assert not missing, f"no numerics case in {', '.join(sorted(missing))}"


@every_op
def test_attributes_are_documented(name: str) -> None:
    undocumented = [key for key, field in ops()[name].attribute_fields.items() if not field.doc]
    assert not undocumented, f"attribute '{undocumented[0]}' has no doc"


def test_every_lowering_is_of_an_op() -> None:
    assert set(lowerings()) <= set(ops())
