"""Schedules as Python text, and back; either text of a schedule is read here."""

from __future__ import annotations

import ast
import dataclasses
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dlc.errors import ScheduleError, quoted
from dlc.lowering.affine.ir.tile import FORMER_NAMES
from dlc.lowering.affine.schedule.steps import METHODS, SHARED, Planned, Recorded, Result, Steps, arguments_of
from dlc.lowering.affine.schedule.transform_text import from_transform
from dlc.lowering.registry import find_pass


def as_python(where: Mapping[str, Any], steps: Sequence[Recorded]) -> str:
    """Lines that make the schedule of a module called `module`; `where` holds the options that all steps share."""
    given = ", ".join(["module", *(f"{key}={_python(value)}" for key, value in where.items() if value)])
    lines = [f"schedule = dlc.Schedule({given})"]
    methods = {name: method for method, name in METHODS.items() if method != "fission"}
    for step in steps:
        given = ", ".join(f"{key}={_python(value)}" for key, value in arguments_of(step.change))
        note = f"  # {', '.join(step.loops)}" if step.loops else ""
        lines.append(f"schedule.{methods[step.change.name()]}({given}){note}")
    return "\n".join([*lines, "schedule.apply()", ""])


def as_lines(where: Mapping[str, Any], steps: Sequence[Recorded]) -> tuple[str, ...]:
    """The calls of `as_python` one by one, without the function; `read_steps` reads them again as lines of one text."""
    return lines_of(as_python({**where, "function": ""}, steps))


def lines_of(text: str) -> tuple[str, ...]:
    """The calls of a text, one a line, as a table of schedules keeps them; ScheduleError for what is no schedule."""
    if "transform.named_sequence" in text:
        plan = from_transform(text)
        return as_lines(plan.where, [Recorded(planned.change({}), ()) for planned in plan.steps])
    plan = _from_python(text, is_bare=True)
    given = {key: value for key, value in plan.where.items() if value and key not in ("source", "function")}
    first = [f"Schedule(module, {', '.join(f'{key}={_python(value)}' for key, value in given.items())})"] if given else []
    calls = [line for line in map(_line_of, ast.parse(text).body) if line is not None]
    kept = [line for line in calls if _method_of(line.call) not in ("Schedule", "apply")]
    return (*first, *map(_as_line, kept))


def _as_line(line: _Line) -> str:
    arguments = [*map(ast.unparse, line.call.args), *(f"{word.arg}={ast.unparse(word.value)}" for word in line.call.keywords)]
    call = f"{_method_of(line.call)}({', '.join(arguments)})"
    return f"{', '.join(line.targets)} = {call}" if line.targets else call


def _python(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(_python(item) for item in value)}]"
    return json.dumps(value) if isinstance(value, str) else repr(value)


def read_steps(text: str) -> Steps:
    """What `as_python` or `as_transform` printed; ScheduleError says what else the text holds."""
    if not isinstance(text, str):
        raise ScheduleError(f"the steps of a schedule are a text, not {quoted(text)}", _HOW)
    return from_transform(text) if "transform.named_sequence" in text else _from_python(text)


def read_lines(lines: Sequence[str]) -> Steps:
    """What `lines_of` gave."""
    return _from_python("\n".join(lines), is_bare=True)


_HOW = "give what Schedule.to_python printed"


@dataclass(frozen=True)
class _Line:
    """A call, its number, and the variables that its results are given to."""

    call: ast.Call
    targets: tuple[str, ...]


def _from_python(text: str, is_bare: bool = False) -> Steps:
    """Read the calls without running them: literals and the results of earlier calls are all that they may use.

    A text that `is_bare` may begin with a step.
    """
    try:
        body = ast.parse(text).body
    except SyntaxError as error:
        raise ScheduleError(f"line {error.lineno}: neither MLIR nor Python", _HOW) from None
    lines = [line for line in map(_line_of, body) if line is not None]
    has_first = bool(lines) and _method_of(lines[0].call) == "Schedule"
    if not has_first and not is_bare:
        raise ScheduleError("the text makes no dlc.Schedule first", _HOW)
    where = _given(lines[0].call, ("source", "function"), set(), skip=1) if has_first else {}
    known: set[str] = set()
    planned = []
    for line in lines[1:] if has_first else lines:
        if _method_of(line.call) != "apply":
            planned.append(_planned(line, where, known))
            known |= set(line.targets)
    return Steps(where, tuple(planned))


def _line_of(node: ast.stmt) -> _Line | None:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return None
    if not isinstance(node, (ast.Expr, ast.Assign)) or not isinstance(node.value, ast.Call):
        raise ScheduleError(f"line {node.lineno}: a schedule consists of calls alone", _HOW)
    targets = node.targets[0] if isinstance(node, ast.Assign) else ast.Tuple([])
    parts = targets.elts if isinstance(targets, (ast.Tuple, ast.List)) else [targets]
    return _Line(node.value, tuple(ast.unparse(part) for part in parts))


def _method_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _planned(line: _Line, where: Mapping[str, object], known: Collection[str]) -> Planned:
    method, number = _method_of(line.call), line.call.lineno
    if method not in METHODS:
        raise ScheduleError(f"line {number}: a schedule has no step '{method}'", f"use one of {', '.join(METHODS)}")
    found = find_pass(METHODS[method])
    assert found is not None
    kinds = {field.name: str(field.type) for field in dataclasses.fields(found) if field.name not in SHARED}
    given = _given(line.call, tuple(kinds), known)
    given = {FORMER_NAMES.get(key, key): value for key, value in given.items()}
    unknown = [key for key in given if key not in kinds]
    if unknown:
        raise ScheduleError(f"line {number}: '{method}' has no argument '{unknown[0]}'", f"use {', '.join(kinds)}")
    return Planned(found, {key: _fitting(value, kinds[key]) for key, value in given.items()} | dict(where), line.targets)


def _fitting(value: object, kind: str) -> object:
    """An argument as the pass's option of type `kind` holds it."""
    if kind.startswith("tuple"):
        return tuple(value) if isinstance(value, (list, tuple)) else (value,)
    return str(value) if kind == "str" and not isinstance(value, Result) else value


def _given(call: ast.Call, names: Sequence[str], known: Collection[str], skip: int = 0) -> dict[str, object]:
    """The arguments of a call by name; the first `skip` are not looked at."""
    pairs = [*zip(names, call.args, strict=False), *((word.arg or "", word.value) for word in call.keywords)]
    return {key: _value(value, known) for key, value in pairs[skip:]}


def _value(node: ast.expr, known: Collection[str]) -> object:
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_value(item, known) for item in node.elts]
    if isinstance(node, ast.Name) and node.id in known:
        return Result(node.id)
    if isinstance(node, ast.Name):
        raise ScheduleError(f"line {node.lineno}: nothing is called '{node.id}'", "use the results of earlier steps")
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise ScheduleError(f"line {node.lineno}: an argument is no literal", _HOW) from None
