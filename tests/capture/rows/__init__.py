"""What Python means to the lab, row by row: one small program for each construct.

    a2_01 ... a2_14   the programs, with the name `torch` given when they are executed
    marks.py          what a program says about itself: where it breaks, what is still missing
    running.py        inputs, loading, and all that can be observed of a run

`test_rows.py` runs each of them eagerly and compiled; `tests/peers/test_capture_rows.py` asks
PyTorch which of them it takes whole.
"""
