"""Versions of a model for sizes of dims: ranges and lists that are declared, and hot shapes that get code in the background.

`sizes` reads what `shapes` says of dims, `building` compiles the versions, `versioned_model` chooses one at each call,
`specializer` counts shapes, `background` compiles for it in a process of its own, whose program is `worker`.
"""
