"""dlc-check-proof: check a certificate of `affine-check-legality` again, from the two files of IR.

    dlc-check-proof before.mlir after.mlir proof.json

What it trusts: MLIR's parser, isl's operations on sets, that the function before stays inside of its memrefs, and that memref
arguments share no memory where the certificate assumes so. It reads loops and accesses by itself (`proof_program.py`,
`proof_values.py`, `proof_index.py`), and takes from the certificate just the relation between values. That relation proves the
functions equal when it holds every result, and with each pair of values, which must be the same op, the pairs of their operands.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import islpy as isl

from dlc._mlir import ir
from dlc.devices import refuse_endless
from dlc.dialects.reading import parse_module
from dlc.errors import DLCError
from dlc.tools.proof_index import Unknown
from dlc.tools.proof_program import ProofProgram
from dlc.tools.proof_values import CheckedAccess, Value

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out
_COMMUTATIVE = ("arith.addf", "arith.mulf", "arith.addi", "arith.muli", "arith.andi", "arith.ori", "arith.xori")


class Rejected(Exception):
    """The certificate does not prove what it says."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; returns 0 when all functions of the certificate are proved, 1 when not, 2 for files that can't be read."""
    parser = argparse.ArgumentParser(prog="dlc-check-proof", description="check a certificate of affine-check-legality again")
    parser.add_argument("before", type=Path, help="IR before the change")
    parser.add_argument("after", type=Path, help="IR after it")
    parser.add_argument("proof", type=Path, help="the certificate, FILE.json")
    given = parser.parse_args(arguments)
    try:
        for file in (given.proof, given.before, given.after):
            refuse_endless(file)
        proof = json.loads(given.proof.read_text(encoding="utf-8"))
        context = ir.Context()
        modules = [parse_module(path.read_bytes(), str(path), context, path) for path in (given.before, given.after)]
        functions = _functions_of(proof)
    except (OSError, ValueError, DLCError, Rejected) as error:
        print(f"dlc-check-proof: error: {error}", file=sys.stderr)
        return 2
    failed = False
    with context, ir.Location.unknown():
        verdicts = {str(one.get("function", "?")): _reason(modules, one) for one in functions}
        verdicts |= {
            name: "it changed, and the certificate says nothing of it" for name in _changed(modules) if name not in verdicts
        }
        for name, reason in verdicts.items():
            failed = failed or bool(reason)
            print(f"@{name}: {f'rejected: {reason}' if reason else 'proved'}")
        if not verdicts:
            print("nothing changed")
    return int(failed)


def _changed(modules: Sequence[ir.Module]) -> list[str]:
    """The names of ops of the modules that are not the same in both."""
    texts: list[dict[str, str]] = []
    for module in modules:
        ops = [op.operation for op in module.body.operations]
        named = ((op, op.attributes.get("sym_name", op.name)) for op in ops)
        texts.append({str(name).strip('"'): str(op) for op, name in named})
    return [name for name in texts[0] | texts[1] if texts[0].get(name) != texts[1].get(name)]


def _functions_of(proof: Any) -> list[dict[str, Any]]:
    if not isinstance(proof, dict) or proof.get("version") != 1 or not isinstance(proof.get("functions"), list):
        raise Rejected("the certificate is not one of version 1")
    return [one for one in proof["functions"] if isinstance(one, dict)]


def _reason(modules: Sequence[ir.Module], one: dict[str, Any]) -> str:
    """Why a function is not proved equal; empty when it is."""
    try:
        _check(modules, one)
    except (Rejected, Unknown) as error:
        return str(error)
    except (isl.Error, KeyError, TypeError, ValueError, AttributeError) as error:
        return f"the certificate is broken: {type(error).__name__}: {error}"
    return ""


def _check(modules: Sequence[ir.Module], one: dict[str, Any]) -> None:
    if one["verdict"] != "accepted":
        raise Rejected("the certificate itself says that the change was refused")
    if one["reassociated"]:
        raise Rejected("it takes sums in another order, which the checker has no rule for")
    parameters = {key: name for name, key in one["parameters"].items()}
    if len(parameters) != len(one["parameters"]):
        raise Rejected("two parameters have one name")
    terminals: dict[str, str] = {}
    before, after = (
        ProofProgram(_function(module, one["function"]), side, parameters, terminals)
        for module, side in zip(modules, "ba", strict=True)
    )
    if not one["assumptions"]["no_alias"]:
        for program in (before, after):
            _refuse_aliases(program)
    check = _Check(before, after, one)
    if check.context.is_empty():
        raise Rejected("the function before leaves its memrefs, whatever the sizes are")
    check.run()


def _refuse_aliases(program: ProofProgram) -> None:
    """Memory that is written has arguments marked `llvm.noalias`, or is alone."""
    touched = {one.memory: False for one in program.accesses if "local" not in one.memory and "keeps" not in one.value.key}
    touched |= {one.memory: True for one in program.accesses if one.writes and one.memory in touched}
    for one, is_written in touched.items():
        for other in touched:
            if is_written and one != other and not (program.is_alone(one) or program.is_alone(other)):
                raise Rejected(f"{program.labels[one]} and {program.labels[other]} may be the same memory")


class _Check:
    """One function's certificate against both programs."""

    def __init__(self, before: ProofProgram, after: ProofProgram, one: dict[str, Any]) -> None:
        self.before, self.after = before, after
        self.keys = [{value.key: value for value in program.values.values()} for program in (after, before)]
        self.context = _context(before, one)
        self.related: dict[tuple[str, str], isl.Map] = {}
        for pair in one["relation"]:
            ends = self._name(pair["after"], 0), self._name(pair["before"], 1)
            relation = isl.Map(pair["map"]).set_tuple_name(_IN, ends[0]).set_tuple_name(_OUT, ends[1])
            self.related[ends] = relation.union(self.related[ends]) if ends in self.related else relation

    def _name(self, text: str, side: int) -> str:
        value = self.keys[side].get(text)
        return value.name if value is not None else self.after.terminal(text)

    def run(self) -> None:
        """Raise `Rejected` at the first thing that is not so."""
        for program in (self.before, self.after):
            for value in program.values.values():
                self._has_all_operands(value)
        after, before = _results(self.after), _results(self.before)
        if set(after) != set(before):
            raise Rejected("the functions do not have the same results")
        for role in before:
            self._holds_result(role, after[role], before[role])
        for ends, relation in self.related.items():
            self._is_closed(ends, relation.intersect_params(self.context))
        self._has_no_race()
        self._stays_inside()

    def _has_all_operands(self, value: Value) -> None:
        for sources in value.operands:
            missing = value.domain.intersect_params(self.context)
            for source in sources:
                missing = missing.subtract(source.domain())
            if not missing.is_empty():
                raise Unknown(f"the checker does not know where an operand of {value.key} comes from")

    def _holds_result(self, role: str, after: Value, before: Value) -> None:
        """Every element of a result is related to itself."""
        equal = isl.Map.from_domain_and_range(after.domain, before.domain)
        for dim in range(len(before.dims)):
            equal = equal.equate(_IN, dim, _OUT, dim)
        self._require(equal.intersect_params(self.context), role)
        if not equal.domain().is_equal(after.domain) or not equal.range().is_equal(before.domain):
            raise Rejected(f"{role} does not have as many elements as before")

    def _require(self, pairs: isl.Map, what: str) -> None:
        """`pairs` are in the relation, or are the same terminals."""
        if pairs.is_empty():
            return
        ends = pairs.get_tuple_name(_IN), pairs.get_tuple_name(_OUT)
        if ends[1] == self.after.terminals.get("undefined"):
            return
        terminals = set(self.after.terminals.values())
        if (
            ends[0] == ends[1]
            and ends[0] in terminals
            and (not pairs.dim(_IN) or pairs.is_subset(isl.Map.identity(pairs.get_space())))
        ):
            return
        known = self.related.get(ends)
        if set(ends) & terminals or known is None or not pairs.is_subset(known):
            raise Rejected(f"{what}: a value of {self._say(ends[0])} is not shown to be one of {self._say(ends[1])}")

    def _say(self, name: str) -> str:
        value = self.after.values.get(name) or self.before.values.get(name)
        return value.key if value is not None else next(text for text, known in self.after.terminals.items() if known == name)

    def _is_closed(self, ends: tuple[str, str], relation: isl.Map) -> None:
        """The operands of related values are related, and the values are of one kind."""
        one, other = self.after.values.get(ends[0]), self.before.values.get(ends[1])
        if one is None or other is None:
            return  # terminals are compared where they are operands
        if one.kind != other.kind:
            raise Rejected(f"{one.key} and {other.key} are different ops")
        orders = [list(other.operands)]
        if one.kind.startswith(_COMMUTATIVE):
            orders.append(orders[0][::-1])
        failures = []
        for order in orders:
            try:
                self._operands_are_related(relation, one, order)
                return
            except Rejected as error:
                failures.append(error)
        raise failures[0]

    def _operands_are_related(self, relation: isl.Map, one: Value, order: list[list[isl.Map]]) -> None:
        for sources, targets in zip(one.operands, order, strict=True):
            for source in sources:
                reached = relation.apply_domain(source)
                for target in targets:
                    self._require(reached.apply_range(target), f"operand of {one.key}")

    def _has_no_race(self) -> None:
        """Iterations of parallel loops, and columns of rows that run at once, do not touch what another one writes."""
        accesses = [access for access in self.after.accesses if access.parallel or access.roles]
        for one in accesses:
            for other in accesses:
                if one.memory == other.memory and one.writes:
                    self._do_not_meet(one, other)
                    self._follow_by_columns(one, other)

    def _do_not_meet(self, one: CheckedAccess, other: CheckedAccess) -> None:
        pairs = one.element.apply_range(other.element.reverse()).intersect_params(self.context)
        for (depth, loop), (_, same) in zip(one.parallel, other.parallel, strict=False):
            if loop != same:
                return
            meeting = pairs
            for dim in range(depth):
                meeting = meeting.equate(_IN, dim, _OUT, dim)
            if not meeting.subtract(meeting.equate(_IN, depth, _OUT, depth)).is_empty():
                raise Rejected(f"{one.value.key} and {other.value.key} meet in different iterations of a parallel loop")

    def _follow_by_columns(self, one: CheckedAccess, other: CheckedAccess) -> None:
        """Rows that `dlc.doacross` lets run at once wait for the columns up to their own of the rows before, and for no others."""
        columns = [{depth for depth, _, role in each.roles if role == "columns"} for each in (one, other)]
        for depth, loop, role in one.roles:
            if role != "rows" or (depth, loop, role) not in other.roles or not all(depth + 1 in each for each in columns):
                continue
            meeting = one.element.apply_range(other.element.reverse()).intersect_params(self.context)
            for dim in range(depth):
                meeting = meeting.equate(_IN, dim, _OUT, dim)
            before = meeting.order_lt(_IN, depth, _OUT, depth).order_gt(_IN, depth + 1, _OUT, depth + 1)
            after = meeting.order_gt(_IN, depth, _OUT, depth).order_lt(_IN, depth + 1, _OUT, depth + 1)
            if not before.union(after).is_empty():
                raise Rejected(f"{one.value.key} and {other.value.key} meet in rows that run at once")

    def _stays_inside(self) -> None:
        for access in self.after.accesses:
            if not _outside(self.after, access).intersect_params(self.context).is_empty():
                raise Rejected(f"{access.value.key} leaves its memref")


def _results(program: ProofProgram) -> dict[str, Value]:
    """The values that a function leaves behind, by what they are: `keeps arg0`, `returns 0`."""
    roles = ((value.key.split(" ", 2)[2], value) for value in program.values.values())
    return {role: value for role, value in roles if role.startswith(("keeps ", "returns "))}


def _context(before: ProofProgram, one: dict[str, Any]) -> isl.Set:
    """The parameters for which the function before stays inside of its memrefs; sizes are not negative."""
    sizes = [name for key, name in before.parameters.items() if key.startswith("memref.dim")]
    if one["assumptions"]["non_negative"]:
        sizes += [name for key, name in before.parameters.items() if key.startswith("arg")]
    context = isl.Set(f"{before.prefix}{{ : {' and '.join(f'{name} >= 0' for name in sizes)} }}")
    for access in before.accesses:
        context = context.subtract(_outside(before, access).params())
    return context


def _outside(program: ProofProgram, access: CheckedAccess) -> isl.Set:
    """The elements that an access touches and its memref does not have."""
    dims = [f"e{at}" for at in range(len(access.sizes))]
    bounds = " and ".join(f"0 <= {dim} < {size}" for dim, size in zip(dims, access.sizes, strict=True) if size) or "true"
    return access.element.range().subtract(isl.Set(f"{program.prefix}{{ {access.memory}[{', '.join(dims)}] : {bounds} }}"))


def _function(module: ir.Module, name: str) -> ir.Operation:
    for op in module.body.operations:
        if op.operation.name == "func.func" and ir.StringAttr(op.operation.attributes["sym_name"]).value == name:
            return op.operation
    raise Rejected("a file does not have this function")


if __name__ == "__main__":
    sys.exit(main())
