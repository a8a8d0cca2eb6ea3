"""What LLVM IR has no form for: upstream's translation ends the process at it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops

_FOREIGN_TYPE = re.compile(
    r"(?:\b|[\d\]]x)(?:memref|tensor|tuple|complex|none|index|tf32|f[468]E\w+|[su]i\d+)\b"  # builtin types
    r"|!(?!llvm\.)"  # types of other dialects
)
_NAME = re.compile(r'"[^"]*"')
_TYPE_HOLDERS = frozenset({"llvm.alloca", "llvm.call", "llvm.func", "llvm.getelementptr", "llvm.invoke", "llvm.mlir.global"})
"""Ops whose attributes name types, which their verifiers take as they are."""


def untranslatable(module: ir.Operation, dialects: Sequence[str], convert: str) -> Iterator[tuple[ir.Operation, str, str]]:
    """The ops inside `module` that are of none of `dialects`, or name a type that LLVM lacks, each with what is wrong and a remedy.

    `convert` is the pass that makes ops of `dialects`.
    """
    names: set[str] = set()
    known: set[ir.Attribute] = set()
    for op in nested_ops(module)[1:]:
        name = op.name
        if name not in names and name.partition(".")[0] not in dialects:
            yield op, f"needs ops of {' and '.join(dialects)}, found '{name}'", f"run {convert} first"
        names.add(name)
        if name in _TYPE_HOLDERS:
            for found in _new_types_of(op, known):
                if _FOREIGN_TYPE.search(_NAME.sub("", str(found))):
                    yield op, f"LLVM has no type {found}", "name one of its own: integers, floats, !llvm.ptr, !llvm.struct, ..."


def _new_types_of(op: ir.Operation, known: set[ir.Attribute]) -> Iterator[ir.Type]:
    """The types in the attributes of an op that are not `known`, which they are from then on."""
    for named in op.attributes:
        attribute = op.attributes[named]
        if attribute not in known:
            known.add(attribute)
            yield from _types_in(attribute)


def _types_in(attribute: ir.Attribute) -> Iterator[ir.Type]:
    if isinstance(attribute, ir.TypeAttr):
        yield attribute.value
    elif isinstance(attribute, ir.ArrayAttr):
        for item in attribute:
            yield from _types_in(item)
    elif isinstance(attribute, ir.DictAttr):
        for entry in attribute:
            yield from _types_in(entry.attr)
