"""Measurements: latencies, start-up, and the lab against its peers. Nothing here is imported by the
compiler.
"""
