"""Vectors, and what warps do together, as Python text, for `gpu_interpreter.py`; the methods are called by the names of ops."""

from __future__ import annotations

from gpu_warpgroup_text import WarpgroupText
from gpu_warps import WARP

from dlc._mlir import ir


class WarpText(WarpgroupText):
    """Writes vectors, asynchronous copies, products of matrices and shuffles."""

    def _on_vector__extract(self, op: ir.Operation) -> None:
        place = tuple(ir.DenseI64ArrayAttr(op.attributes["static_position"]))
        self.set(op, f"{self.name(op.operands[0])}[{place!r}]")

    def _on_vector__extract_strided_slice(self, op: ir.Operation) -> None:
        start, size = (ir.IntegerAttr(ir.ArrayAttr(op.attributes[name])[0]).value for name in ("offsets", "sizes"))
        self.set(op, f"{self.name(op.operands[0])}[{start} : {start + size}]")

    def _on_vector__from_elements(self, op: ir.Operation) -> None:
        given = ", ".join(self.name(value) for value in op.operands)
        shape = tuple(ir.VectorType(op.results[0].type).shape)
        self.set(op, f"np.array([{given}]).reshape({shape!r})")

    def _on_vector__broadcast(self, op: ir.Operation) -> None:
        kind = ir.VectorType(op.results[0].type)
        self.set(op, f"np.full({tuple(kind.shape)!r}, {self.name(op.operands[0])})")

    def _on_vector__load(self, op: ir.Operation) -> None:
        memref, *place = (self.name(value) for value in op.operands)
        (count,) = ir.VectorType(op.results[0].type).shape
        self.set(op, f"_row_of({memref}, ({', '.join(place)},), {count}).copy()")

    def _on_vector__store(self, op: ir.Operation) -> None:
        value, memref, *place = (self.name(value) for value in op.operands)
        (count,) = ir.VectorType(op.operands[0].type).shape
        self.say(self.depth, f"_row_of({memref}, ({', '.join(place)},), {count})[...] = {value}")

    def _on_nvgpu__device_async_copy(self, op: ir.Operation) -> None:
        sizes = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
        given = [self.name(value) for value in op.operands]
        place, source, at, used = (given[sum(sizes[:part]) : sum(sizes[: part + 1])] for part in range(1, 5))
        count = ir.IntegerAttr(op.attributes["dstElements"]).value
        ends = f"{given[0]}, ({', '.join(place)},), {source[0]}, ({', '.join(at)},)"
        self.say(self.depth, f"copies.start({ends}, {count}, {used[0] if used else count})")

    def _on_nvvm__cp__async__commit__group(self, op: ir.Operation) -> None:
        self.say(self.depth, "copies.close()")

    def _on_nvvm__cp__async__wait__group(self, op: ir.Operation) -> None:
        self.say(self.depth, f"copies.wait({ir.IntegerAttr(op.attributes['n']).value})")

    def _on_nvgpu__ldmatrix(self, op: ir.Operation) -> None:
        memref, *place = (self.name(value) for value in op.operands)
        transpose = ir.BoolAttr(op.attributes["transpose"]).value
        self.set(op, f"yield ('ldmatrix', _matrix_row({memref}, ({', '.join(place)},)), {transpose})")

    def _on_nvgpu__mma__sync(self, op: ir.Operation) -> None:
        self.set(op, f"yield ('mma', {', '.join(self.name(value) for value in op.operands)})")

    def _on_nvvm__bar__warp__sync(self, op: ir.Operation) -> None:
        self.say(self.depth, f"yield ('sync', {self.name(op.operands[0])})")

    def _on_gpu__shuffle(self, op: ir.Operation) -> None:
        mode = str(op.attributes["mode"]).rsplit(" ", 1)[1].rstrip(">")
        given = [self.name(value) for value in op.operands]
        # in parts of a warp, convert-gpu-to-nvvm names the lanes of the first part alone as those that take part
        self.say(self.depth, f"assert {given[2]} == {WARP}, 'a gpu.shuffle in parts of a warp'")
        results = ", ".join(self.name(result) for result in op.results)
        self.say(self.depth, f"{results} = yield ('shuffle {mode}', {', '.join(given)})")
