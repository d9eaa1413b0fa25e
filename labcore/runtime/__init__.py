"""What a compiled call needs while it runs; knows nothing of graphs or loops.

    loader.py   machine code from an object file, as built-in functions of arrays
    threads.py  one loop on several threads
    layout.py   the check that a tensor is laid out as compiled code expects
"""
