"""Code for named CPUs: what this machine can run gives right results, what it cannot is refused or written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import floats, sampled_from
from numpy.typing import NDArray
from sweeps import examples

import dlc
from dlc.compile_record import compile_record
from dlc.lowering.older_text import older_text
from dlc.sources import read_source
from dlc.targets.cpu import foreign
from dlc.targets.cpu.emit import emit_assembly, emit_object
from dlc.targets.machine import host_facts, target_facts

MATMUL = """
func.func @main(%a: tensor<37x96xf32>, %b: tensor<96x51xf32>) -> tensor<37x51xf32> {
  %0 = "dl.matmul"(%a, %b) : (tensor<37x96xf32>, tensor<96x51xf32>) -> tensor<37x51xf32>
  %1 = "dl.gelu"(%0) : (tensor<37x51xf32>) -> tensor<37x51xf32>
  %2 = "dl.softmax"(%1) {axis = 1 : i64} : (tensor<37x51xf32>) -> tensor<37x51xf32>
  return %2 : tensor<37x51xf32>
}"""
CONV = """
func.func @main(%x: tensor<1x5x17x18xf32>, %w: tensor<24x5x3x3xf32>) -> tensor<1x24x9x9xf32> {
  %0 = "dl.conv"(%x, %w) {pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
      : (tensor<1x5x17x18xf32>, tensor<24x5x3x3xf32>) -> tensor<1x24x9x9xf32>
  %1 = "dl.tanh"(%0) : (tensor<1x24x9x9xf32>) -> tensor<1x24x9x9xf32>
  return %1 : tensor<1x24x9x9xf32>
}"""
HALVES = """
func.func @main(%a: tensor<9x33xf16>, %b: tensor<33x20xf16>) -> tensor<9x20xf16> {
  %0 = "dl.matmul"(%a, %b) : (tensor<9x33xf16>, tensor<33x20xf16>) -> tensor<9x20xf16>
  %1 = "dl.exp"(%0) : (tensor<9x20xf16>) -> tensor<9x20xf16>
  return %1 : tensor<9x20xf16>
}"""
INTEGERS = """
func.func @main(%a: tensor<9x33xi8>, %b: tensor<33x20xi8>) -> tensor<9x20xi32> {
  %0 = "dl.cast"(%a) {to = i32} : (tensor<9x33xi8>) -> tensor<9x33xi32>
  %1 = "dl.cast"(%b) {to = i32} : (tensor<33x20xi8>) -> tensor<33x20xi32>
  %2 = "dl.matmul"(%0, %1) : (tensor<9x33xi32>, tensor<33x20xi32>) -> tensor<9x20xi32>
  return %2 : tensor<9x20xi32>
}"""
MODELS = {"matmul": MATMUL, "conv": CONV, "halves": HALVES, "integers": INTEGERS}
SAME_ARCHITECTURE = ["generic", "x86-64-v2", "ivybridge", "haswell", "skylake-avx512", "cascadelake", "znver4"]


def arrays(model: dlc.CompiledModel) -> list[NDArray[np.generic]]:
    """Small random arguments."""
    generator = np.random.default_rng(0)
    found = []
    for spec in model.inputs:
        values = generator.integers(-3, 4, spec.shape) if spec.dtype.startswith("i") else generator.normal(0, 0.3, spec.shape)
        found.append(np.asarray(values).astype(spec.numpy_dtype))
    return found


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize("target", SAME_ARCHITECTURE)
@pytest.mark.parametrize("name", MODELS)
def test_runs_here(name: str, target: str) -> None:
    if target_facts(target).missing_in(host_facts()):
        pytest.skip(f"this machine cannot run code for {target}")
    model = dlc.compile(MODELS[name], target=f"cpu:{target}")
    native = dlc.compile(MODELS[name])
    given = arrays(native)
    np.testing.assert_allclose(
        model(*given)[0].astype(np.float64),
        native(*given)[0].astype(np.float64),
        rtol=2e-3 if name == "halves" else 2e-5,
        atol=1e-6,
    )


_EVERY_HALF = """
import numpy as np
import dlc
halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
floats = np.random.default_rng(0).integers(0, 1 << 32, 1 << 16, np.uint32).view(np.float32)
ties = (halves[:0x7BFF].astype(np.float32) + halves[1:0x7C00].astype(np.float32)) / 2
floats[: ties.size] = ties
call = "\\"dl.cast\\"(%a) {{to = {1}}} : (tensor<65536x{0}>) -> tensor<65536x{1}>"
model = "func.func @main(%a: tensor<65536x{0}>) -> tensor<65536x{1}> {{ %0 = " + call + " return %0 : tensor<65536x{1}> }}"
for given, kinds in ((halves, ("f16", "f32")), (floats, ("f32", "f16"))):
    want = given.astype(np.float32 if kinds[1] == "f32" else np.float16)
    np.testing.assert_array_equal(dlc.compile(model.format(*kinds), target="cpu:generic", cache=False)(given)[0], want)
print("done")
"""


@pytest.mark.skipif(host_facts().arch != "x86_64", reason="others convert halves by instructions")
def test_halves_take_nothing_from_other_libraries() -> None:
    """libgcc, which onnxruntime loads for the whole process, has the functions that LLVM calls, from version 12 on."""
    command = [sys.executable, "-W", "ignore", "-c", _EVERY_HALF]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "done\n", done.stderr


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("op", ["round", "floor", "ceil", "trunc"])
def test_engines_round_without_instructions(op: str, dtype: str, tmp_path: Path) -> None:
    """The oldest processors of each architecture call functions, which the runtime library provides to engines."""
    kind = f"tensor<81x{dtype}>"
    text = f'func.func @main(%a: {kind}) -> {kind} {{ %0 = "dl.{op}"(%a) : ({kind}) -> {kind} return %0 : {kind} }}'
    dlc.compile(text, target="cpu:generic", cache=False).save(tmp_path / "model.dlce")
    values = np.linspace(-10, 10, 81).astype(np.float32 if dtype == "f32" else np.float64)
    want = {"round": np.rint, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc}[op](values)
    np.testing.assert_array_equal(dlc.load(tmp_path / "model.dlce")(values)[0], want)


def test_exponential_without_multiply_add() -> None:
    """An fma in two roundings would be wrong by tens of ulp for large arguments."""
    if host_facts().arch != "x86_64":
        pytest.skip("code of x86-64")
    text = 'func.func @f(%x: tensor<1000xf32>) -> tensor<1000xf32> {\n %0 = "dl.exp"(%x) : (tensor<1000xf32>) -> tensor<1000xf32>\n'
    model = dlc.compile(text + " return %0 : tensor<1000xf32>\n}", target="generic")
    x = np.linspace(-87, 88, 1000, dtype=np.float32)
    np.testing.assert_allclose(model(x)[0], np.exp(x.astype(np.float64)), rtol=4e-7)


def test_refuses_what_this_machine_cannot_run() -> None:
    other = "apple-m1" if host_facts().arch == "x86_64" else "haswell"
    with pytest.raises(
        dlc.TargetError, match=f"cannot run code for cpu:{other}: it lacks {target_facts(other).arch}; write it with"
    ):
        dlc.compile(MATMUL, target=f"cpu:{other}")
    lowered = dlc.lower(MATMUL, target=f"cpu:{other}")
    with pytest.raises(dlc.TargetError, match=f"cannot run code for '{other}', which the module names: it lacks"):
        dlc.compile(lowered)


def test_kernels_of_another_architecture_are_refused() -> None:
    """The compiler of kernels would end the process."""
    other = "neoverse-n1" if host_facts().arch == "x86_64" else "haswell"
    options = dlc.CompileOptions(target=f"cpu:{other}", cache=False)
    with pytest.raises(dlc.TargetError, match=f"kernels for {other} cannot be compiled apart on {host_facts().arch}.*--emit=obj"):
        compile_record(read_source(MATMUL), options)


def test_target_of_a_module_stays() -> None:
    module = dlc.lower(MATMUL, "affine", target="generic")
    assert 'target_cpu = "x86-64"' in str(dlc.lower(module))
    assert 'target_cpu = "haswell"' in str(dlc.lower(module, target="haswell"))
    assert "target_cpu" not in str(dlc.lower(module, target="cpu:native"))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("target", ["neoverse-n1", "apple-m1"])
def test_code_of_another_architecture(name: str, target: str) -> None:
    if host_facts().arch == "aarch64":
        pytest.skip("this machine's own architecture")
    module = dlc.lower(MODELS[name], target=target)
    with module.context:
        text, content = emit_assembly(module), emit_object(module)
    assert "_mlir_ciface_main" in text
    assert "v0." in text or "q0" in text
    assert content[:4] == (b"\x7fELF" if target == "neoverse-n1" else b"\xcf\xfa\xed\xfe")


def test_architecture_without_a_back_end() -> None:
    facts = target_facts("neoverse-n1").override(arch="vax")
    with pytest.raises(dlc.TargetError, match="makes no code for vax; emit llvmir"):
        foreign.foreign_assembly("", facts, 2)
    with pytest.raises(dlc.TargetError, match="cannot read the module"):
        foreign.foreign_assembly("nonsense", target_facts("neoverse-n1"), 2)


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("fadd float %x, f0x3F38AA3B", "fadd float %x, 0x3FE7154760000000"),
        ("fadd <2 x float> splat (float 3.930000e+00), %y", "fadd <2 x float> splat (float 0x400F70A3E0000000), %y"),
        ("fmul double %x, 1.000000e-01", "fmul double %x, 0x3FB999999999999A"),
        ("<half 9.997550e-02, half -0.0>", "<half 0xH2E66, half -0.0>"),
        ("bfloat 1.000000e+00", "bfloat 0xR3F80"),
        ("fadd float %x, +inf", "fadd float %x, 0x7FF0000000000000"),
        ("phi double [ -inf, %a ]", "phi double [ 0xFFF0000000000000, %a ]"),
        ("float +qnan", "float 0x7FF8000000000000"),
        ("float -nan(0x1)", "float 0xFFF8000020000000"),
        ("half +snan(0x1)", "half 0xH7C01"),
        ("fptrunc double 1.000000e+00 to float", "fptrunc double 0x3FF0000000000000 to float"),
        ("float 9.999940e-41", "float 0x37A16C2000000000"),
        ('attributes #0 = { nocreateundeforpoison "x"="1.000000e+00" }', 'attributes #0 = { "x"="1.000000e+00" }'),
    ],
)
def test_older_text(newer: str, older: str) -> None:
    assert older_text(newer) == older


@settings(max_examples=examples(200))
@given(floats(width=32), sampled_from(["float", "double"]))
def test_older_text_of_any_number(value: float, kind: str) -> None:
    """The bits are those of the number: a float is written as the equal double."""
    bits = older_text(f"{kind} {value:.17e}" if np.isfinite(value) else f"{kind} {value:+}".replace("+nan", "+qnan"))
    found = np.uint64(int(bits.removeprefix(f"{kind} "), 16)).view(np.float64)
    np.testing.assert_equal(float(found), value)


def test_target_is_part_of_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DLC_CACHE_DIR", str(tmp_path))
    for target in ("cpu", "cpu:generic"):
        assert not dlc.compile(MATMUL, target=target).build_report.whole
        assert dlc.compile(MATMUL, target=target).build_report.whole
