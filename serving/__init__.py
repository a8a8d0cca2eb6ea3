"""`dlc serve`: engine files behind the Open Inference Protocol (KServe v2), over HTTP and gRPC.

Imports `runtime`, NumPy and the server libraries of the extra `serve`; nothing of the compiler, so that a process that serves has
no MLIR in it. Imports inside of dlc are relative, as in `runtime`.
"""
