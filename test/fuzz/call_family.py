"""Wrong calls of compiled models: arguments, outputs, batches, params and options that do not fit, beside some that do.

A case names a model, a method and its arguments. What is taken must give the numbers of the reference implementations.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

import dlc
from dlc.dialects import dl
from dlc.dialects.dl.graph import Graph
from dlc.dialects.dl.interpreter import interpret
from dlc.sources import Source
from fuzz.call_values import NEVER_RIGHT, Description, array_like, odd_things, spoiled, value_of
from fuzz.cases import ACCEPTED, EXCEPTION, Phase, Verdict
from fuzz.judging import judge
from fuzz.numbers import difference

_METHODS = ("call", "call", "list", "dict", "run", "run", "run_many", "with_params", "compile", "limit")
_OPTIONS: Mapping[str, tuple[Any, ...]] = {
    "num_threads": (0, -1, 1.5, "2", 10**6, True, None),
    "opt_level": (-1, 4, "2", None, 1.0),
    "target": ("tpu", "", "cpu:none", "gpu:sm_90", None, 3, "cpu\0"),
    "donate": (["nobody"], "x", 3, ["x", "x"], [1], None),
    "winograd": (3, -1, "4", 2.5),
    "precision": ("f16", "", 16, "bf16"),
    "memory_limit": (0, -1, "2X", "", 1.5, 2**70, "1G", "-1G", b"1G"),
    "schedule": ("missing.json", {}, [], 3, {"a": 1}),
    "shapes": ({"x": [1]}, 3, {"q": [1]}),
    "params": ({"q": 1}, 3, {"w": "text"}, {}, {1: 2}),
    "lenient": (3,),
    "timeout": (0, -1, 1e-9, "2", True, float("nan"), 10**400, 1000, [1]),
    "measure": (False,),
    "progress": (None,),
}


@dataclass(frozen=True)
class Subject:
    """A model and the shapes of fitting arguments: (shape, dtype) by name of input, output and param."""

    source: Source
    inputs: Mapping[str, tuple[tuple[int, ...], str]]
    outputs: Mapping[str, tuple[tuple[int, ...], str]]
    params: Mapping[str, tuple[tuple[int, ...], str]]
    donate: tuple[str, ...] = ()

    @functools.cached_property
    def model(self) -> dlc.CompiledModel:
        return dlc.compile(self.source, num_threads=1, donate=self.donate)


def _subjects() -> dict[str, Subject]:
    with Graph() as add:
        x, y = add.input("x", ("n", 4)), add.input("y", ("n", 4))
        add.output("z", dl.add(x, y))
    with Graph() as product:
        weight = product.param("w", np.arange(12, dtype=np.float32).reshape(4, 3))
        product.output("z", dl.matmul(product.input("x", (2, 4)), weight))
    with Graph() as mixed:
        x, index = mixed.input("x", (2, 4)), mixed.input("i", ("n",), "i64")
        mixed.output("r", dl.relu(x))
        mixed.output("g", dl.gather(x, index, axis=1))
    with Graph() as cache:
        x, y = cache.input("x", (2, 4)), cache.input("y", (2, 4))
        cache.output("z", dl.mul(dl.add(x, y), y))
    plain = ((2, 4), "f4")
    weight_of = {"w": ((4, 3), "f4")}
    return {
        "add": Subject(_source(add), {"x": plain, "y": plain}, {"z": plain}, {}),
        "product": Subject(_source(product), {"x": plain}, {"z": ((2, 3), "f4")}, weight_of),
        "mixed": Subject(_source(mixed), {"x": plain, "i": ((3,), "i8")}, {"r": plain, "g": ((2, 3), "f4")}, {}),
        "donated": Subject(_source(cache), {"x": plain, "y": plain}, {"z": plain}, {}, ("x",)),
    }


def _source(graph: Graph) -> Source:
    return Source(graph.module, graph.params, "model")


class CallFamily:
    """Calls of four small models."""

    name, suffix, batch, weight = "call", ".call", 100, 2

    @functools.cached_property
    def _known(self) -> Mapping[str, Subject]:
        return _subjects()

    def prepare(self) -> None:
        for subject in self._known.values():
            assert subject.model.inputs

    def make(self, random: Random) -> bytes:
        name = random.choice(sorted(self._known))
        subject, method = self._known[name], random.choice(_METHODS)
        case: Description = {"model": name, "method": method, "inputs": _arguments(random, subject.inputs)}
        if method == "run":
            case["outputs"] = _arguments(random, subject.outputs)
        if method == "with_params":
            case["params"] = _arguments(random, subject.params or subject.inputs)
        if method == "run_many":
            case["more"] = [_arguments(random, subject.inputs) for _ in range(random.choice((0, 1, 3)))]
        if method == "compile":
            option = random.choice(sorted(_OPTIONS))
            case["option"] = [option, random.randrange(len(_OPTIONS[option]))]
        return json.dumps(case).encode()

    def execute(self, payload: bytes, phase: Phase) -> Verdict:
        case = json.loads(payload)
        subject = self._known[case["model"]]
        phase(f"{case['method']} of {case['model']}")
        try:
            return _check(subject, case)
        except BaseException as error:
            return judge(error)

    def smaller(self, payload: bytes) -> Iterator[bytes]:
        case = json.loads(payload)
        for key in ("more", "inputs", "outputs", "params"):
            parts = case.get(key)
            for index in range(len(parts) if isinstance(parts, list) else 0):
                yield json.dumps({**case, key: [*parts[:index], *parts[index + 1 :]]}).encode()


def _arguments(random: Random, wanted: Mapping[str, tuple[tuple[int, ...], str]]) -> Any:
    """Arguments by position or by name; most have a fault or two."""
    given = {name: array_like(random, shape, dtype) for name, (shape, dtype) in wanted.items()}
    for _ in range(random.choice((0, 1, 1, 1, 2))):
        if given:
            name = random.choice(sorted(given))
            given[name] = spoiled(random, given[name])
    if random.random() < 0.15 and given:
        given.pop(random.choice(sorted(given)))
    if random.random() < 0.1:
        given["extra"] = array_like(random, (2, 4), "f4")
    if random.random() < 0.3:
        return {"names": sorted(given.items())}
    return list(given.values())


def _check(subject: Subject, case: Description) -> Verdict:
    described = case["inputs"]
    inputs, method, model = value_of(described), case["method"], subject.model
    if method == "compile":
        name, index = case["option"]
        dlc.compile(subject.source, **{"num_threads": 1, name: _OPTIONS[name][index]})
        return Verdict(ACCEPTED)
    if method == "limit":
        limited = dlc.compile(subject.source, num_threads=1, memory_limit=1)
        return _same(subject, case, inputs, limited(*inputs) if isinstance(inputs, list) else limited(inputs))
    if method == "with_params":
        described = case["params"] if isinstance(case["params"], dict) else case["params"][: len(subject.params)]
        params = value_of(described)
        changed = model.with_params(params if isinstance(params, dict) else dict(zip(subject.params, params, strict=False)))
        changed(*[value_of(array_like(Random(0), shape, dtype)) for shape, dtype in subject.inputs.values()])
        return _no_lost_meaning({"params": described}) or Verdict(ACCEPTED)
    if method == "run":
        outputs = value_of(case["outputs"])
        results = model.run(inputs, outputs)
        return _given(outputs, results) or _same(subject, case, inputs, results)
    if method == "run_many":
        requests = [inputs, *(value_of(item) for item in case["more"])]
        return _same(subject, case, inputs, model.run_many(requests)[0])
    if method == "call" and isinstance(inputs, list):
        return _same(subject, case, inputs, model(*inputs))
    return _same(subject, case, inputs, model(inputs))


def _given(outputs: Any, results: list[np.ndarray]) -> Verdict | None:
    """A finding where a result is not in the caller's array."""
    arrays = [item for item in (outputs.values() if isinstance(outputs, dict) else outputs) if isinstance(item, np.ndarray)]
    if all(any(result is array for result in results) for array in arrays):
        return None
    return Verdict(EXCEPTION, "run gives a result that is not the caller's array", repr(outputs)[:500])


def _no_lost_meaning(case: Description) -> Verdict | None:
    parts = [case[key] for key in ("inputs", "params", "outputs", "more") if key in case]
    wrong = [name for part in parts for name in odd_things(part) if name in NEVER_RIGHT]
    return Verdict(EXCEPTION, f"a call takes an argument of kind {wrong[0]}", json.dumps(case)) if wrong else None


def _same(subject: Subject, case: Description, inputs: Any, results: list[np.ndarray]) -> Verdict:
    """Compare with the reference implementations on what was given."""
    lost = _no_lost_meaning({"inputs": case["inputs"]})
    if lost:
        return lost
    fresh = value_of(case["inputs"])  # a donated array holds a result by now
    arrays = [fresh[name] for name in subject.inputs] if isinstance(fresh, dict) else list(fresh)
    arrays = [np.asarray(array) for array in arrays]
    arrays = [array.astype(array.dtype.newbyteorder("="), copy=False) for array in arrays]  # as results are
    return difference(subject.source.module, results, interpret(subject.source.module, arrays, subject.source.params))
