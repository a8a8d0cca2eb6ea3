"""Networks as ONNX models with seeded weights: one file each, `build(batch, ..., dynamic_batch, seed) -> onnx.ModelProto`."""
