"""Ops of warpgroups and of TMA as Python text, for `gpu_interpreter.py`; the methods are called by the names of ops."""

from __future__ import annotations

import re

from gpu_op_text import ELEMENT_TYPES, OpText

from dlc._mlir import ir

_MULTIPLIED = {"f16": "float16", "bf16": "bfloat16", "tf32": "float32", "s8": "int8"}
"""Types of elements by the name of what `wgmma` multiplies."""


class WarpgroupText(OpText):
    """Writes `wgmma`, dynamic shared memory, barriers in memory and copies by tensor maps."""

    # Warpgroups.

    def _on_gpu__dynamic_shared_memory(self, op: ir.Operation) -> None:
        self.set(op, "dynamic.bytes")

    def _on_memref__extract_aligned_pointer_as_index(self, op: ir.Operation) -> None:
        self.set(op, f"dynamic.address({self.name(op.operands[0])})")

    def _on_llvm__mlir__poison(self, op: ir.Operation) -> None:
        fields = str(op.results[0].type).removeprefix("!llvm.struct<(").removesuffix(")>").split(", ")
        self.set(op, f"_new(({len(fields)},), {ELEMENT_TYPES[fields[0]]!r})")

    def _on_llvm__insertvalue(self, op: ir.Operation) -> None:
        (place,) = ir.DenseI64ArrayAttr(op.attributes["position"])
        self.set(op, f"{self.name(op.operands[0])}.copy()")
        self.say(self.depth, f"{self.name(op.results[0])}[{place}] = {self.name(op.operands[1])}")

    def _on_llvm__extractvalue(self, op: ir.Operation) -> None:
        (place,) = ir.DenseI64ArrayAttr(op.attributes["position"])
        self.set(op, f"{self.name(op.operands[0])}[{place}]")

    def _on_nvvm__fence__proxy(self, op: ir.Operation) -> None:
        self.say(self.depth, "dynamic.show()")

    def _on_nvvm__wgmma__fence__aligned(self, op: ir.Operation) -> None:
        self.say(self.depth, "products.fence()")

    def _on_nvvm__wgmma__commit__group__sync__aligned(self, op: ir.Operation) -> None:
        self.say(self.depth, "products.close()")

    def _on_nvvm__wgmma__wait__group__sync__aligned(self, op: ir.Operation) -> None:
        self.say(self.depth, f"products.wait({ir.IntegerAttr(op.attributes['group']).value})")

    def _on_nvvm__setmaxregister(self, op: ir.Operation) -> None:
        self.say(self.depth, f"assert {ir.IntegerAttr(op.attributes['regCount']).value} % 8 == 0")

    def _on_llvm__bitcast(self, op: ir.Operation) -> None:
        self.set(op, self.name(op.operands[0]))

    def _on_llvm__inline_asm(self, op: ir.Operation) -> None:
        """A wait that sums go through, and a product whose left operand is in registers."""
        text, given = ir.StringAttr(op.attributes["asm_string"]).value, [self.name(value) for value in op.operands]
        wait = re.fullmatch(r"wgmma\.wait_group\.sync\.aligned (\d+);", text)
        if wait:
            self.say(self.depth, f"products.wait({wait[1]})")
            self.set(op, self._struct_of(list(op.operands)))
            return
        found = re.match(r"wgmma\.mma_async\.sync\.aligned\.m64n(\d+)k(\d+)\.f32\.(\w+)\.\w+ .*, 1, 1, 1, ([01]);", text)
        assert found, text
        columns, depth, kind, transposed = found.groups()
        shape = f"_warpgroup_shape({columns}, {depth}, {_MULTIPLIED[kind]!r}, (True, {transposed == '0'}))"
        left, right = f"np.stack([{', '.join(given[:4])}])", given[4]
        sums = self._struct_of(list(op.operands)[5:])
        self.set(op, f"yield ('wgmma', products, dynamic, {shape}, thread[0] // 32 % 4, {left}, {right}, {sums})")

    def _struct_of(self, values: list[ir.Value]) -> str:
        """The struct whose fields are `values`: an array that products fill in later, or one of numbers that are known."""
        owner = values[0].owner
        if not isinstance(owner, ir.Block) and owner.name == "llvm.extractvalue":
            return self.name(owner.operands[0])
        return f"np.array([{', '.join(self.name(value) for value in values)}])"

    def _on_nvvm__wgmma__mma_async(self, op: ir.Operation) -> None:
        _, columns, depth = (int(size) for size in re.findall(r"= (\d+)", str(op.attributes["shape"])))
        kind = _MULTIPLIED[str(op.attributes["typeA"]).partition("<")[2].rstrip(">")]
        along = ("row" in str(op.attributes["layoutA"]), "col" in str(op.attributes["layoutB"]))
        shape = f"_warpgroup_shape({columns}, {depth}, {kind!r}, {along})"
        sums, left, right = (self.name(value) for value in op.operands)
        sums = f"np.zeros_like({sums})" if "zero" in str(op.attributes["scaleD"]) else sums
        self.set(op, f"yield ('wgmma', products, dynamic, {shape}, thread[0] // 32 % 4, {left}, {right}, {sums})")

    # TMA.

    def _on_nvgpu__tma__create__descriptor(self, op: ir.Operation) -> None:
        source, *box = (self.name(value) for value in op.operands)
        (swizzle,) = re.findall(r"swizzle_(\d+)b", str(op.results[0].type))
        self.set(op, f"_tensor_map({source}, ({', '.join(box)},), {swizzle})")

    def _on_llvm__inttoptr(self, op: ir.Operation) -> None:
        self.set(op, self.name(op.operands[0]))

    _on_builtin__unrealized_conversion_cast = _on_llvm__inttoptr

    def _on_nvvm__mbarrier__init(self, op: ir.Operation) -> None:
        self.say(self.depth, f"dynamic.tensors.begin({', '.join(self.name(value) for value in op.operands)})")

    def _on_nvvm__fence__mbarrier__init(self, op: ir.Operation) -> None:
        self.say(self.depth, "dynamic.tensors.show()")

    def _on_nvvm__mbarrier__arrive(self, op: ir.Operation) -> None:
        barrier, *expected = (self.name(value) for value in op.operands)
        self.say(self.depth, f"dynamic.tensors.barrier({barrier}).arrive({', '.join(expected)})")

    _on_nvvm__mbarrier__arrive__expect_tx = _on_nvvm__mbarrier__arrive

    def _on_nvvm__mbarrier__try_wait__parity(self, op: ir.Operation) -> None:
        barrier, parity = (self.name(value) for value in list(op.operands)[:2])
        self.say(self.depth, f"yield ('wait', dynamic, {barrier}, {parity})")

    def _on_nvvm__cp__async__bulk__tensor__shared__cluster__global(self, op: ir.Operation) -> None:
        target, source, *at, barrier = (self.name(value) for value in op.operands)
        self.say(self.depth, f"dynamic.tensors.start({source}, ({', '.join(at)},), {target}, {barrier}, copies.order)")
