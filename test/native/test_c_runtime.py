"""Models for programs without threads and without a heap: C sources and an object, built by a C compiler without a warning."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from native_models import (
    COMPILER,
    NM,
    STRICT,
    bert_tiny,
    byte_product,
    checked_run,
    example_model,
    needs_compiler,
    odd_models,
    residual_block,
    small_attention,
    small_lstm,
)

import dlc
from dlc.native.interface import CInterface, CTensor
from dlc.runtime.signature import Signature
from dlc.tools.commands.compile_command import command

pytestmark = needs_compiler
MOST_CODE = 64 * 1024
SIZE = shutil.which("size")
GCC, QEMU = shutil.which("aarch64-linux-gnu-gcc"), shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
HEAP = {"malloc", "calloc", "realloc", "free", "aligned_alloc", "posix_memalign", "mmap", "brk", "sbrk"}
_MAIN = """\
#include "net.h"
#include <stdio.h>

static _Alignas(NET_ARENA_ALIGNMENT) unsigned char arena[NET_ARENA_BYTES + 64];
{arrays}
static int move(FILE *file, void *data, size_t bytes, int is_read) {{
  size_t moved = is_read ? fread(data, 1, bytes, file) : fwrite(data, 1, bytes, file);
  return file && fclose(file) == 0 && moved == bytes;
}}

int main(void) {{
  net_context *context;
  net_inputs inputs = {{{inputs}}};
  net_outputs outputs = {{{outputs}}};
  for (int i = 0; i < 64; ++i) arena[NET_ARENA_BYTES + i] = 0x5a;
{reads}
  if (net_init(arena, NET_ARENA_BYTES, &context)) return fprintf(stderr, "%s\\n", net_message()), 1;
  for (int i = 0; i < 2; ++i)
    if (net_run(context, &inputs, &outputs)) return fprintf(stderr, "%s\\n", net_message()), 1;
  for (int i = 0; i < 64; ++i)
    if (arena[NET_ARENA_BYTES + i] != 0x5a) return fprintf(stderr, "wrote behind the arena\\n"), 1;
{writes}
  return 0;
}}
"""


def emitted(proto: onnx.ModelProto, folder: Path, *options: str) -> Path:
    """The folder of a model whose names begin with `net`."""
    onnx.save(proto, folder / "model.onnx")
    made = folder / "net"
    command.main(
        [str(folder / "model.onnx"), "--emit=c-runtime", "--name=net", "-o", str(made), *options],
        standalone_mode=False,
    )
    return made


def main_text(interface: CInterface) -> str:
    """A program that reads FIELD.in for each input, calls twice, and writes FIELD.out for each output."""
    tensors = (*interface.inputs, *interface.outputs)
    names = {tensor: f"{'in' if tensor in interface.inputs else 'out'}_{tensor.field}" for tensor in tensors}
    arrays = "".join(f"static {tensor.c_type} {name}[{max(tensor.elements, 1)}];\n" for tensor, name in names.items())
    reads = "\n".join(_moved(tensor, names[tensor], "in", "rb") for tensor in interface.inputs)
    writes = "\n".join(_moved(tensor, names[tensor], "out", "wb") for tensor in interface.outputs)
    inputs, outputs = (", ".join(names[tensor] for tensor in group) or "0" for group in (interface.inputs, interface.outputs))
    return _MAIN.format(arrays=arrays, inputs=inputs, outputs=outputs, reads=reads, writes=writes)


def _moved(tensor: CTensor, name: str, kind: str, mode: str) -> str:
    return f'  if (!move(fopen("{tensor.field}.{kind}", "{mode}"), {name}, sizeof {name}, {mode == "rb":d})) return 2;'


def built(folder: Path, main: str, compiler: str, *options: str) -> Path:
    (folder / "main.c").write_text(main, encoding="utf-8")
    sources = [folder / name for name in ("main.c", "net/net.c", "net/c_runtime.c", "net/net_model.o")]
    checked_run([compiler, *STRICT, "-O2", f"-I{folder / 'net'}", *sources, *options, "-lm", "-o", folder / "program"])
    return folder / "program"


def random_array(random: np.random.Generator, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    return (random.standard_normal(shape) if dtype.kind == "f" else random.integers(0, 2, shape)).astype(dtype)


def check_results(proto: onnx.ModelProto, folder: Path, compiler: str, runner: list[str], tolerance: float) -> None:
    """The program's results are Python's."""
    model = dlc.compile(proto)
    interface = CInterface.of("net", Signature("entry", model.inputs, model.outputs, ()))
    program = built(folder, main_text(interface), compiler)
    random = np.random.default_rng(5)
    inputs = [random_array(random, spec.numpy_dtype, tuple(map(int, spec.shape))) for spec in model.inputs]  # type: ignore[arg-type]
    for tensor, array in zip(interface.inputs, inputs, strict=True):
        array.tofile(folder / f"{tensor.field}.in")
    checked_run([*runner, program], cwd=folder)
    for tensor, expected in zip(interface.outputs, model(*inputs), strict=True):
        found = np.fromfile(folder / f"{tensor.field}.out", expected.dtype).reshape(expected.shape)
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    "make", [residual_block, small_lstm, byte_product, *(lambda name=name: odd_models()[name][0] for name in ("no_input", "twice"))]
)
def test_results_are_pythons(make: object, tmp_path: Path) -> None:
    proto = make()  # type: ignore[operator]
    emitted(proto, tmp_path)
    check_results(proto, tmp_path, str(COMPILER), [], 0)


@pytest.mark.slow
@pytest.mark.parametrize("make", [small_attention, bert_tiny])
def test_larger_results_are_pythons(make: object, tmp_path: Path) -> None:
    proto = make()  # type: ignore[operator]
    emitted(proto, tmp_path)
    check_results(proto, tmp_path, str(COMPILER), [], 0)


@pytest.mark.slow
@pytest.mark.skipif(not (GCC and QEMU), reason="needs aarch64-linux-gnu-gcc and qemu-aarch64")
@pytest.mark.parametrize("make", [residual_block, small_lstm, byte_product, bert_tiny])
@pytest.mark.parametrize("target", ["cpu:cortex-a72", "cpu:neoverse-n1"])
def test_results_under_qemu(make: object, target: str, tmp_path: Path) -> None:
    proto = make()  # type: ignore[operator]
    emitted(proto, tmp_path, "--target", target)
    libraries = Path(checked_run([GCC, "-print-file-name=libc.so.6"]).strip()).resolve().parents[1]
    check_results(proto, tmp_path, str(GCC), [str(QEMU), "-L", str(libraries)], 1e-5)


@pytest.fixture(scope="module")
def block(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("block")
    emitted(residual_block(), folder)
    return folder


@pytest.mark.skipif(not (NM and SIZE), reason="needs binutils")
def test_runtime_is_small_and_has_no_heap(block: Path, tmp_path: Path) -> None:
    made = block / "net"
    for source in ("net.c", "c_runtime.c"):
        checked_run([COMPILER, *STRICT, "-O2", f"-I{made}", "-c", made / source, "-o", tmp_path / f"{source}.o"])
    objects = [tmp_path / "net.c.o", tmp_path / "c_runtime.c.o"]
    rows = [line.split() for line in checked_run([SIZE, *objects]).splitlines()[1:]]
    assert sum(int(row[0]) + int(row[1]) for row in rows) <= MOST_CODE
    needed = {
        line.split()[-1]
        for line in checked_run([NM, "--undefined-only", *objects, made / "net_model.o"]).splitlines()
        if " U " in line
    }
    own = {
        line.split()[-1]
        for line in checked_run([NM, "--defined-only", *objects, made / "net_model.o"]).splitlines()
        if line.split()
    }
    asked = needed - own
    assert not asked & HEAP, sorted(asked)
    assert not any(name.startswith(("_Z", "__cxa", "pthread")) for name in asked), sorted(asked)


def test_faults_are_told(block: Path) -> None:
    main = """\
#include "net.h"
#include <stdio.h>
static _Alignas(64) unsigned char arena[NET_ARENA_BYTES];
static float x[NET_X_ELEMENTS], y[NET_Y_ELEMENTS];
static void show(net_status status) { printf("%d %s\\n", status, net_message()); }
int main(void) {
  net_context *context;
  net_inputs inputs = {NULL};
  net_outputs outputs = {y};
  show(net_init(arena, NET_ARENA_BYTES - 1, &context));
  show(net_init(arena + 1, NET_ARENA_BYTES, &context));
  show(net_init(NULL, NET_ARENA_BYTES, &context));
  if (net_init(arena, sizeof arena, &context)) return 1;
  show(net_run(context, &inputs, &outputs));
  inputs.x = x;
  outputs.y = x + 1;
  show(net_run(context, &inputs, &outputs));
  outputs.y = (float *)((char *)y + 1);
  show(net_run(context, &inputs, &outputs));
  outputs.y = y;
  return net_run(context, &inputs, &outputs);
}
"""
    lines = checked_run([built(block, main, str(COMPILER))]).splitlines()
    assert lines == [
        "2 model 'net': the arena has fewer bytes than the header asks for",
        "1 model 'net': the arena is null, or does not begin at a multiple of 64 bytes",
        "1 model 'net': the arena is null, or does not begin at a multiple of 64 bytes",
        "1 model 'net': null was given for x",
        "1 model 'net': memory of an input was given for y",
        "1 model 'net': memory is not aligned to its elements, of y",
    ]


def test_values_that_the_model_refuses_are_told(tmp_path: Path) -> None:
    indices = onnx.helper.make_tensor_value_info("index", onnx.TensorProto.INT64, [1])
    rows = onnx.helper.make_tensor_value_info("row", onnx.TensorProto.FLOAT, [1, 2])
    table = onnx.numpy_helper.from_array(np.arange(6, dtype=np.float32).reshape(3, 2), "table")
    graph = onnx.helper.make_graph([onnx.helper.make_node("Gather", ["table", "index"], ["row"])], "g", [indices], [rows], [table])
    emitted(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)], ir_version=10), tmp_path)
    main = """\
#include "net.h"
#include <stdio.h>
static _Alignas(64) unsigned char arena[NET_ARENA_BYTES];
int main(void) {
  net_context *context;
  int64_t index = 7;
  float row[2] = {0};
  net_inputs inputs = {&index};
  net_outputs outputs = {row};
  if (net_init(arena, sizeof arena, &context)) return 1;
  net_status status = net_run(context, &inputs, &outputs);
  printf("%d %s\\n", status, net_message());
  index = 2;
  status = net_run(context, &inputs, &outputs);
  printf("%d %g %g\\n", status, row[0], row[1]);
  return 0;
}
"""
    refused, accepted = checked_run([built(tmp_path, main, str(COMPILER))]).splitlines()
    assert refused.startswith("1 ") and refused.endswith("given is 7 but the last of axis 0 is 2"), refused
    assert accepted == "0 4 5"


def test_sizes_must_be_known(tmp_path: Path) -> None:
    with pytest.raises(
        dlc.TargetError, match=r"models of known sizes, and input 'x: f32\[rows, 4\]' has others; give them with --shape"
    ):
        emitted(example_model(), tmp_path)
    made = emitted(example_model(), tmp_path, "--shape", "x=3x4")
    assert "_ARENA_BYTES" in (made / "net.h").read_text(encoding="utf-8")


def test_folder_is_no_file(tmp_path: Path) -> None:
    onnx.save(residual_block(), tmp_path / "model.onnx")
    (tmp_path / "file").touch()
    dlc_command = [Path(sys.executable).with_name("dlc"), "compile", tmp_path / "model.onnx", "--emit=c-runtime"]
    for options, message in ((["-o", tmp_path / "file"], "is no folder; name one"), (["--weights=separate"], "reads no files")):
        done = subprocess.run(
            [str(part) for part in (*dlc_command, *options)], cwd=tmp_path, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 1 and message in done.stderr, done.stderr
