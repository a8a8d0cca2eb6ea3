"""Imports an ONNX model into a module of dl ops, with its weights in a table beside it."""

from __future__ import annotations

import os
from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import onnx

from dlc._mlir import ir
from dlc.diagnostics import from_mlir
from dlc.dialects import dl
from dlc.dialects.dl.attributes import AttributeMismatch
from dlc.dialects.dl.graph import Graph
from dlc.dialects.dl.types import (
    ConstraintError,
    TensorType,
    compatible,
    dtype_of_numpy,
    mlir_type,
    require_addressable,
    tensor_type,
    type_of_array,
)
from dlc.errors import UnsupportedError, UnsupportedNode, ValuesNeededError, VerifyError
from dlc.frontends.onnx.constant_pool import ConstantPool, native
from dlc.frontends.onnx.declared import DeclaredTypes, declared_type
from dlc.frontends.onnx.folding import can_fold, fold_node
from dlc.frontends.onnx.importers import Imported, find_importer
from dlc.frontends.onnx.input_shapes import input_shapes
from dlc.frontends.onnx.kinds import check_kinds
from dlc.frontends.onnx.loader import load_model, opset_of, prepare_model
from dlc.frontends.onnx.node import NodeContext, UnknownValue, UnsupportedFeature, attribute_kinds, key_of, label_of, op_of
from dlc.frontends.onnx.origins import origin_of
from dlc.frontends.onnx.validation.problems import Problems
from dlc.frontends.onnx.values import InputValues

_ON_HOST = "`compile` and `dlc run` leave what needs it to the host"

ShapeOverrides = Mapping[str, Any]


@dataclass(frozen=True)
class ImportedModel:
    """A dl module, the arrays of its `dl.param` keys, the model's name for messages, and inputs that are constants in it."""

    module: ir.Module
    params: Mapping[str, np.ndarray]
    name: str
    values: Mapping[str, np.ndarray]


def import_model(
    source: str | os.PathLike[str] | onnx.ModelProto,
    context: ir.Context,
    shapes: ShapeOverrides | None = None,
    lenient: bool = False,
    values: InputValues | None = None,
    called: str | None = None,
) -> ImportedModel:
    """Import a file or a `ModelProto`; `shapes` overrides the shapes of inputs by name, `values` makes inputs constants.

    Messages name the model as it is `called`, by default by its file or graph.

    Raises `ParseError` for what is no valid model, `UnsupportedError` with every node that dlc can't import, `ValuesNeededError`
    where it could if more `values` and `shapes` were given. With `lenient`, what breaks a rule but is likely to mean one thing is
    warned of (`LenientWarning`).
    """
    model, name = load_model(source)
    name = called or name
    shapes = input_shapes(model, shapes)
    prepared = prepare_model(model, name, shapes, lenient, values)
    declared = DeclaredTypes.of(model.graph, Problems(name, lenient), has_sizes=not (shapes or values))
    dl.load(context)
    del model  # its weights are in `prepared`; the rest can go
    importer = GraphImporter(prepared.proto, prepared.weights, name, context, declared)
    imported = importer.run()
    return replace(imported, values=prepared.values)


class _BodyFailed(Exception):
    """A node of a body can't be imported, which is noted."""


@dataclass
class GraphImporter:
    """Imports one graph; see `import_model`."""

    model: onnx.ModelProto
    weights: Mapping[str, onnx.TensorProto]
    name: str
    context: ir.Context
    declared: DeclaredTypes
    pool: ConstantPool = field(default_factory=ConstantPool)
    values: ChainMap[str, ir.Value] = field(default_factory=ChainMap)
    """Those of a graph, then those of the graphs around it; in `arrays`, which has as many maps, too."""
    arrays: ChainMap[str, np.ndarray] = field(default_factory=ChainMap)
    known_types: dict[str, TensorType] = field(default_factory=dict)
    input_types: dict[str, TensorType] = field(default_factory=dict)
    unsupported: list[UnsupportedNode] = field(default_factory=list)
    unknown: set[str] = field(default_factory=set)
    """Values that a node that failed would have made, and all that depends on them."""
    is_body: bool = False

    def run(self) -> ImportedModel:
        graph = self.model.graph
        self._read_initializers(graph)
        self._read_value_info(graph)
        inputs = [entry for entry in graph.input if entry.name not in self.arrays]
        self.input_types = {entry.name: self._input_type(entry) for entry in inputs}
        self._stop_if_unsupported()
        built = Graph(context=self.context)
        self.pool.block = built.block
        try:
            with built:
                for name, kind in self.input_types.items():
                    self.values[name] = built.input(name, kind.shape, kind.dtype)
                for index, node in enumerate(graph.node):
                    self._import_node(node, index)
                self._add_outputs(built)
        except ir.MLIRError as error:
            found = [from_mlir(info).in_file(self.name) for info in error.error_diagnostics]
            raise VerifyError("", found) from None
        return ImportedModel(built.module, self.pool.params, self.name, {})

    def _add_outputs(self, built: Graph) -> None:
        self._stop_if_unsupported()
        self.declared.problems.settle()
        for entry in self.model.graph.output:
            built.output(entry.name, self._materialize(entry.name))

    # Reading what the model declares

    def _read_initializers(self, graph: onnx.GraphProto) -> None:
        for tensor in (*graph.initializer, *self.weights.values()):
            array = onnx.numpy_helper.to_array(tensor)
            if self._dtype_problem(array.dtype) is None:
                self.arrays[tensor.name] = native(array)
                continue
            self._report(tensor.name, "initializer", str(self._dtype_problem(array.dtype)))
        for sparse in graph.sparse_initializer:
            self._report(sparse.values.name, "initializer", "sparse tensors are not supported")

    def _read_value_info(self, graph: onnx.GraphProto) -> None:
        for entry in (*graph.input, *graph.value_info, *graph.output):
            kind = declared_type(entry)
            if kind is not None:
                self.known_types[entry.name] = kind

    def _input_type(self, entry: onnx.ValueInfoProto) -> TensorType:
        kind = declared_type(entry)
        if kind is not None:
            return kind
        which = entry.type.WhichOneof("value") or "no type"
        if which != "tensor_type":
            self._report(entry.name, "input", f"{which.replace('_type', '')} inputs are not compiled; {_ON_HOST}")
        elif not entry.type.tensor_type.HasField("shape"):
            self._report(entry.name, "input", "its rank is unknown; give its shape with the option `shapes`")
        else:
            dtype = onnx.TensorProto.DataType.Name(entry.type.tensor_type.elem_type).lower()
            reason = f"is not compiled; {_ON_HOST}" if dtype == "string" else "is not supported"
            self._report(entry.name, "input", f"element type {dtype} {reason}")
        return TensorType((), "f32")

    @staticmethod
    def _dtype_problem(dtype: np.dtype) -> str | None:
        try:
            dtype_of_numpy(dtype)
        except (KeyError, TypeError):
            return f"element type {dtype} is not supported"
        return None

    # Importing nodes

    def _import_node(self, node: onnx.NodeProto, index: int) -> None:
        label = label_of(node, index)
        if not self.unknown.isdisjoint(node.input):
            self._skip(node, label)
            return
        with ir.Location.name(label):
            try:
                results = self._fold(node)
                self._bind(node, self._build(node) if results is None else results)
            except UnknownValue as error:
                self._need(node, label, error)
            except _BodyFailed:  # which says why
                self.unknown.update(name for name in node.output if name)
            except (UnsupportedFeature, ConstraintError, AttributeMismatch) as error:
                self._fail(node, label, str(error))
            except MemoryError:
                self._fail(node, label, "what it makes at import needs more memory than there is")
            except (TypeError, ValueError, KeyError, IndexError, AttributeError, AssertionError, ArithmeticError):
                # The rules of validation let something pass that the importer of this op does not expect.
                self._fail(
                    node, label, f"its inputs or attributes ({attribute_kinds(node)}) are not of the kinds that the op takes"
                )

    def _fail(self, node: onnx.NodeProto, label: str, reason: str) -> None:
        self._report(label, op_of(node), reason)
        self.unknown.update(name for name in node.output if name)

    def _need(self, node: onnx.NodeProto, label: str, error: UnknownValue) -> None:
        """A node that needs a value: which inputs it is computed from, or why that does not help."""
        origin = origin_of(error.name, self.model.graph.node, self.input_types, self.arrays, error.of_dims)
        self._fail(node, label, f"{error}; {origin.remedy(self.input_types)}")
        if origin.suffices(self.input_types):
            self.unsupported[-1] = replace(self.unsupported[-1], values=origin.elements, shapes=origin.dims)

    def _skip(self, node: onnx.NodeProto, label: str) -> None:
        """A node after one that failed: what it is made of is not known, only whether there is such an op."""
        if find_importer(key_of(node)) is None:
            self._report(label, op_of(node), "the op is not supported")
        self.unknown.update(name for name in node.output if name)

    def _fold(self, node: onnx.NodeProto) -> list[np.ndarray] | None:
        if not can_fold(node) or any(name and not self._is_known(name) for name in node.input):
            return None
        inputs = [self._known(name) for name in node.input]
        found = fold_node(node, inputs, self.model.opset_import)
        if found is None or any(self._dtype_problem(array.dtype) for array in found):
            return None
        return found

    def _build(self, node: onnx.NodeProto) -> Sequence[Imported]:
        domain, _ = key = key_of(node)
        function = find_importer(key)
        if function is None:
            raise UnsupportedFeature("the op is not supported")
        context = NodeContext(
            node=node,
            opset=opset_of(self.model, domain),
            constants=self._known,
            materialize=self._materialize,
            new_param=self.pool.new_param,
            declared=self.known_types.get,
            import_body=partial(self._import_body, node),
        )
        check_kinds(context)
        found = function(context)
        return [found] if isinstance(found, (ir.Value, np.ndarray)) else list(found)

    def _bind(self, node: onnx.NodeProto, results: Sequence[Imported]) -> None:
        for name, result in zip(node.output, results, strict=False):
            if not name:
                continue
            self._compare(node, name, self._type_of(result))
            if isinstance(result, np.ndarray):
                self.arrays[name] = result
                continue
            self._refine(name, result)
            self.values[name] = result
        missing = [name for name in node.output[len(results) :] if name]
        if missing:
            raise UnsupportedFeature(f"output '{missing[0]}' is not supported")

    def _type_of(self, value: Imported) -> TensorType | None:
        """The type of a value or an array; None for those that are no tensors, or of an element type that dl lacks."""
        if isinstance(value, np.ndarray):
            return type_of_array(value) if self._dtype_problem(value.dtype) is None else None
        return tensor_type(value.type)

    def _compare(self, node: onnx.NodeProto, name: str, made: TensorType | None) -> None:
        """With what the file declares; what a body declares holds for its first step alone in some models."""
        if not self.is_body:
            self.declared.compare(node, name, made)

    def _refine(self, name: str, value: ir.Value) -> None:
        """Narrow dynamic dims of an op's result by what ONNX's inference knows.

        A size of 0 is no knowledge: ONNX's rule for Attention gives it for a dynamic hidden size.
        """
        known, have = self.known_types.get(name), tensor_type(value.type)
        if known is None or have is None or have.is_static or isinstance(value.owner, ir.Block):
            return
        if value.owner.operation.name.startswith("dl.") and compatible(have, known):
            shape = [mine if mine is not None else other or None for mine, other in zip(have.shape, known.shape, strict=True)]
            narrowed = have.with_shape(shape)
            require_addressable("t2", narrowed)
            value.set_type(mlir_type(narrowed))

    # Bodies of branches and loops

    def _import_body(self, node: onnx.NodeProto, graph: onnx.GraphProto, inputs: Sequence[Imported]) -> list[Imported]:
        """What a graph within `node` gives, built at the insertion point; it sees the values of the graphs around it."""
        inner = replace(self, values=self.values.new_child(), arrays=self.arrays.new_child(), known_types={}, is_body=True)
        failed = len(self.unsupported)
        inner._read_initializers(graph)
        for entry, given in zip(graph.input, inputs, strict=True):
            self.declared.compare_taken(node, entry, self._type_of(given))
            (inner.arrays if isinstance(given, np.ndarray) else inner.values)[entry.name] = given
        for index, inside in enumerate(graph.node):
            inner._import_node(inside, index)
        if len(self.unsupported) > failed or not self.unknown.isdisjoint(entry.name for entry in graph.output):
            raise _BodyFailed
        return [
            inner.arrays[entry.name] if inner._is_known(entry.name) else inner._materialize(entry.name) for entry in graph.output
        ]

    # Constants

    def _is_known(self, name: str) -> bool:
        """Whether the array behind a name is known; a body's own values hide those around it."""
        return self._known(name) is not None

    def _known(self, name: str) -> np.ndarray | None:
        for values, arrays in zip(self.values.maps, self.arrays.maps, strict=True):
            if name in arrays:
                return arrays[name]
            if name in values:
                return None
        return None

    def _materialize(self, name: str) -> ir.Value:
        """MLIR value of a name; constants are created once, at the top of the function."""
        for values, arrays in zip(self.values.maps, self.arrays.maps, strict=True):
            if name in values:
                return values[name]
            if name in arrays:
                values[name] = self.pool.constant(arrays[name], name)
                return values[name]
        raise UnsupportedFeature(f"uses '{name}', which nothing defines before it")

    # Reporting

    def _report(self, name: str, op: str, reason: str) -> None:
        self.unsupported.append(UnsupportedNode(name, op, reason))

    def _stop_if_unsupported(self) -> None:
        if not self.unsupported:
            return
        if not all(node.values or node.shapes for node in self.unsupported):
            raise UnsupportedError(self.unsupported, self.name)
        self.declared.problems.settle()
        raise ValuesNeededError(self.unsupported, self.name)
