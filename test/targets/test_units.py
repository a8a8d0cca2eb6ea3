"""A module is cut into units that say all that their code depends on, and nothing else."""

from __future__ import annotations

import pytest

from dlc._mlir import ir
from dlc.targets.units import Units, split_units

HEAD = """
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) {
  call @k0(%x, %y) : (memref<4xf32>, memref<4xf32>) -> ()
  call @k1(%y, %x) : (memref<4xf32>, memref<4xf32>) -> ()
  return
}"""
BODY = """
func.func private @{name}(%x: memref<4xf32>, %y: memref<4xf32>) {{
  %v = arith.constant {value} : f32
  affine.for %i = 0 to 4 {{
    affine.store %v, %y[%i] : memref<4xf32>
  }}
  return
}}"""


def split(text: str, settings: str = "") -> Units:
    with ir.Context(), ir.Location.unknown():
        units = split_units(ir.Module.parse(text), "_mlir_ciface_main", settings)
        for unit in (units.entry, *units.kernels):
            assert unit.module.operation.verify()
        return units


def texts(units: Units) -> list[str]:
    return [str(unit.module) for unit in (units.entry, *units.kernels)]


def test_equal_kernels_are_one_unit() -> None:
    units = split(HEAD + BODY.format(name="k0", value="1.0") + BODY.format(name="k1", value="1.0"))
    (kernel,) = units.kernels
    assert kernel.label == "k0"
    assert str(units.entry.module).count(f"call @{kernel.symbol}(") == 2
    assert str(units.entry.module).count("func.func private") == 1
    assert "@k0" not in "".join(texts(units))


def test_keys_of_kernels_do_not_depend_on_names_and_locations() -> None:
    first = split(HEAD + BODY.format(name="k0", value="1.0") + BODY.format(name="k1", value="2.0"))
    moved = split("\n\n" + (HEAD + BODY.format(name="k1", value="2.0") + BODY.format(name="k0", value="1.0")))
    assert [unit.key for unit in first.kernels] == [unit.key for unit in moved.kernels]
    assert first.entry.key != moved.entry.key  # its errors name places
    renamed = split((HEAD + BODY.format(name="k0", value="1.0") + BODY.format(name="k1", value="2.0")).replace("@k", "@other"))
    assert [unit.key for unit in first.kernels] == [unit.key for unit in renamed.kernels]


def test_keys_depend_on_contents_and_settings() -> None:
    text = HEAD + BODY.format(name="k0", value="1.0") + BODY.format(name="k1", value="2.0")
    first, other = split(text), split(text, settings="-O3")
    keys = {unit.key for units in (first, other) for unit in (units.entry, *units.kernels)}
    assert len(keys) == 6


def test_resources_count_with_their_contents() -> None:
    text = """
func.func @main() {{
  call @k() : () -> ()
  return
}}
func.func private @k() {{
  %c = arith.constant dense_resource<w> : tensor<2xf32>
  return
}}
{{-# dialect_resources: {{ builtin: {{ w: "0x04000000{hexes}" }} }} #-}}"""
    keys = {split(text.format(hexes=hexes)).kernels[0].key for hexes in ("0000803F00000040", "0000803F00004040")}
    assert len(keys) == 2


def test_what_a_kernel_refers_to_comes_along() -> None:
    text = """
memref.global "private" constant @table : memref<2xf32> = dense<[1.0, 2.0]>
func.func @main(%y: memref<f32>) {
  call @k(%y) : (memref<f32>) -> ()
  call @helper() : () -> ()
  return
}
func.func private @k(%y: memref<f32>) {
  call @helper() : () -> ()
  return
}
func.func private @helper() {
  %t = memref.get_global @table : memref<2xf32>
  return
}
func.func private @unused() {
  return
}"""
    units = split(text)
    entry, kernel, helper = texts(units)
    assert [unit.label for unit in units.kernels] == ["k", "helper"]
    assert "@table" not in entry
    assert "@unused" not in entry
    assert "func.func private @helper" in kernel
    assert "memref.global" in kernel
    assert "memref.global" in helper


@pytest.mark.parametrize(
    "text",
    [
        # a variable that both would have
        """memref.global "private" @state : memref<f32> = dense<0.0>
        func.func @main() { call @k() : () -> () return }
        func.func private @k() { %s = memref.get_global @state : memref<f32> return }""",
        # a function that calls itself
        """func.func @main() { call @k() : () -> () return }
        func.func private @k() { call @k() : () -> () return }""",
        # a function without a body
        """func.func @main() { call @k() : () -> () return }
        func.func private @k()""",
        # a public function
        """func.func @main() { call @k() : () -> () return }
        func.func @k() { return }""",
    ],
)
def test_what_cannot_stand_alone_stays(text: str) -> None:
    units = split(text)
    assert not units.kernels
    assert "func.func" in str(units.entry.module)
    assert "call @k()" in str(units.entry.module)


def test_addresses_of_kernels_stay_valid() -> None:
    units = split("""
func.func @main() -> (() -> ()) {
  call @k() : () -> ()
  %f = func.constant @k : () -> ()
  return %f : () -> ()
}
func.func private @k() {
  return
}""")
    assert len(units.kernels) == 1
    assert "func.func private @k()" in str(units.entry.module)
