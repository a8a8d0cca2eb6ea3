"""What the affine passes share that transform loops by the polyhedral model: code generation, tree transformations, scheduling."""
