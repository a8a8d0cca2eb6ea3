"""Schedule primitives, one legal change of a program's tree each; the pass is made from the function's signature.

Imports `schedule` and what that may import.
"""
