"""Nests that go by the blocks of an image that they crop give what they gave, for any blocks and crop."""

from __future__ import annotations

from affine_interpreter import check_same
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sweeps import examples

_PIPELINE = "func.func(affine-block-crops,affine-fuse-nests)"


def _loops(variables: str, sizes: list[int], body: list[str]) -> list[str]:
    heads = [f"affine.for %{name} = 0 to {size} {{" for name, size in zip(variables, sizes, strict=True)]
    return [*heads, *body, *["} {dlc.parallel}"] * len(sizes)]


def _function(sizes: list[int], rows: int, columns: int, image: str = "%n") -> str:
    """Three times the first rows and columns of an image [n, blocks, p, q, tiles, l], with what the result held before.

    The result is that of image number `image`, of one image 0.
    """
    n, blocks, p, q, tiles, wide = sizes
    blocked = f"memref<{'x'.join(map(str, sizes))}xi64>"
    whole, result = f"memref<{n}x{blocks * p * q}x{tiles * wide}xi64>", f"memref<{n}x{rows}x{columns}xi64>"
    view = f"memref<{n}x{rows}x{columns}xi64, strided<[{blocks * p * q * tiles * wide}, {tiles * wide}, 1]>>"
    making = [
        f"%v = affine.load %x[%n, %b, %p, %q, %t, %l] : {blocked}",
        f"affine.store %v, %a[%n, %b, %p, %q, %t, %l] : {blocked}",
    ]
    reading = [
        f"%v = affine.load %crop[{image}, %i, %j] : {view}",
        f"%w = affine.load %y[%n, %i, %j] : {result}",
        "%s = arith.muli %v, %three : i64",
        "%u = arith.addi %s, %w : i64",
        f"affine.store %u, %y[%n, %i, %j] : {result}",
    ]
    return "\n".join(
        [
            f"func.func @f(%x: {blocked} {{llvm.noalias}}, %y: {result} {{llvm.noalias}}) attributes {{dl.kernel}} {{",
            "%three = arith.constant 3 : i64",
            f"%a = memref.alloc() : {blocked}",
            f"%image = memref.collapse_shape %a [[0], [1, 2, 3], [4, 5]] : {blocked} into {whole}",
            *_loops("nbpqtl", sizes, making),
            f"%crop = memref.subview %image[0, 0, 0] [{n}, {rows}, {columns}] [1, 1, 1] : {whole} to {view}",
            *_loops("nij", [n, rows, columns], reading),
            f"memref.dealloc %a : {blocked}",
            "return",
            "}",
        ]
    )


@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.integers(1, 3), min_size=6, max_size=6), st.data())
def test_results_are_the_same(sizes: list[int], data: st.DataObject) -> None:
    rows = data.draw(st.integers(1, sizes[1] * sizes[2] * sizes[3]))
    columns = data.draw(st.integers(1, sizes[4] * sizes[5]))
    check_same(_function(sizes, rows, columns), _PIPELINE)


def test_the_last_block_is_cut() -> None:
    """Seven rows of two blocks of four."""
    text = check_same(_function([2, 2, 2, 2, 3, 2], 7, 5), _PIPELINE)
    assert "0 to min" in text and "memref.alloca() : memref<4x6xi64>" in text


def test_a_single_image_has_no_variable() -> None:
    """Loops of one iteration are gone where networks come here: the image is number 0."""
    text = check_same(_function([1, 2, 2, 2, 3, 2], 7, 5, image="0"), _PIPELINE)
    assert "0 to min" in text and "memref.alloc() : memref<1x2x4x6xi64>" in text
