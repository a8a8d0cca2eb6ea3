"""onnxruntime as what results are compared with."""

from __future__ import annotations

from typing import Any

import onnx
import pytest


def reference_session(model: onnx.ModelProto) -> Any:
    """A session of one thread: others would spin after each call, on processors that tests beside this one need.

    The test is skipped where onnxruntime is not installed.
    """
    onnxruntime = pytest.importorskip("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
