"""The base class of the ops of the dl dialect.

An op is one class: operands and results as annotations, attributes as fields (`attributes.py`), a pure shape rule `infer`
shared by builder and verifier, a reference implementation `reference`, and a docstring that is the specification, with one line
`c1: ...` for each labelled constraint that `infer` checks.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Optional, cast

import numpy as np

from dlc._mlir import ext, ir
from dlc.dialects.dl.attributes import Attr, AttributeMismatch
from dlc.dialects.dl.op_builder import OpBuilder
from dlc.dialects.dl.operand_types import InferredTypes, OperandValue, is_tensor, plain_type, types_of
from dlc.dialects.dl.types import ALL_DTYPES, ConstraintError, TensorType, compatible, require_addressable, tensor_type

# No `from __future__ import annotations` here and in the op files: the bindings read the annotations as objects.

Operand = ext.Operand
Result = ext.Result
Tensor = ir.RankedTensorType
Pure = ext.Pure

OPS: dict[str, type["DLOp"]] = {}
"""Every op class by its name without the `dl.` prefix, in order of definition."""

FUSION_CLASSES = {
    "injective": "an element of the result depends on single elements of the operands, at places that index arithmetic gives",
    "broadcast": "injective, with elements of an operand repeated",
    "reduction": "an element of the result depends on a row or window of an operand",
    "contraction": "sums of products of two operands",
    "opaque": "anything else: is always a kernel of its own",
    "view": "the elements of an operand in another shape, or its sizes: no work at run time",
    "weight": "an array that is known before the first call",
}
"""What `fusion_class` of an op class may be."""


class DLOp(OpBuilder):
    """Base of every dl op; see the module docstring."""

    # The bindings read every annotation as a field of the op, so class variables go without.
    accepts = cast("Sequence[str] | Mapping[str, Sequence[str]]", ALL_DTYPES)
    """Element types of all operands, or by operand name (operands that are not named accept all)."""

    fusion_class = "opaque"
    """How the op depends on its operands, which decides what it may share a kernel with: a key of `FUSION_CLASSES`."""
    is_elementwise = False
    """Whether each element of the result depends on the element at its own place in each operand, after broadcasting."""

    result_fields = cast("tuple[ext.ResultDef, ...]", ())
    _known = cast("frozenset[str]", frozenset())
    _fixed = 0
    _single = True

    def __init_subclass__(cls, *, name: Optional[str] = None, traits: Optional[list[type]] = None, **kwargs: Any) -> None:
        if "__annotations__" not in cls.__dict__:
            cls.__annotations__ = {}
        super().__init_subclass__(name=name, traits=[Pure] if traits is None and name else traits, **kwargs)
        if name is None:
            return
        cls.operand_fields = tuple(field for field in cls._fields if isinstance(field, ext.OperandDef))
        cls.result_fields = tuple(field for field in cls._fields if isinstance(field, ext.ResultDef))
        members = {key: value for each in reversed(cls.__mro__) for key, value in vars(each).items()}
        cls.attribute_fields = {key: value for key, value in sorted(members.items()) if isinstance(value, Attr)}
        cls._known = frozenset((*cls.attribute_fields, "operandSegmentSizes", "resultSegmentSizes"))
        variable = [field for field in cls.operand_fields if field.variadicity != ext.Variadicity.single]
        cls._variable = tuple(variable)
        cls._fixed = len(cls.operand_fields) - len(variable)
        cls._single = not variable
        cls._variadic_results = any(field.variadicity != ext.Variadicity.single for field in cls.result_fields)
        for index, field in enumerate(cls.operand_fields):
            setattr(cls, field.name, _operand_accessor(index))
        OPS[name] = cls

    @classmethod
    def _generate_init_method(cls, fields: list[Any]) -> None:
        """No constructor: the bindings' one is slow and wants optional operands last. Use `build`."""

    # Meaning: each op defines these two.

    @staticmethod
    def infer(*operands: Any, **attributes: Any) -> TensorType | InferredTypes:
        """Result type(s) from operand types and attribute values; raises `ConstraintError`.

        An optional operand that is absent is None, a variadic one is a tuple of types.
        """
        raise NotImplementedError

    @staticmethod
    def reference(*operands: Any, **attributes: Any) -> np.ndarray | tuple[np.ndarray, ...]:
        """Reference implementation: result array(s) from operand arrays and attribute values."""
        raise NotImplementedError

    # Reading an op.

    def operand_groups(self) -> tuple[OperandValue, ...]:
        """Operands by field: a Value, None for an absent optional one, a list for a variadic one."""
        values = list(self.operation.operands)
        if self._single:
            return tuple(values)
        groups: list[OperandValue] = []
        start = 0
        for field, size in zip(self.operand_fields, self._segment_sizes(len(values)), strict=True):
            group = values[start : start + size]
            start += size
            if field.variadicity == ext.Variadicity.variadic:
                groups.append(group)
            else:
                groups.append(group[0] if group else None)
        return tuple(groups)

    def attribute_values(self) -> dict[str, Any]:
        """Python values of all attributes, defaults filled in."""
        attributes = self.operation.attributes
        return {name: field.read(attributes) for name, field in self.attribute_fields.items()}

    def operand_types(self) -> tuple[Any, ...]:
        """Plain types by operand field, shaped as `operand_groups`."""
        return tuple(types_of(group) for group in self.operand_groups())

    def result_types(self) -> InferredTypes:
        """Plain types of the results."""
        return tuple(plain_type(result.type) for result in self.operation.results)

    @classmethod
    def _segment_sizes_for(cls, count: int) -> list[int]:
        """Sizes of the operand groups when only one of them is variadic or optional."""
        return [1 if field.variadicity == ext.Variadicity.single else count - cls._fixed for field in cls.operand_fields]

    def _segment_sizes(self, count: int) -> list[int]:
        """By the attribute where it is needed; an op with one variable group at most needs none."""
        written = self.operation.attributes.get("operandSegmentSizes") if len(self._variable) > 1 else None
        return list(written) if written is not None else self._segment_sizes_for(count)

    # Verifying.

    def verify_invariants(self) -> bool:
        """Verifier hook: attributes, element types, then `infer` compared with the declared result types.

        It runs before the generated IRDL verifier, which reports wrong operand and result counts.
        """
        try:
            message = self._violation()
        except (ConstraintError, AttributeMismatch) as error:
            message = str(error)
        except Exception as error:  # an exception must not leave through MLIR's C++ frames
            message = f"verifier raised {type(error).__name__}: {error}"
        if not message:
            return True
        self.operation.location.emit_error(f"'{self.operation.name}' op {message}")
        return False

    def _violation(self) -> str:
        """What is wrong with the op, or an empty string."""
        operation = self.operation
        if not self._arity_fits(len(operation.operands), len(operation.results)):
            return ""
        unknown = [key for key in operation.attributes if key not in self._known and "." not in key]
        if unknown:
            known = ", ".join(sorted(self.attribute_fields)) or "none"
            return f"has no attribute '{unknown[0]}' (attributes: {known})"
        if message := self._needless_segments(len(operation.operands)):
            return message
        operands = self.operand_types()
        if not all(map(is_tensor, operands)):
            return self._unknown_element()
        inferred = self.inferred_types(*operands, **self.attribute_values())
        return self._result_mismatch(inferred)

    def _unknown_element(self) -> str:
        """What is wrong with an operand that is a tensor, but of no element type of dl; IRDL reports what is no tensor."""
        for value in self.operation.operands:
            if isinstance(value.type, ir.RankedTensorType) and tensor_type(value.type) is None:
                return f"t1: an operand is {value.type}, whose element type must be one of {', '.join(ALL_DTYPES)}"
        return ""

    def _arity_fits(self, operands: int, results: int) -> bool:
        if self._single:
            fits = operands == self._fixed
        elif len(self._variable) == 1:
            most = self._fixed + 1 if self._variable[0].variadicity == ext.Variadicity.optional else operands
            fits = self._fixed <= operands <= most
        else:
            fits = self._segments_fit(operands)
        return fits and (results == len(self.result_fields) or self._variadic_results)

    def _segments_fit(self, operands: int) -> bool:
        written = self.operation.attributes.get("operandSegmentSizes")
        if not isinstance(written, ir.DenseI32ArrayAttr) or len(written) != len(self.operand_fields) or sum(written) != operands:
            return False
        return all(_takes(field.variadicity, size) for field, size in zip(self.operand_fields, written, strict=True))

    def _needless_segments(self, operands: int) -> str:
        """What is wrong with sizes of operand groups where the number of operands tells them; IRDL does not look at those."""
        written = self.operation.attributes.get("operandSegmentSizes")
        if written is None or len(self._variable) > 1:
            return ""
        sizes = ir.DenseI32ArrayAttr.get(self._segment_sizes_for(operands))
        return "" if written == sizes else f"operandSegmentSizes is {written} but must be {sizes}; leave it out"

    def _result_mismatch(self, inferred: InferredTypes) -> str:
        declared = [tensor_type(result.type) for result in self.operation.results]
        if len(declared) != len(inferred):
            return f"has {len(declared)} results but its operands and attributes give {len(inferred)}"
        for index, (want, have) in enumerate(zip(inferred, declared, strict=True)):
            if have is None:
                return f"{self._result_name(index)} is not a ranked tensor of a dl element type"
            if not compatible(want, have):
                return f"{self._result_name(index)} has type {have} but its operands and attributes give {want}"
        return ""

    def _result_name(self, index: int) -> str:
        return f"result {index}" if self._variadic_results else f"result '{self.result_fields[index].name}'"

    @classmethod
    def inferred_types(cls, *operands: Any, **attributes: Any) -> InferredTypes:
        """Result types by `infer` after the check of element types; remembered by argument values."""
        try:
            return cls._inferred_cached(operands, tuple(attributes.items()))
        except TypeError:  # an array attribute is not hashable
            return cls._inferred(operands, attributes)

    @classmethod
    def _inferred(cls, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> InferredTypes:
        cls._check_dtypes(operands)
        found = cls.infer(*operands, **attributes)
        results = found if isinstance(found, tuple) else (found,)
        for kind in results:
            require_addressable("t2", kind)
        return results

    @classmethod
    @lru_cache(maxsize=16384)
    def _inferred_cached(cls, operands: tuple[Any, ...], attributes: tuple[tuple[str, Any], ...]) -> InferredTypes:
        return cls._inferred(operands, dict(attributes))

    @classmethod
    def _check_dtypes(cls, operands: tuple[Any, ...]) -> None:
        for field, group in zip(cls.operand_fields, operands, strict=True):
            accepted = cls.accepted_dtypes(field.name)
            for tensor in group if isinstance(group, tuple) else (group,):
                if tensor is not None and tensor.dtype not in accepted:
                    shown = ", ".join(accepted)
                    raise ConstraintError("t1", f"operand '{field.name}' is {tensor.dtype} but must be one of {shown}")
                if tensor is not None:
                    require_addressable("t2", tensor)

    @classmethod
    def accepted_dtypes(cls, operand: str) -> Sequence[str]:
        """Element types that the named operand accepts."""
        if isinstance(cls.accepts, Mapping):
            return cls.accepts.get(operand, ALL_DTYPES)
        return cls.accepts


def _operand_accessor(index: int) -> property:
    return property(lambda op: op.operand_groups()[index])


def _takes(variadicity: ext.Variadicity, size: int) -> bool:
    """Whether a group of operands may have `size` of them."""
    if variadicity == ext.Variadicity.variadic:
        return size >= 0
    return size == 1 or (size == 0 and variadicity == ext.Variadicity.optional)
