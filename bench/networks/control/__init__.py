"""Networks with branches, loops and sizes that depend on data, spelt as exporters spell them: a file for each family.

Defaults are the sizes that `python -m bench control` measures.
"""
