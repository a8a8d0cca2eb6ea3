"""How much memory calls take from a stack of blocks, by hand-written modules of the llvm dialect."""

from __future__ import annotations

import pytest

import dlc
from dlc._mlir import ir
from dlc.analysis.arena_size import BLOCK_ALIGNMENT, arena_size

HEAD = """
llvm.func @_mlir_memref_to_llvm_alloc(i64) -> !llvm.ptr
llvm.func @_mlir_memref_to_llvm_aligned_alloc(i64, i64) -> !llvm.ptr
llvm.func @_mlir_memref_to_llvm_free(!llvm.ptr)
llvm.func @dlc_parallel_for(!llvm.ptr, !llvm.ptr, i64)
llvm.func @dlc_num_threads() -> i32
llvm.func @work(%context: !llvm.ptr, %lo: i64, %hi: i64) {
  %size = llvm.mlir.constant(100 : i64) : i64
  %p = llvm.call @_mlir_memref_to_llvm_alloc(%size) : (i64) -> !llvm.ptr
  llvm.call @_mlir_memref_to_llvm_free(%p) : (!llvm.ptr) -> ()
  llvm.return
}
"""


def size_of(body: str, arguments: str = "") -> int:
    text = f"{HEAD}\nllvm.func @entry({arguments}) {{\n{body}\n  llvm.return\n}}"
    with dlc.make_context():
        return arena_size(ir.Module.parse(text), "entry")


def alloc(name: str, size: int) -> str:
    return f"""
  %size_{name} = llvm.mlir.constant({size} : i64) : i64
  %{name} = llvm.call @_mlir_memref_to_llvm_alloc(%size_{name}) : (i64) -> !llvm.ptr"""


def free(name: str) -> str:
    return f"\n  llvm.call @_mlir_memref_to_llvm_free(%{name}) : (!llvm.ptr) -> ()"


def block(size: int) -> int:
    """Bytes of a block with its record."""
    return BLOCK_ALIGNMENT + -(-max(size, 1) // BLOCK_ALIGNMENT) * BLOCK_ALIGNMENT


@pytest.mark.parametrize("size", [0, 1, 64, 65, 4096])
def test_a_block_has_a_record(size: int) -> None:
    assert size_of(alloc("a", size) + free("a")) == block(size)


def test_freed_blocks_are_used_again() -> None:
    assert size_of(alloc("a", 64) + free("a") + alloc("b", 128) + free("b")) == block(128)


def test_a_block_below_others_stays() -> None:
    body = alloc("a", 640) + alloc("b", 64) + free("a") + alloc("c", 64) + free("c") + free("b") + alloc("d", 64)
    assert size_of(body) == block(640) + 2 * block(64)


def test_callees_and_bodies_of_loops_are_on_top() -> None:
    body = f"""{alloc("a", 64)}
  %body = llvm.mlir.addressof @work : !llvm.ptr
  llvm.call @dlc_parallel_for(%body, %a, %size_a) : (!llvm.ptr, !llvm.ptr, i64) -> ()
  llvm.call @work(%a, %size_a, %size_a) : (!llvm.ptr, i64, i64) -> ()"""
    assert size_of(body) == block(64) + block(100)


def test_steps_of_a_loop_use_one_block() -> None:
    step = alloc("a", 256) + free("a")
    loop = f"llvm.br ^step\n^step:{step}\n  llvm.cond_br %again, ^step, ^end\n^end:"
    assert size_of(loop, "%again: i1") == block(256)


def test_bytes_of_arrays_are_computed() -> None:
    body = """
  %zero = llvm.mlir.zero : !llvm.ptr
  %end = llvm.getelementptr %zero[48] : (!llvm.ptr) -> !llvm.ptr, f32
  %bytes = llvm.ptrtoint %end : !llvm.ptr to i64
  %twice = llvm.add %bytes, %bytes : i64
  %alignment = llvm.mlir.constant(4096 : i64) : i64
  %a = llvm.call @_mlir_memref_to_llvm_aligned_alloc(%alignment, %twice) : (i64, i64) -> !llvm.ptr"""
    assert size_of(body) == 4096 + 384


def test_one_thread_has_a_block() -> None:
    body = """
  %threads = llvm.call @dlc_num_threads() : () -> i32
  %wide = llvm.sext %threads : i32 to i64
  %part = llvm.mlir.constant(192 : i64) : i64
  %bytes = llvm.mul %wide, %part : i64
  %a = llvm.call @_mlir_memref_to_llvm_alloc(%bytes) : (i64) -> !llvm.ptr"""
    assert size_of(body) == block(192)


@pytest.mark.parametrize(
    "body, message",
    [
        ("%a = llvm.call @_mlir_memref_to_llvm_alloc(%n) : (i64) -> !llvm.ptr", "allocates memory whose size calls decide"),
        (
            f"llvm.br ^step\n^step:{alloc('a', 64)}\n  llvm.cond_br %again, ^step, ^end\n^end:",
            "allocates memory on some ways through it only",
        ),
        ("llvm.call %f(%n) : !llvm.ptr, (i64) -> ()", "calls a function by its address"),
    ],
)
def test_what_calls_decide_is_refused(body: str, message: str) -> None:
    with pytest.raises(dlc.TargetError, match=f"'entry' {message}"):
        size_of(body, "%again: i1, %n: i64, %f: !llvm.ptr")
