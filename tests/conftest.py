"""How far property tests go: quick by default, the same on every CI run, far under `make fuzz`.

A property that fixes its own `max_examples` opts out of all three; leave the number to the profile.
"""
from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "lab", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("ci", settings.get_profile("lab"), derandomize=True, database=None)
settings.register_profile(
    "fuzz",
    settings.get_profile("lab"),
    max_examples=int(os.environ.get("LAB_FUZZ_EXAMPLES", "3000")),
    print_blob=True,
)
settings.load_profile("ci" if os.environ.get("CI") else "lab")
