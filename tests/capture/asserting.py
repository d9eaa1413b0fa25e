"""Programs with assertions. pytest makes other ones of those in a file of tests."""


def of_a_comparison(x):
    assert x.sum() > 100, "too small"
    return x


def of_the_opposite(x):
    assert not x.sum()
    return x


def of_one_of_two(x):
    assert x.ndim == 7 or x.sum()
    return x
