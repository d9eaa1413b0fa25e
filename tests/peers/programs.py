"""Programs that are run twice: with `torch` being the lab, and with it being PyTorch.

The file is never imported; `test_compile.py` executes it for each, with the name `torch` given.
Each function without an underscore takes two tensors of shape (2, 3).
"""
# ruff: noqa: F821
from __future__ import annotations


def running_example(x, y):
    return torch.relu(x + y) * 2


def chain(x, y):
    a = torch.sin(x) * y
    b = torch.exp(-a * a)
    return torch.tanh(a + b) / (1 + b)


def softmax(x, y):
    e = torch.exp(x - x.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True) * y


def layer_norm(x, y):
    centered = x - x.mean(-1, keepdim=True)
    variance = (centered * centered).mean(-1, keepdim=True)
    return centered / torch.sqrt(variance + 1e-5) * y


def gelu(x, y):
    return x * 0.5 * (1 + torch.erf(x * 0.7071067811865476)) + y


def matmul_and_bias(x, y):
    return torch.relu(x @ y.t() + 1)


def reduction(x, y):
    return (x * y).sum()


def two_reductions(x, y):
    return (x * y).sum(0), (x + y).sum(1)


def permuted_reductions(x, y):
    return (x.t() * y.t()).sum(0), x.permute(1, 0).amax(1)


def scalar_result(x, y):
    return x.sum() * y.mean() + 3


def broadcasting(x, y):
    return x[:, :1] * y[:1] + x


def transposed_result(x, y):
    return x.t() * y.t()


# ---- who is who afterwards ----------------------------------------------------------------------


def view_of_an_input(x, y):
    return x[0], y * 2


def views_of_a_result(x, y):
    z = x * y
    return z[0], z.t(), z


def only_a_view_of_a_result(x, y):
    return (x * y)[0]


def an_input(x, y):
    return y, x, x * y


def twice_the_same(x, y):
    z = x * y
    return z, z


def equal_but_not_the_same(x, y):
    return x * y, x * y


def nothing_but_views(x, y):
    return x.view(-1), y.t()


def contiguous_is_the_input(x, y):
    return x.contiguous(), y.to(torch.float32), x.reshape(2, 3)


def detached(x, y):
    return x.detach() * y


def unused_input(x, y):
    return torch.exp(x)


# ---- types and values ---------------------------------------------------------------------------


def comparison(x, y):
    return x > y, torch.where(x > y, x, y)


def integers(x, y):
    return (x * 4).to(torch.int64) // 2, x


def double(x, y):
    return x.to(torch.float64) * y


def joined(x, y):
    return torch.cat([x, y * 2], 1), torch.stack([x, y])


def sliced(x, y):
    return x[:, 1:] * y[:, :-1] + x[0, 0]


def expanded(x, y):
    return x[0].expand(2, 3) * y + x[:, :1].expand(2, 3)


def flattened(x, y):
    return x.t().reshape(-1) * y.flatten()


def clamped(x, y):
    return torch.clamp(x, -0.5, 0.5) + y.clamp(min=0)


def powers(x, y):
    return x ** 2 + y ** 3 + 2 ** x


def kinks(x, y):
    return torch.relu(x) + torch.abs(y) + torch.sign(x) + torch.maximum(x, y)


def special_functions(x, y):
    return torch.sigmoid(x) + torch.erf(y) + torch.rsqrt(x * x + 1) + torch.reciprocal(y * y + 1)


def nan_and_inf(x, y):
    return torch.log(x) + y / (x - x), torch.sqrt(y)


def constants(x, y):
    halves = torch.full((2, 1), 0.5)
    return x + torch.ones(3) * torch.arange(3) + torch.zeros_like(y) + halves


# ---- Python -------------------------------------------------------------------------------------


def loop(x, y):
    for i in range(3):
        x = x * y + i
    return x


def long_chain(x, y):
    z = x
    for i in range(40):
        z = z + y * (0.1 * i)
    return z


def containers(x, y):
    parts = {"a": x + 1, "b": y}
    return {"sum": parts["a"] + parts["b"], "parts": [parts["a"], parts["b"]]}


def branch_on_a_shape(x, y):
    return x * 2 if x.shape[0] > 1 else y


def branch_on_a_value(x, y):
    z = x * y
    if z.sum() > 0:
        return z + 1
    return z - 1


def _helper(a):
    return torch.relu(a) + 1


def helper(x, y):
    return _helper(x) * _helper(y)


def in_place_step(x, y):
    z = x * 2
    z += y
    z.mul_(3)
    return z


def written_slice(x, y):
    z = x * 2
    z[0] = y[1]
    return z
