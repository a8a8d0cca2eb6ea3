"""Models with ops that run on the host: strings, sequences, optionals, maps, and control flow around them.

`partition` cuts an ONNX graph into segments, which are compiled, and host ops between them; `program` runs both in order.
"""
