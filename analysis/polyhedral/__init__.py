"""The polyhedral model of affine loops: statements, domains, accesses, order, dependences. See docs/design/0004-affine.md."""
