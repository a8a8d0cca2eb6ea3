"""Options that several subcommands share, and how their values are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
import numpy as np

from dlc.devices import refuse_endless
from dlc.errors import InvalidInputError
from dlc.memory_limit import VARIABLE
from dlc.native.forms import C_RUNTIME
from dlc.option_values import DEFAULT_TARGET, PRECISIONS, TILES, whole_number
from dlc.runtime.signature import TensorSpec
from dlc.versions.spelling import read_spelled_sizes

if TYPE_CHECKING:
    from dlc.sources import ShapeOverrides

Command = TypeVar("Command", bound=Callable[..., object])

CHECKS = ("onnxruntime", "reference")
"""Other implementations that results are compared with."""
MODEL = click.argument("model", type=click.Path(path_type=Path), is_eager=True)
"""Eager, so that outputs can be compared with it."""
STDOUT = Path("-")
"""Stands for standard output where a file is asked for."""


def check_output(path: Path, option: str = "-o") -> Path:
    """Refuse a file that cannot be written before the work begins, and the model that the command reads."""
    if path != STDOUT and path.is_dir():
        raise click.BadParameter(f"'{path}' is a folder; name a file", param_hint=option)
    if path != STDOUT and not path.parent.is_dir():
        raise click.BadParameter(f"there is no folder '{path.parent}'; make it first", param_hint=option)
    model = click.get_current_context().params.get("model")
    if isinstance(model, Path) and model.is_file() and path.is_file() and path.samefile(model):
        raise click.BadParameter(f"'{path}' is the model, which would be overwritten; name another file", param_hint=option)
    return path


def check_folder(path: Path, option: str = "-o") -> Path:
    """Refuse a folder that cannot be written to before the work begins; it may be there, or not yet."""
    if path == STDOUT or (path.exists() and not path.is_dir()):
        raise click.BadParameter(f"'{path}' is no folder; name one", param_hint=option)
    return path if path.is_dir() else check_output(path, option)


def _check_output_for(context: click.Context, option: click.Parameter, value: Path | None) -> Path | None:
    """By what is written, where an eager option `emit` says so."""
    if value is None:
        return None
    return check_folder(value) if context.params.get("emit") == C_RUNTIME else check_output(value)


def output_option(help: str, default: Path | None = STDOUT) -> Callable[[Command], Command]:
    """`-o FILE`; `-` is standard output."""
    return click.option(
        "-o",
        "--output",
        type=click.Path(path_type=Path),
        default=default,
        metavar="FILE",
        callback=_check_output_for,
        help=help,
    )


def shape_option(command: Command) -> Command:
    """`--shape name=1x3x224x224`, repeatable."""
    return click.option(
        "--shape",
        "shapes",
        multiple=True,
        metavar="NAME=1x3xN",
        help="Shape of an input of an ONNX model; a word is a dynamic dim. Dims part at 'x' or ','. Repeatable.",
    )(command)


def sizes_option(command: Command) -> Command:
    """`--sizes batch=1..64,seq=32|64|128`, repeatable."""
    text = (
        "Sizes of dynamic dims to compile for: one (4), a range that calls keep to (1..64, 8..512:8 in steps), or some that get "
        "code of their own beside the code for all (32|64|128). Repeatable."
    )
    return click.option("--sizes", multiple=True, metavar="DIM=1..64,DIM=32|64", help=text)(command)


def specialize_option(command: Command) -> Command:
    """`--specialize auto`."""
    text = "Compile code for the sizes of frequent calls in the background: auto, off, or after how many calls."
    return click.option("--specialize", metavar="auto|off|N", help=text)(command)


def value_option(command: Command) -> Command:
    """`--value axes=0,2`, repeatable."""
    text = "Value of an input of an ONNX model that is known at compile time: it becomes a constant. Repeatable."
    return click.option("--value", "values", multiple=True, metavar="NAME=0,2|FILE.npy", help=text)(command)


def lenient_option(command: Command) -> Command:
    """`--lenient`."""
    text = "Warn of rules of ONNX that the model breaks, and go on, where its meaning is likely; by default they are errors."
    return click.option("--lenient", is_flag=True, help=text)(command)


def target_option(command: Command) -> Command:
    """`--target cpu:haswell`."""
    return click.option(
        "--target",
        default=DEFAULT_TARGET,
        show_default=True,
        metavar="NAME",
        help="Machine to make code for: cpu (this one), cpu:haswell, ...; an unknown name lists them.",
    )(command)


def dim_option(command: Command) -> Command:
    """`--dim name=3`, repeatable."""
    text = "Size of a dynamic dim for random inputs. Repeatable."
    return click.option("--dim", "dims", multiple=True, metavar="NAME=N", help=text)(command)


def schedule_option(command: Command) -> Command:
    """`--schedule FILE`."""
    text = "Schedules of kernels that replace the cost model's: JSON, as dlc compile --emit=schedule writes it."
    return click.option("--schedule", type=click.Path(path_type=Path), metavar="FILE", help=text)(command)


def verify_option(command: Command) -> Command:
    """`--verify-schedules`."""
    text = "Compare each kernel before and after its schedule; an illegal one is refused, what is undecided is told."
    return click.option("--verify-schedules", is_flag=True, help=text)(command)


def measure_option(command: Command) -> Command:
    """`--measure`."""
    text = "Time the few best schedules of each kernel where the cost model is not sure; the cache keeps the winners."
    return click.option("--measure", is_flag=True, help=text)(command)


def winograd_option(command: Command) -> Command:
    """`--winograd 4`."""
    text = "Largest tile of 3x3 convolutions: 2 (default) is as accurate as none (0), 4 is faster with ten times the error."
    return click.option("--winograd", type=click.Choice([str(tile) for tile in TILES]), callback=_as_int, help=text)(command)


def _as_int(context: click.Context, option: click.Parameter, value: str | None) -> int | None:
    return None if value is None else int(value)


def precision_option(command: Command) -> Command:
    """`--precision bf16`, and `tf32` on a GPU."""
    text = "Type that operands of products with weights are rounded to (tf32: of those on tensor cores); f32 by default. Sums stay."
    return click.option("--precision", type=click.Choice(PRECISIONS), help=text)(command)


def memory_limit_option(command: Command) -> Command:
    """`--memory-limit 2G`."""
    text = f"Most memory that a call may hold beside weights and inputs, as 2G (default: {VARIABLE}, else what the system has)."
    return click.option("--memory-limit", metavar="SIZE", help=text)(command)


def compile_timeout_option(command: Command) -> Command:
    """`--compile-timeout 60`."""
    text = "Most seconds that compiling may take; it ends before the next pass or kernel. No bound by default."
    return click.option("--compile-timeout", type=float, metavar="SECONDS", help=text)(command)


def compile_options(command: Command) -> Command:
    """`--target`, `--num-threads`, `--opt-level`."""
    for option in (
        target_option,
        click.option("--num-threads", type=int, default=None, help="Threads of one call (default: all processors)."),
        click.option("--opt-level", type=click.IntRange(0, 3), default=2, show_default=True, help="LLVM's optimisation level."),
    ):
        command = option(command)
    return command


def parse_shapes(given: Sequence[str]) -> dict[str, list[int | str]] | None:
    """`["x=1x3xN"]` as `{"x": [1, 3, "N"]}`; a scalar is `x=`."""
    if not given:
        return None
    shapes: dict[str, list[int | str]] = {}
    for text in given:
        name, dims = split_pair(text, "--shape", "NAME=1x3x224x224")
        parts = dims.split("," if "," in dims else "x") if dims else []
        sizes = [whole_number(part) for part in parts]
        if not all(size is not None or part.isidentifier() for size, part in zip(sizes, parts, strict=True)):
            raise click.BadParameter(f"expects NAME=1x3x224x224 but got '{text}'", param_hint="--shape")
        shapes[name] = [part if size is None else size for size, part in zip(sizes, parts, strict=True)]
    return shapes


def all_shapes(shapes: Sequence[str], sizes: Sequence[str]) -> ShapeOverrides | None:
    """What --shape says of inputs and --sizes of dims, as `shapes` of `dlc.compile`."""
    return {**(parse_shapes(shapes) or {}), **read_spelled_sizes(sizes)} or None


def least_sizes(sizes: Sequence[str]) -> dict[str, int]:
    """The least that --sizes allows of each dim, for random inputs."""
    least: dict[str, int] = {}
    for name, given in read_spelled_sizes(sizes).items():
        parts = given if isinstance(given, list) else [given]
        least[name] = min(part.start if isinstance(part, range) else part for part in parts)
    return least


def require_one_size(sizes: Sequence[str], what: str) -> None:
    """Refuse lists of sizes; `what` has code for all sizes, or for one."""
    several = next((name for name, given in read_spelled_sizes(sizes).items() if isinstance(given, list)), None)
    if several is not None:
        raise InvalidInputError(f"--sizes: error: {what} one version; give '{several}' one size or a range")


def parse_values(given: Sequence[str]) -> dict[str, Any]:
    """`["axes=0,2", "keep=true"]` as `{"axes": [0, 2], "keep": True}`; a file gives an array, nothing an empty list."""
    return {name: _parse_value(text) for name, text in (split_pair(text, "--value", "NAME=0,2") for text in given)}


def _parse_value(text: str) -> Any:
    if text.endswith(".npy"):
        return load_array(Path(text))
    numbers = [_parse_number(part.strip()) for part in text.split(",")] if text else []
    return numbers[0] if len(numbers) == 1 else numbers


def _parse_number(text: str) -> int | float | bool:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise click.BadParameter(f"expects numbers, true, false or a FILE.npy but got '{text}'", param_hint="--value")


def load_array(path: Path) -> np.ndarray:
    """The array in a `.npy` file; `InvalidInputError` where there is none."""
    try:
        refuse_endless(path)
        found = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise InvalidInputError(f"{path}: error: not a NumPy .npy file: {error}") from None
    if not isinstance(found, np.ndarray):
        raise InvalidInputError(f"{path}: error: not a NumPy .npy file, but an archive of several arrays; save one by numpy.save")
    return found


def parse_sizes(given: Sequence[str]) -> dict[str, int]:
    """`["N=3"]` as `{"N": 3}`."""
    found: dict[str, int] = {}
    for name, text in (split_pair(text, "--dim", "NAME=N") for text in given):
        size = whole_number(text)
        if size is None:
            raise click.BadParameter(f"expects a size for '{name}' but got '{text}'", param_hint="--dim")
        found[name] = size
    return found


def require_dims(sizes: Mapping[str, int], specs: Sequence[TensorSpec]) -> None:
    """Refuse sizes of dims that no input has."""
    require_names("--dim", "dynamic dim", sizes, [dim for spec in specs for dim in spec.shape if isinstance(dim, str)])


def require_names(option: str, what: str, names: Iterable[str], known: Sequence[str]) -> None:
    """Refuse names that are not among the `known` ones; `what` they are the names of."""
    for name in names:
        if name not in known:
            listed = ", ".join(dict.fromkeys(known)) or "none"
            raise InvalidInputError(f"{option}: error: the model has no {what} '{name}' ({what}s: {listed})")


def split_pair(text: str, option: str, form: str) -> tuple[str, str]:
    """`name=value` in two, at the first `=`."""
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise click.BadParameter(f"expects {form} but got '{text}'", param_hint=option)
    return name, value
