"""Builds a module with one function of dl ops from Python.

with Graph() as graph:
    x = graph.input("x", ("batch", 64))
    w = graph.param("w", weights)
    graph.output("y", dl.relu(dl.matmul(x, w)))
model = dlc.compile(graph.module, params=graph.params)
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType

import numpy as np

from dlc._mlir import ir
from dlc.diagnostics import from_mlir
from dlc.dialects.dl.structure import Param
from dlc.dialects.dl.types import Dim, TensorType, mlir_type
from dlc.dtypes import dtype_of_numpy
from dlc.errors import VerifyError

ENTRY = "main_graph"


class Graph:
    """A module under construction; a context manager within which dl builders add ops to its function.

    `module` is complete and verified when the `with` statement ends; `params` are the arrays of its weights by key.
    """

    def __init__(self, name: str = ENTRY, context: ir.Context | None = None) -> None:
        from dlc.dialects import make_context

        self.context = context or make_context()
        self.params: dict[str, np.ndarray] = {}
        self._inputs: list[tuple[str, TensorType]] = []
        self._outputs: list[tuple[str, ir.Value]] = []
        self._scope = ExitStack()
        with self.context, ir.Location.unknown():
            self.module = ir.Module.create()
            self.function = ir.Operation.create(
                "func.func",
                attributes={
                    "sym_name": ir.StringAttr.get(name),
                    "function_type": ir.TypeAttr.get(ir.FunctionType.get([], [])),
                },
                regions=1,
                ip=ir.InsertionPoint(self.module.body),
            )
            self.block = self.function.regions[0].blocks.append()

    def input(self, name: str, shape: Sequence[Dim], dtype: str = "f32") -> ir.Value:
        """A new argument of the function. A dim is a size, a name (equal names are equal sizes) or None (any size)."""
        kind = TensorType(tuple(shape), dtype)
        self._inputs.append((name, kind))
        return self.block.add_argument(mlir_type(kind), ir.Location.name(name))

    def param(self, key: str, array: np.ndarray) -> ir.Value:
        """A weight: its array goes into `params`, the IR holds its key."""
        self.params[key] = array
        found: ir.Value = Param.build(key=key, shape=tuple(array.shape), dtype=dtype_of_numpy(array.dtype))
        return found

    def output(self, name: str, value: ir.Value) -> None:
        """A result of the function, in order of the calls."""
        self._outputs.append((name, value))

    def __enter__(self) -> Graph:
        for manager in (self.context, ir.Location.unknown(self.context), ir.InsertionPoint(self.block)):
            self._scope.enter_context(manager)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if kind is None:
                self._finish()
        finally:
            self._scope.close()

    def _finish(self) -> None:
        """Add the return, and the names and types of arguments and results."""
        values = [value for _, value in self._outputs]
        ir.Operation.create("func.return", operands=values)
        types = ir.FunctionType.get([mlir_type(item) for _, item in self._inputs], [value.type for value in values])
        attributes = self.function.attributes
        attributes["function_type"] = ir.TypeAttr.get(types)
        if self._inputs:
            attributes["arg_attrs"] = ir.ArrayAttr.get([_argument_attributes(*entry) for entry in self._inputs])
        if values:
            names = [{"dl.name": ir.StringAttr.get(name)} for name, _ in self._outputs]
            attributes["res_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(name) for name in names])
        try:
            self.module.operation.verify()
        except ir.MLIRError as error:
            found = [from_mlir(info) for info in error.error_diagnostics]
            raise VerifyError("the graph is not valid IR", found) from None


def _argument_attributes(name: str, kind: TensorType) -> ir.DictAttr:
    attributes: dict[str, ir.Attribute] = {"dl.name": ir.StringAttr.get(name)}
    if any(isinstance(dim, str) for dim in kind.shape):
        names = [dim if isinstance(dim, str) else "" for dim in kind.shape]
        attributes["dl.dims"] = ir.ArrayAttr.get([ir.StringAttr.get(item) for item in names])
    return ir.DictAttr.get(attributes)
