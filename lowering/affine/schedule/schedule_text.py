"""Schedules as Python and as MLIR's transform dialect, and back."""

from __future__ import annotations

import ast
import dataclasses
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dlc._mlir import ir
from dlc.diagnostics import from_mlir
from dlc.errors import ScheduleError
from dlc.lowering.pass_base import OptionError, Pass
from dlc.lowering.registry import find_pass

METHODS: Mapping[str, str] = {
    "tile": "affine-tile-band",
    "split": "affine-split-loop",
    "strip_mine": "affine-strip-mine-loop",
    "interchange": "affine-interchange-band",
    "fuse": "affine-fuse-loops",
    "distribute": "affine-distribute-loop",
    "fission": "affine-distribute-loop",
    "skew": "affine-skew-band",
    "peel": "affine-peel-loop",
    "split_index_set": "affine-split-index-set",
    "unroll": "affine-unroll-loop",
    "unroll_and_jam": "affine-unroll-and-jam-loop",
    "vectorize": "affine-vectorize-loop",
    "parallelize": "affine-parallelize-loop",
    "pack": "affine-pack-buffer",
    "reverse": "affine-reverse-loop",
    "shift": "affine-shift-statement",
    "compute_at": "affine-compute-at",
    "tile_registers": "affine-set-register-tile",
    "search": "affine-search-nest",
    "bind": "affine-bind-loop",
}
"""The methods of `dlc.Schedule` and the passes that do the same; the passes' options are the methods' arguments in order."""

_SHARED = ("function", "assume_no_alias", "reassociate")
"""Options that say where a pass works, not what it does."""


@dataclass(frozen=True)
class Recorded:
    """A step that was made, and the names of the loops that it returned."""

    change: Pass
    loops: tuple[str, ...]


@dataclass(frozen=True)
class Result:
    """A loop that an earlier step returned, by the variable that holds it."""

    variable: str


@dataclass(frozen=True)
class Planned:
    """A step as text gives it: the pass, its options, and the variables that hold the loops which it returns."""

    kind: type[Pass]
    given: Mapping[str, object]
    targets: tuple[str, ...] = ()

    def change(self, variables: Mapping[str, str]) -> Pass:
        """The pass, where the variables of earlier steps have those values."""
        return self.kind(**{key: _resolved(value, variables) for key, value in self.given.items()})


def _resolved(value: object, variables: Mapping[str, str]) -> object:
    if isinstance(value, tuple):
        return tuple(_resolved(item, variables) for item in value)
    return variables[value.variable] if isinstance(value, Result) else value


@dataclass(frozen=True)
class Steps:
    """What the text of a schedule says."""

    where: Mapping[str, Any]
    """The options that all steps share."""
    steps: tuple[Planned, ...]


def as_python(where: Mapping[str, Any], steps: Sequence[Recorded]) -> str:
    """Lines that make the schedule of a module called `module`; `where` holds the options that all steps share."""
    given = ", ".join(["module", *(f"{key}={_python(value)}" for key, value in where.items() if value)])
    lines = [f"schedule = dlc.Schedule({given})"]
    methods = {name: method for method, name in METHODS.items() if method != "fission"}
    for step in steps:
        given = ", ".join(f"{key}={_python(value)}" for key, value in _arguments(step.change))
        note = f"  # {', '.join(step.loops)}" if step.loops else ""
        lines.append(f"schedule.{methods[step.change.name()]}({given}){note}")
    return "\n".join([*lines, "schedule.apply()", ""])


def as_lines(where: Mapping[str, Any], steps: Sequence[Recorded]) -> tuple[str, ...]:
    """The calls of `as_python` one by one, without the function; `read_steps` reads them again as lines of one text."""
    return lines_of(as_python({**where, "function": ""}, steps))


def lines_of(text: str) -> tuple[str, ...]:
    """The calls of a text, one a line, as a table of schedules keeps them; ScheduleError for what is no schedule."""
    if "transform.named_sequence" in text:
        plan = _from_transform(text)
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


def _arguments(change: Pass) -> Iterator[tuple[str, object]]:
    """The options that differ from their defaults, and say what the pass does."""
    for field in dataclasses.fields(change):
        value = getattr(change, field.name)
        if field.name not in _SHARED and value != field.default:
            yield field.name, value


def as_transform(where: Mapping[str, Any], steps: Sequence[Recorded]) -> str:
    """A module with the named sequence `__transform_main`, one registered pass a step."""
    any_op = "!transform.any_op"
    lines = [
        "module attributes {transform.with_named_sequence} {",
        f"  transform.named_sequence @__transform_main(%module: {any_op} {{transform.consumed}}) {{",
        f'    %0 = transform.structured.match ops{{["func.func"]}} attributes {{sym_name = {json.dumps(where["function"])}}}'
        f" in %module : ({any_op}) -> {any_op}",
    ]
    for number, step in enumerate(steps):
        given = [*_arguments(step.change), *((key, value) for key, value in where.items() if value)]
        options = ", ".join(f'"{key.replace("_", "-")}" = {_attribute(value)}' for key, value in given)
        lines.append(
            f'    %{number + 1} = transform.apply_registered_pass "{step.change.name()}" with options = {{ {options} }}'
            f" to %{number} : ({any_op}) -> {any_op}"
        )
    return "\n".join([*lines, "    transform.yield", "  }", "}", ""])


def _attribute(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(_attribute(item) for item in value)}]"
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value) if isinstance(value, str) else str(value)


def read_steps(text: str) -> Steps:
    """What `as_python` or `as_transform` printed; ScheduleError says what else the text holds."""
    return _from_transform(text) if "transform.named_sequence" in text else _from_python(text)


def read_lines(lines: Sequence[str]) -> Steps:
    """What `lines_of` gave."""
    return _from_python("\n".join(lines), is_bare=True)


# Transform dialect.


def _from_transform(text: str) -> Steps:
    from dlc.dialects import make_context

    with make_context(), ir.Location.unknown():
        try:
            module = ir.Module.parse(text)
        except ir.MLIRError as error:
            raise ScheduleError("the text is no MLIR", "", [from_mlir(found) for found in error.error_diagnostics]) from None
        changes = [_pass_of(op) for op in _sequence(module) if op.name == "transform.apply_registered_pass"]
    shared = [{key: getattr(change, key) for key in _SHARED} for change in changes]
    if any(other != shared[0] for other in shared):
        raise ScheduleError("the steps differ in the function or in what they assume", "make one schedule for each")
    fields = [{field.name: getattr(change, field.name) for field in dataclasses.fields(change)} for change in changes]
    planned = [Planned(type(change), given) for change, given in zip(changes, fields, strict=True)]
    return Steps(shared[0] if shared else {}, tuple(planned))


def _sequence(module: ir.Module) -> list[ir.Operation]:
    known = ("transform.structured.match", "transform.apply_registered_pass", "transform.yield")
    for sequence in module.body.operations:
        ops = [op.operation for op in sequence.operation.regions[0].blocks[0].operations]
        strange = next((op for op in ops if op.name not in known), None)
        if strange is not None:
            raise ScheduleError(f"a schedule has no '{strange.name}'", "apply it with MLIR's transform interpreter instead")
        return ops
    raise ScheduleError("the module holds no named sequence", "give what Schedule.to_transform printed")


def _pass_of(op: ir.Operation) -> Pass:
    name = ir.StringAttr(op.attributes["pass_name"]).value
    options = ir.DictAttr(op.attributes["options"]) if "options" in op.attributes else {}
    found = find_pass(name) if name in METHODS.values() else None
    if found is None:
        raise ScheduleError(f"pass '{name}' is no step of a schedule", f"use {', '.join(sorted(set(METHODS.values())))}")
    given = {entry.name: _option(entry.attr) for entry in options}
    try:
        return found.from_options(given)
    except OptionError as error:
        raise ScheduleError(str(error)) from None


def _option(value: ir.Attribute) -> str:
    """The text of an option's value as it stands in a pipeline."""
    if isinstance(value, ir.ArrayAttr):
        return ",".join(_option(item) for item in value)
    return value.value if isinstance(value, ir.StringAttr) else str(value.value).lower()


# Python.

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
    kinds = {field.name: str(field.type) for field in dataclasses.fields(found) if field.name not in _SHARED}
    given = _given(line.call, tuple(kinds), known)
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
