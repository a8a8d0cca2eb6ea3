"""Builds ops from values and attributes by name; the checks and the result types are those of the op's class (`base.py`)."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from dlc._mlir import ext, ir
from dlc.dialects.dl.attributes import REQUIRED, Attr
from dlc.dialects.dl.dialect import DL
from dlc.dialects.dl.operand_types import InferredTypes, OperandValue, types_of
from dlc.dialects.dl.types import ConstraintError, compatible, mlir_type
from dlc.errors import VerifyError


class OpBuilder(DL.Operation):  # type: ignore[name-defined]  # made by the bindings
    """What makes an op of a class; the class says its fields, and what `inferred_types` of operands and attributes are."""

    # The bindings read every annotation as a field of the op, so class variables go without.
    operand_fields = cast("tuple[ext.OperandDef, ...]", ())
    attribute_fields = cast("dict[str, Attr]", {})
    _variable = cast("tuple[ext.OperandDef, ...]", ())
    """The operands that are optional or variadic."""
    _variadic_results = False

    @classmethod
    def inferred_types(cls, *operands: Any, **attributes: Any) -> InferredTypes:
        """Result types from operand types and attribute values; raises `ConstraintError`."""
        raise NotImplementedError

    @classmethod
    def build(cls, *operands: OperandValue, loc: Any = None, ip: Any = None, **keywords: Any) -> Any:
        """Create the op at the insertion point and return its result (a tuple of results when it has several).

        Operands go by position or name, attributes by name with Python values; result types are inferred. `ConstraintError`
        or `AttributeMismatch` says what does not fit.
        """
        return _unwrap(cls, cls.create(*operands, loc=loc, ip=ip, **keywords))

    @classmethod
    def create(
        cls, *operands: OperandValue, result_types: Any = None, loc: Any = None, ip: Any = None, **keywords: Any
    ) -> ir.Operation:
        """Like `build`, but returns the operation; `result_types` (plain types) may refine what `infer` gives."""
        groups = cls._bind_operands(operands, keywords)
        values = cls.bind_attributes(keywords)
        inferred = cls.inferred_types(*(types_of(group) for group in groups), **values)
        for want, have in zip(inferred, result_types or (), strict=bool(result_types)):
            if not compatible(want, have):
                raise ConstraintError("result", f"type {have} does not fit the inferred {want}")
        operands_in_order = [value for group in groups for value in _flat(group)]
        cls._check_contexts(operands_in_order)
        return ir.Operation.create(
            f"dl.{cls._op_name}",
            results=[mlir_type(result) for result in result_types or inferred],
            operands=operands_in_order,
            attributes=cls._mlir_attributes(values, groups),
            loc=loc,
            ip=ip,
        )

    @classmethod
    def _check_contexts(cls, operands: Sequence[ir.Value]) -> None:
        """Refuse values of another context, which would corrupt memory."""
        context = ir.Context.current
        if any(value.context != context for value in operands):
            remedy = "build each graph from its own values"
            raise VerifyError(f"dl.{cls._op_name}: error: an operand belongs to another context; {remedy}")

    @classmethod
    def _bind_operands(cls, operands: tuple[OperandValue, ...], keywords: dict[str, Any]) -> list[OperandValue]:
        names = [field.name for field in cls.operand_fields]
        if len(operands) > len(names):
            raise TypeError(f"dl.{cls._op_name} takes {len(names)} operands ({', '.join(names)}) but got {len(operands)}")
        groups = list(operands) + [keywords.pop(name, None) for name in names[len(operands) :]]
        for field, group in zip(cls.operand_fields, groups, strict=True):
            if group is None and field.variadicity == ext.Variadicity.single:
                raise TypeError(f"dl.{cls._op_name} needs operand '{field.name}'")
        return [cls._as_value(field.name, group) for field, group in zip(cls.operand_fields, groups, strict=True)]

    @classmethod
    def _as_value(cls, name: str, group: Any) -> OperandValue:
        """A value, a list of them or None, from those or from ops with one result."""
        if group is None or isinstance(group, ir.Value):
            return group
        if isinstance(group, (list, tuple)):
            return [cls._as_value(name, item) for item in group]
        if isinstance(group, (ir.OpView, ir.Operation)):
            return group.result
        kind = type(group).__name__
        raise TypeError(f"operand '{name}' of dl.{cls._op_name} is a {kind}, not an MLIR value; dl.constant makes one of an array")

    @classmethod
    def bind_attributes(cls, keywords: Mapping[str, Any]) -> dict[str, Any]:
        """Checked attribute values by name with defaults filled in; TypeError names an unknown or missing one."""
        unknown = [key for key in keywords if key not in cls.attribute_fields]
        if unknown:
            known = ", ".join(cls.attribute_fields) or "none"
            raise TypeError(f"dl.{cls._op_name} has no attribute '{unknown[0]}' (attributes: {known})")
        values = {}
        for name, field in cls.attribute_fields.items():
            value = keywords.get(name, field.default)
            if value is REQUIRED:
                raise TypeError(f"dl.{cls._op_name} needs attribute '{name}' ({field.kind})")
            values[name] = value if value is field.default else field.checked(value)
        return values

    @classmethod
    def _mlir_attributes(cls, values: Mapping[str, Any], groups: Sequence[OperandValue]) -> dict[str, ir.Attribute]:
        attributes = {
            name: cls.attribute_fields[name].to_mlir(value)
            for name, value in values.items()
            if value is not None and not _is_default(value, cls.attribute_fields[name].default)
        }
        if len(cls._variable) > 1:
            attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([len(_flat(group)) for group in groups])
        return attributes


def _flat(group: OperandValue) -> list[ir.Value]:
    if group is None:
        return []
    return list(group) if isinstance(group, list) else [group]


def _is_default(value: Any, default: Any) -> bool:
    return default is not REQUIRED and type(value) is type(default) and bool(value == default)


def _unwrap(cls: type[OpBuilder], operation: ir.Operation) -> Any:
    results = tuple(operation.results)
    return results[0] if len(results) == 1 and not cls._variadic_results else results
