"""Numbers of the whole process."""

from ..counters import counters as counters
