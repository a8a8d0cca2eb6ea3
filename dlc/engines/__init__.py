"""Engine files: what of a compiled model goes into one, and the writing of it. `dlc.runtime.engine` loads them.

docs/engine-format.md is their specification, docs/design/0011-engines.md says why they are so.
"""
