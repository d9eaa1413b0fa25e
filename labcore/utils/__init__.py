"""Tools around the lab: `utils.benchmark`."""
