"""Whole models against other engines.

python -m bench models [name-part ...] [--vs onnxruntime,openvino] [--threads 1] [--json FILE] [--plot FILE]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial

import onnx

from bench.cases import Case
from bench.comparing import run_table
from bench.networks import (
    bert,
    bert_qdq,
    gpt2,
    gpt2_decode,
    inception,
    light,
    lstm,
    mlp,
    mobilenet_v2,
    resnet18,
    resnet18_qdq,
    resnet50,
    squeezenet,
    super_resolution,
    unet,
    vgg16,
    vit,
)
from bench.options import read_settings
from dlc.measuring.contenders import Effort


def _light(name: str) -> onnx.ModelProto:
    return light.seeded(light.load(name))


_STEPS = 0.1
"""Relative difference of quantised models: a step of one byte goes through all layers after it. Twice what onnxruntime's own levels
of optimisation differ by."""
_KEEP = {"attention_mask": 1}
CACHES = tuple(f"{kind}{index}" for index in range(12) for kind in ("key", "value"))
"""Inputs of a decoding step that dlc may write, as an application lets it."""

CASES = (
    Case("resnet18", resnet18.build),
    Case("resnet18 qdq", resnet18_qdq.build, tolerance=_STEPS),
    Case("resnet50", resnet50.build),
    Case("mobilenet_v2", mobilenet_v2.build),
    Case("vgg16", vgg16.build),
    Case("squeezenet 1.1", squeezenet.build),
    Case("inception", inception.build),
    Case("unet 256", unet.build),
    Case("super_resolution 224", super_resolution.build),
    Case("bert-base seq 128", bert.build, values=_KEEP),
    Case("bert-base qdq seq 128", bert_qdq.build, tolerance=_STEPS),
    Case("bert-base seq 128 batch 8", partial(bert.build, batch=8), values=_KEEP),
    Case("minilm seq 128", partial(bert.build, layers=6, hidden=384), values=_KEEP),
    Case("gpt2 prefill 128", gpt2.build),
    Case("gpt2 decode, past 511", partial(gpt2_decode.build, form="growing"), sizes={"past": 511}, values={"position": 511}),
    Case("gpt2 decode, cache 1024", gpt2_decode.build, values={"position": 511}, donate=CACHES),
    Case("vit-b16", vit.build),
    Case("vit-tiny", partial(vit.build, hidden=192, heads=3)),
    Case("lstm 32 steps", partial(lstm.build, unrolled=False)),
    Case("lstm 32 steps unrolled", lstm.build),
    Case("mlp", mlp.build),
    Case("mlp batch 64", partial(mlp.build, batch=64)),
    *(Case(f"light_{name}", partial(_light, name)) for name in light.names()),
)
MODELS: Mapping[str, Callable[[], onnx.ModelProto]] = {case.name: case.build for case in CASES}


def main() -> int:
    """Print the table; status 1 when a result is wrong."""
    about = (__doc__ or "").split("\n")[0]
    return run_table(CASES, read_settings("models", about, "onnxruntime,openvino", Effort(), sys.argv[1:]))


if __name__ == "__main__":
    raise SystemExit(main())
