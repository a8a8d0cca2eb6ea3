"""The policy in use decides code, is a part of keys of caches, and comes from a file, too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import dlc
from dlc.lowering.policy import POLICY, policy, using
from dlc.model_cache import model_key

_PRODUCT = """func.func @main(%x: tensor<64x256xf32>, %y: tensor<256x128xf32>) -> tensor<64x128xf32> {
  %0 = "dl.matmul"(%x, %y) : (tensor<64x256xf32>, tensor<256x128xf32>) -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}"""
_NARROW = {"most_jam": 2, "tallest_jam": 2}


def test_a_policy_decides_code_and_keys() -> None:
    plain, module = str(dlc.lower(_PRODUCT, "affine")), dlc.lower(_PRODUCT, "dl")
    key = model_key(module, "")
    with using(policy().override(**_NARROW)):
        stated = dlc.lower(_PRODUCT, "affine")
        other_key = model_key(module, "")
    assert POLICY in stated.operation.attributes
    assert str(stated).count("vector.fma") != plain.count("vector.fma") or str(stated) != plain
    assert key is None or key != other_key


def test_results_are_the_same() -> None:
    x, y = np.random.default_rng(0).standard_normal((2, 64, 256)).astype(np.float32)
    y = np.ascontiguousarray(y.reshape(256, 64).repeat(2, axis=1))
    with using(policy().override(**_NARROW)):
        narrow = dlc.compile(_PRODUCT, num_threads=1)(x, y)[0]
    np.testing.assert_allclose(narrow, x @ y, rtol=1e-4, atol=1e-4)


def test_a_file_is_obeyed(tmp_path: Path) -> None:
    file = tmp_path / "policy.json"
    file.write_text('{"most_jam": 2}')
    told = "from dlc.lowering.policy import policy; print(policy().text())"
    environment = os.environ | {"DLC_POLICY": str(file)}
    done = subprocess.run([sys.executable, "-c", told], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == '{"most_jam": 2}\n'
