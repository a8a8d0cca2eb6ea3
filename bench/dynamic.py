"""One artefact for all sizes beside code for one: networks with a dynamic dim at several sizes, and other engines.

python -m bench dynamic [name-part ...] [--count 5] [--vs onnxruntime,openvino] [--threads 1] [--json FILE]
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import onnx

import dlc
from bench.comparing import ratio_text
from bench.networks import (
    bert,
    gpt2,
    gpt2_decode,
    inception,
    lstm,
    mlp,
    mobilenet_v2,
    resnet18,
    resnet50,
    squeezenet,
    super_resolution,
    unet,
    vgg16,
    vit,
)
from bench.options import Settings, effort_of, shared_options
from bench.rows import run_rows, write_json
from dlc.errors import DLCError, InvalidInputError
from dlc.measuring.comparison import TOLERANCE, largest_error
from dlc.measuring.contenders import Contender, Effort, Times, interleave
from dlc.measuring.engines import LoadOptions, find_engines
from dlc.measuring.inputs import input_specs
from dlc.measuring.samples import geometric_mean, median_ratio

STATIC, DYNAMIC, HOT = "static", "dynamic", "hot"
"""dlc with the size known; with one artefact for all sizes; with that after the background has made a version for the size."""
_FEW = (1, 2, 3, 4, 6, 8, 12, 16, 5, 7, 9, 10, 11, 13, 14, 15, 17, 20, 24, 32)
"""Batches, those first that a short table takes."""
_PAST = (511, 64, 128, 1, 300, 17, 100, 200, 255, 256, 257, 350, 400, 450, 500, 33, 77, 150, 600, 800)


_SIDES = (224, 64, 96, 160, 320, 128, 192, 256, 80, 112, 144, 176, 208, 240, 272, 288, 304, 336, 352, 384)
"""Pixels of the sides of an image: multiples of 16, since U-Net halves them four times."""


@dataclass(frozen=True)
class Network:
    """A network whose dim `dim` is dynamic, at `sizes`; `values` are whole inputs filled with one number."""

    name: str
    build: Callable[[], onnx.ModelProto]
    sizes: Sequence[int] = _FEW
    dim: str = "batch"
    values: Mapping[str, int] = field(default_factory=dict)


def _batched(build: Callable[..., onnx.ModelProto], **options: int) -> Callable[[], onnx.ModelProto]:
    return partial(build, dynamic_batch=True, **options)


def _sided(build: Callable[[], onnx.ModelProto]) -> onnx.ModelProto:
    """A network of one image, whose sides are dynamic, and alike."""
    model = build()
    for value in (*model.graph.input, *model.graph.output):
        dims = value.type.tensor_type.shape.dim
        for dim in dims[2:] if len(dims) == 4 else ():
            dim.dim_param = "side"
    return model


_KEEP = {"attention_mask": 1}
NETWORKS = (
    Network("mlp", _batched(mlp.build)),
    Network("resnet18", _batched(resnet18.build)),
    Network("resnet50", _batched(resnet50.build)),
    Network("mobilenet_v2", _batched(mobilenet_v2.build)),
    Network("vgg16", _batched(vgg16.build)),
    Network("squeezenet 1.1", _batched(squeezenet.build)),
    Network("inception", _batched(inception.build)),
    Network("unet 256", _batched(unet.build)),
    Network("super_resolution 224", _batched(super_resolution.build)),
    Network("bert-base seq 128", _batched(bert.build), values=_KEEP),
    Network("minilm seq 128", _batched(bert.build, layers=6, hidden=384), values=_KEEP),
    Network("gpt2 prefill 128", _batched(gpt2.build)),
    Network("gpt2 decode", partial(gpt2_decode.build, form="growing"), _PAST, "past"),
    Network("vit-tiny", _batched(vit.build, hidden=192, heads=3)),
    Network("lstm 32 steps", _batched(lstm.build, unrolled=False)),
    Network("mobilenet_v2 sides", partial(_sided, mobilenet_v2.build), _SIDES, "side"),
    Network("resnet18 sides", partial(_sided, resnet18.build), _SIDES, "side"),
    Network("squeezenet 1.1 sides", partial(_sided, squeezenet.build), _SIDES, "side"),
    Network("unet sides", partial(_sided, unet.build), _SIDES, "side"),
)


@dataclass(frozen=True)
class Point:
    """A network at one size: seconds of a call by contender, ratios by round, and the largest relative error against `static`.

    `ratios` are those to `static` of dlc's others, and those of other engines to `dynamic`: above 1, dlc is faster.
    """

    network: str
    size: int
    seconds: Mapping[str, float]
    ratios: Mapping[str, float]
    error: float
    failures: Mapping[str, str]

    @property
    def name(self) -> str:
        return f"{self.network}, {self.size}"


@dataclass(frozen=True)
class _Row:
    network: Network
    size: int

    @property
    def name(self) -> str:
        return f"{self.network.name}, {self.size}"


@dataclass
class Table:
    """The points that are measured, printed as they come."""

    settings: Settings
    found: list[Point] = field(default_factory=list)
    failed: int = 0

    def print_head(self) -> None:
        """The first lines of the Markdown table."""
        others = self.settings.engines
        titles = ["network", "size", *(f"{name}, ms" for name in (STATIC, DYNAMIC, HOT, *others))]
        titles += ["dynamic / static", "hot / static", *(f"{name} / dynamic" for name in others), "error"]
        print(f"| {' | '.join(titles)} |\n|:---|{'---:|' * (len(titles) - 1)}", flush=True)

    def measure(self, row: _Row) -> None:
        """One point."""
        self.add(measure(row.network, row.size, self.settings))

    def add(self, point: Point) -> None:
        """Print a point, and write all of them where a file was asked for."""
        self.found.append(point)
        times = [f"{point.seconds[name] * 1e3:.4g}" if name in point.seconds else "fails" for name in _names(self.settings)]
        own = [_own(point.ratios.get(name)) for name in (DYNAMIC, HOT)]
        others = [ratio_text(point.ratios.get(name)) for name in self.settings.engines]
        print(f"| {point.network} | {point.size} | {' | '.join([*times, *own, *others, f'{point.error:.1e}'])} |", flush=True)
        for name, reason in point.failures.items():
            print(f"{point.name}: {name}: {reason}", file=sys.stderr, flush=True)
        write_json(self.settings.json, [asdict(each) for each in self.found])

    def fail(self, row: _Row, error: Exception) -> None:
        """A row without figures, whose reason was printed."""
        self.failed += 1
        print(f"| {row.network.name} | {row.size} | fails |", flush=True)

    def finish(self) -> int:
        """Print the summary; status 1 where results differ or dlc has failed."""
        print("\n".join(["", *summary(self.found, self.settings.engines)]))
        return int(self.failed > 0 or any(point.error > TOLERANCE["f32"] for point in self.found))


def measure(network: Network, size: int, settings: Settings) -> Point:
    """All contenders on one network at one size, by turns."""
    with tempfile.TemporaryDirectory(prefix="dlc-bench-") as folder, ExitStack() as stack:
        file = Path(folder) / "model.onnx"
        model = network.build()
        specs = input_specs(model)
        onnx.save(model, file)
        del model
        inputs = dlc.random_inputs(specs, sizes={network.dim: size})
        inputs |= {name: np.full_like(inputs[name], value) for name, value in network.values.items()}
        loaded, failures = list[Contender](), dict[str, DLCError]()
        for name in _names(settings):
            contender = stack.enter_context(Contender(_engine(name), settings.threads, name))
            try:
                contender.load(file, inputs, _options(name, network, size, settings))
            except DLCError as error:
                if name in (STATIC, DYNAMIC, HOT):
                    raise
                failures[name] = error
                continue
            loaded.append(contender)
        outputs = {each.engine: each.run() for each in loaded}
        times = interleave(loaded, settings.effort, failures)
    errors = [largest_error(outputs[name], outputs[STATIC]) or 0.0 for name in outputs]
    seconds = {name: found.median for name, found in times.items()}
    said = {name: str(error) for name, error in failures.items()}
    return Point(network.name, size, seconds, _ratios(times, settings.engines), max(errors), said)


def _ratios(times: Mapping[str, Times], engines: Sequence[str]) -> dict[str, float]:
    own = {name: median_ratio(times[name].rounds, times[STATIC].rounds) for name in (DYNAMIC, HOT)}
    return own | {name: median_ratio(times[name].rounds, times[DYNAMIC].rounds) for name in engines if name in times}


def _names(settings: Settings) -> tuple[str, ...]:
    return (STATIC, DYNAMIC, HOT, *settings.engines)


def _engine(name: str) -> str:
    return "dlc" if name in (STATIC, DYNAMIC, HOT) else name


def _options(name: str, network: Network, size: int, settings: Settings) -> LoadOptions:
    sizes = (f"{network.dim}={size}",) if name == STATIC else ()
    return LoadOptions(settings.threads, sizes=sizes, specialize="1" if name == HOT else None, is_dynamic=name != STATIC)


def _own(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.3f}"


def summary(points: Sequence[Point], engines: Sequence[str]) -> list[str]:
    """Geometric mean and worst of each ratio."""
    lines = []
    for name in (DYNAMIC, HOT, *engines):
        ratios = {point.name: point.ratios[name] for point in points if name in point.ratios}
        if not ratios:
            continue
        is_ours = name in (DYNAMIC, HOT)
        worst = max(ratios, key=ratios.__getitem__) if is_ours else min(ratios, key=ratios.__getitem__)
        what = f"{name} / {STATIC}" if is_ours else f"{name} / {DYNAMIC}"
        mean = geometric_mean(list(ratios.values()))
        lines.append(f"{what}: geometric mean {mean:.3f}, worst {ratios[worst]:.3f} ({worst}), {len(ratios)} points")
    return lines


def read(arguments: Sequence[str]) -> tuple[Settings, int]:
    """The settings, and the number of sizes of each network."""
    default = Effort(rounds=15, slot=0.03, seconds=6.0)
    parser = shared_options("dynamic", (__doc__ or "").split("\n")[0], "onnxruntime,openvino", default)
    parser.add_argument("--count", type=int, default=5, help="sizes of each network, at most 20 (default: 5)")
    given = parser.parse_args(arguments)
    if not 1 <= given.count <= len(_FEW):
        parser.exit(2, f"{parser.prog}: error: --count is {given.count}; give 1 to {len(_FEW)}\n")
    try:
        engines = [engine.name for engine in find_engines([name for name in given.vs.split(",") if name])]
    except InvalidInputError as error:
        parser.exit(2, f"{parser.prog}: {error}\n")
    effort = effort_of(given, default)
    return Settings("dynamic", tuple(given.parts), tuple(engines), given.threads, "f32", effort, given.json, None), given.count


def main() -> int:
    """Print the table; status 1 where results differ or dlc fails."""
    settings, count = read(sys.argv[1:])
    table = Table(settings)
    table.print_head()
    rows = [_Row(network, size) for network in settings.chosen(NETWORKS) for size in network.sizes[:count]]
    status = run_rows(rows, table.measure, table.fail)
    return table.finish() or status


if __name__ == "__main__":
    raise SystemExit(main())
