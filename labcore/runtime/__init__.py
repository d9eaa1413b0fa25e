"""What a compiled call needs while it runs; knows nothing of graphs or loops.

    loader.py   machine code from an object file, as built-in functions of arrays
    threads.py  one loop on several threads
    layout.py   the check that a tensor is laid out as compiled code expects
    cards.py    who is told what is launched on a card
    card.py     a card of silicon: arrays in its memory (allocator.py), kernels to launch
    driver.py   all that the lab wants of a driver; nvidia.py, graphs.py, status.py: NVIDIA's, the
                only ones that import cuda-core; cublas.py: matrix products
"""
