"""A server of an engine for a GPU, a fake one: requests get the compiled model's results, alone and in batches."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from fake_cuda import fake_gpu
from served import WIDTHS, running, small_input

import dlc
from bench.networks import mlp
from dlc.serving.options import BatchOptions


def test_requests_are_answered_by_the_gpu(tmp_path: Path) -> None:
    with fake_gpu() as gpu:
        model = dlc.compile(mlp.build(widths=WIDTHS, dynamic_batch=True), "gpu:sm_90", num_threads=1, cache=False)
        model.save(tmp_path / "m.dlce")
        inputs = [small_input(rows, rows) for rows in (1, 2, 3, 1)]
        with running([tmp_path / "m.dlce"], batching=BatchOptions(8, 0.02, 1000)) as server, ThreadPoolExecutor(4) as pool:
            launches = len(gpu.launched)
            answers = list(pool.map(lambda x: server.infer("m", _request(x)), inputs))
            assert len(gpu.launched) > launches
        for x, (status, answer) in zip(inputs, answers, strict=True):
            assert status == 200, answer
            (output,) = answer["outputs"]
            result = np.array(output["data"], np.float32).reshape(output["shape"])
            np.testing.assert_allclose(result, model(x)[0], rtol=1e-6)


def _request(x: np.ndarray) -> dict[str, object]:
    return {"inputs": [{"name": "x", "shape": list(x.shape), "datatype": "FP32", "data": x.ravel().tolist()}]}
