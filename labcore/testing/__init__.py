"""Comparing results: `assert_close`."""

from .comparison import assert_close as assert_close
