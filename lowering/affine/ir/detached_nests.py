"""A loop nest in a function and module of its own, for passes on functions."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.affine.ir.loops import real_ops
from dlc.lowering.outlining import captures_of, noalias_marks, private_function


@dataclass(frozen=True)
class DetachedNest:
    """A copy of the nest `loop` as the only function of `module`; `captured` are the values that it gets as arguments."""

    loop: ir.Operation
    module: ir.Module
    captured: tuple[ir.Value, ...]

    @staticmethod
    def of(function: ir.Operation, loop: ir.Operation) -> DetachedNest:
        """A copy of the top-level loop `loop` of `function`."""
        with loop.location:
            captured, constants = captures_of([loop])
            marks = noalias_marks(function, [loop], captured)
            copy = loop.clone(ip=ir.InsertionPoint(loop)).operation
            module = ir.Module.create()
            body = private_function("nest", [copy], captured, constants)
            body.attributes["arg_attrs"] = ir.ArrayAttr.get(marks)
            module.body.append(body)
        around = function.parent.operation
        for name, attribute in around.attributes.items():
            if name.startswith(("dlc.", "dl.")):
                module.operation.attributes[name] = attribute
        return DetachedNest(loop, module, tuple(captured))

    @property
    def function(self) -> ir.Operation:
        """The function that holds the copy."""
        return self.module.body.operations[0].operation

    def put_back(self) -> None:
        """Put what the function holds by now in place of the nest."""
        block = self.function.regions[0].blocks[0]
        for argument, value in zip(block.arguments, self.captured, strict=True):
            argument.replace_all_uses_with(value)
        for op in real_ops(block):
            op.move_before(self.loop)
        self.loop.erase()
