"""Imports an ONNX model into a module of dl ops, with its weights in a table beside it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import onnx

from dlc._mlir import ir
from dlc.diagnostics import from_mlir
from dlc.dialects import dl
from dlc.dialects.dl.attributes import AttributeMismatch
from dlc.dialects.dl.graph import Graph
from dlc.dialects.dl.storage import STORAGE
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
from dlc.frontends.onnx.declared import DeclaredTypes, declared_type, declared_types, without_shapes
from dlc.frontends.onnx.folding import can_fold, fold_node
from dlc.frontends.onnx.importers import Imported, importers
from dlc.frontends.onnx.kinds import check_kinds
from dlc.frontends.onnx.loader import load_model, opset_of, prepare_model
from dlc.frontends.onnx.node import NodeContext, UnknownValue, UnsupportedFeature, attribute_kinds, key_of, label_of, op_of
from dlc.frontends.onnx.origins import origin_of
from dlc.frontends.onnx.validation.problems import Problems
from dlc.frontends.onnx.values import InputValues

INLINE_ELEMENTS = 16
"""Constants of at most so many elements stand in the IR; larger ones, and those only stored, go to the parameter table."""

ShapeOverrides = Mapping[str, Sequence[int | str | None]]


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
    prepared = prepare_model(model, name, shapes, lenient, values)
    declared = declared_types(model.graph)
    declared = without_shapes(declared) if shapes or values else declared
    dl.load(context)
    del model  # its weights are in `prepared`; the rest can go
    importer = GraphImporter(prepared.proto, prepared.weights, name, context, DeclaredTypes(declared, Problems(name, lenient)))
    imported = importer.run()
    return replace(imported, values=prepared.values)


@dataclass
class GraphImporter:
    """Imports one graph; see `import_model`."""

    model: onnx.ModelProto
    weights: Mapping[str, onnx.TensorProto]
    name: str
    context: ir.Context
    declared: DeclaredTypes
    values: dict[str, ir.Value] = field(default_factory=dict)
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    params: dict[str, np.ndarray] = field(default_factory=dict)
    known_types: dict[str, TensorType] = field(default_factory=dict)
    input_types: dict[str, TensorType] = field(default_factory=dict)
    unsupported: list[UnsupportedNode] = field(default_factory=list)
    unknown: set[str] = field(default_factory=set)
    """Values that a node that failed would have made, and all that depends on them."""
    block: ir.Block | None = None
    last_constant: ir.Operation | None = None

    def run(self) -> ImportedModel:
        graph = self.model.graph
        self._read_initializers(graph)
        self._read_value_info(graph)
        inputs = [entry for entry in graph.input if entry.name not in self.arrays]
        self.input_types = {entry.name: self._input_type(entry) for entry in inputs}
        self._stop_if_unsupported()
        built = Graph(context=self.context)
        self.block = built.block
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
        return ImportedModel(built.module, self.params, self.name, {})

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
                self.arrays[tensor.name] = _native(array)
                continue
            self._report(tensor.name, "initializer", str(self._dtype_problem(array.dtype)))
        for sparse in graph.sparse_initializer:
            self._report(sparse.values.name, "initializer", "sparse tensors are not supported")

    def _read_value_info(self, graph: onnx.GraphProto) -> None:
        for entry in (*graph.value_info, *graph.output):
            kind = declared_type(entry)
            if kind is not None:
                self.known_types[entry.name] = kind

    def _input_type(self, entry: onnx.ValueInfoProto) -> TensorType:
        kind = declared_type(entry)
        if kind is not None:
            return kind
        which = entry.type.WhichOneof("value") or "no type"
        if which != "tensor_type":
            self._report(entry.name, "input", f"{which.replace('_type', '')} inputs are not supported")
        elif not entry.type.tensor_type.HasField("shape"):
            self._report(entry.name, "input", "its rank is unknown; give its shape with the option `shapes`")
        else:
            dtype = onnx.TensorProto.DataType.Name(entry.type.tensor_type.elem_type).lower()
            self._report(entry.name, "input", f"element type {dtype} is not supported")
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
        if key_of(node) not in importers():
            self._report(label, op_of(node), "the op is not supported")
        self.unknown.update(name for name in node.output if name)

    def _fold(self, node: onnx.NodeProto) -> list[np.ndarray] | None:
        if not can_fold(node) or any(name and name not in self.arrays for name in node.input):
            return None
        inputs = [self.arrays.get(name) for name in node.input]
        found = fold_node(node, inputs, self.model.opset_import)
        if found is None or any(self._dtype_problem(array.dtype) for array in found):
            return None
        return found

    def _build(self, node: onnx.NodeProto) -> Sequence[Imported]:
        domain, _ = key = key_of(node)
        function = importers().get(key)
        if function is None:
            raise UnsupportedFeature("the op is not supported")
        context = NodeContext(
            node=node,
            opset=opset_of(self.model, domain),
            constants=self.arrays.get,
            materialize=self._materialize,
            new_param=self._new_param,
        )
        check_kinds(context)
        found = function(context)
        return [found] if isinstance(found, (ir.Value, np.ndarray)) else list(found)

    def _bind(self, node: onnx.NodeProto, results: Sequence[Imported]) -> None:
        for name, result in zip(node.output, results, strict=False):
            if not name:
                continue
            if isinstance(result, np.ndarray):
                known = self._dtype_problem(result.dtype) is None
                self.declared.compare(node, name, type_of_array(result) if known else None)
                self.arrays[name] = result
                continue
            self.declared.compare(node, name, tensor_type(result.type))
            self._refine(name, result)
            self.values[name] = result
        missing = [name for name in node.output[len(results) :] if name]
        if missing:
            raise UnsupportedFeature(f"output '{missing[0]}' is not supported")

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

    # Constants

    def _materialize(self, name: str) -> ir.Value:
        """MLIR value of a name; constants are created once, at the top of the function."""
        if name not in self.values:
            self.values[name] = self._constant(self.arrays[name], name)
        return self.values[name]

    def _new_param(self, array: np.ndarray, name: str) -> ir.Value:
        """The value of a new weight; equal names with equal bytes share one key."""
        return self._constant(np.ascontiguousarray(array).reshape(array.shape), name)

    def _constant(self, array: np.ndarray, name: str) -> ir.Value:
        array = _native(array)
        assert self.block is not None
        point = ir.InsertionPoint.at_block_begin(self.block)
        if self.last_constant is not None:
            point = ir.InsertionPoint.after(self.last_constant)
        with point, ir.Location.name(name or "constant"):
            if array.size <= INLINE_ELEMENTS and dtype_of_numpy(array.dtype) not in STORAGE:
                value: ir.Value = dl.constant(value=array)
            else:
                key = self._param_key(array, name)
                value = dl.param(key=key, shape=array.shape, dtype=dtype_of_numpy(array.dtype))
        self.last_constant = value.owner.operation
        return value

    def _param_key(self, array: np.ndarray, name: str) -> str:
        key, count = name, 0
        while key in self.params and self.params[key] is not array:
            count += 1
            key = f"{name}.{count}"
        self.params[key] = array
        return key

    # Reporting

    def _report(self, name: str, op: str, reason: str) -> None:
        self.unsupported.append(UnsupportedNode(name, op, reason))

    def _stop_if_unsupported(self) -> None:
        if self.unsupported:
            if not all(node.values or node.shapes for node in self.unsupported):
                raise UnsupportedError(self.unsupported, self.name)
            self.declared.problems.settle()
            raise ValuesNeededError(self.unsupported, self.name)


def _native(array: np.ndarray) -> np.ndarray:
    """The array in this machine's byte order."""
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
