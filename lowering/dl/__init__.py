"""Passes on graphs of dl ops, in folders by their job; here lies what these share.

`matching.py` has the questions that passes ask about values and ops, `rewriting.py` runs rules, `patterns.py` reads formulas, and
`precision.py` and `set_target.py` are about a whole module. These import no folder; which folder may import which is a table in
`test/test_layering.py`.
"""
