"""Being here lets tests in the folders below import what lies in this one, such as `equality`, by bare names."""
