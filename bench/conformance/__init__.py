"""The onnx package's backend tests, run through dlc and other engines: `python -m bench conformance`."""
