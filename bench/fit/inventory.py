"""`python -m bench fit --list`: every number that `lowering/` states for a whole module, and what kind it is.

A number is counted by its name: a constant, a sum or product with one, a tuple of numbers, or a table whose values are. Kinds are
`policy` (fields of `dlc.lowering.policy`), `math` (coefficients and limits of functions) and `encoding`: predicates, positions of
operands, widths of formats, and what else has one right value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dlc import lowering
from dlc.lowering.policy.record import Policy, group_of, settings

ROOT = Path(str(lowering.__file__)).parent
_MATH = ("affine_to_llvm/math/",)
_POLICY = "policy/"


@dataclass(frozen=True)
class Number:
    """One number of a module: its file under `lowering/`, name, value as text, and kind."""

    file: str
    name: str
    value: str
    kind: str

    def __str__(self) -> str:
        return f"{self.kind:<9} {self.file}: {self.name} = {self.value}"


def module_numbers(root: Path = ROOT) -> list[Number]:
    """The numbers of all modules, but for the fields of the policy."""
    found = []
    for file in sorted(root.rglob("*.py")):
        place = file.relative_to(root).as_posix()
        if place.startswith(_POLICY):
            continue
        kind = "math" if place.startswith(_MATH) else "encoding"
        found += [Number(place, name, value, kind) for name, value in numbers_of(file.read_text(encoding="utf-8"))]
    return found


def policy_numbers() -> list[Number]:
    """The fields of the policy that are one number."""
    default = Policy()
    return [Number(f"policy/{group_of(name)}.py", name, str(default.value_of(name)), "policy") for name in settings()]


def numbers_of(source: str) -> Iterator[tuple[str, str]]:
    """Names and values of the numbers that the text of a module states at its top."""
    for line in ast.parse(source).body:
        if isinstance(line, ast.Assign):
            targets, value = line.targets, line.value
        elif isinstance(line, ast.AnnAssign) and line.value is not None:
            targets, value = [line.target], line.value
        else:
            continue
        for name, part in _pairs(targets[0], value):
            if _is_number(part):
                yield name, ast.unparse(part)


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Names with what each of them becomes."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for name, part in zip(target.elts, value.elts, strict=True):
            yield ast.unparse(name), part
        return
    yield ast.unparse(target), value


def _is_number(value: ast.expr) -> bool:
    """Whether `value` is a number, or holds some: a tuple or list of numbers, a table with numbers in its values."""
    if isinstance(value, ast.Constant):
        return isinstance(value.value, (int, float)) and not isinstance(value.value, bool)
    if isinstance(value, (ast.Tuple, ast.List)):
        return bool(value.elts) and any(_is_number(part) for part in value.elts)
    if isinstance(value, ast.Dict):
        return any(_is_number(part) for part in value.values)
    if isinstance(value, ast.UnaryOp):
        return _is_number(value.operand)
    return isinstance(value, ast.BinOp) and (_is_number(value.left) or _is_number(value.right))
