"""Speed tables of dlc, and the networks that benches and tests share."""
