"""Times of a model's code under several policies, by turns; policies that give the same code are not timed twice."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

import dlc
from bench.cases import Case
from bench.fit.variants import Variant
from dlc.lowering.policy import Policy, using
from dlc.measuring.contenders import Contender, Effort, interleave
from dlc.measuring.samples import median_ratio

_DEFAULT = "default"


@dataclass(frozen=True)
class _Local:
    """A compiled model in this process, for `interleave`."""

    engine: str
    threads: int
    model: dlc.CompiledModel
    inputs: Mapping[str, np.ndarray]

    def time(self, calls: int, warm: int = 0) -> list[float]:
        """Seconds of each of `calls` calls, after `warm` others."""
        found = []
        for number in range(warm + calls):
            begin = time.perf_counter()
            self.model.run(self.inputs)
            if number >= warm:
                found.append(time.perf_counter() - begin)
        return found


def ratios_of(case: Case, variants: Sequence[Variant], effort: Effort, threads: int) -> dict[Variant, float]:
    """Time under each variant to that under the default policy; 1 where the code is the same."""
    with case.files() as (file, inputs):
        source = dlc.import_onnx(str(file))
        text = _code(source, Policy())
        others = [variant for variant in variants if _code(source, variant.policy()) != text]
        if not others:
            return dict.fromkeys(variants, 1.0)
        racers = [_Local(_DEFAULT, threads, _compiled(source, Policy(), threads), inputs)]
        racers += [_Local(one.label, threads, _compiled(source, one.policy(), threads), inputs) for one in others]
    times = interleave(cast("list[Contender]", racers), effort)
    base = times[_DEFAULT].rounds
    return {one: median_ratio(times[one.label].rounds, base) if one in others else 1.0 for one in variants}


def _code(source: dlc.Source, policy: Policy) -> str:
    """The code of a model as text, without the line that states the policy."""
    with using(policy):
        text = str(dlc.lower(source, "llvm"))
    return "\n".join(line for line in text.split("\n") if not line.startswith("module"))


def _compiled(source: dlc.Source, policy: Policy, threads: int) -> dlc.CompiledModel:
    with using(policy):
        return dlc.compile(source, num_threads=threads)
