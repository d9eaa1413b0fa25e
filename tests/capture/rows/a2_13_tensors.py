"""A2.13: what Python may ask of a tensor."""

from tests.capture.rows.marks import breaks


def shapes(x):
    rows, columns = x.shape
    return x * rows + columns, x.shape, x.size(), x.size(0), x.shape[-1], x.ndim, x.dim(), x.numel()


def shape_arithmetic(x):
    return (
        x.shape + (1,),
        x.shape[:1],
        x.shape * 2,
        len(x.shape),
        x.shape == (2, 3),
        x.shape.numel(),
    )


def size_methods(x):
    return (
        x.shape.index(3),
        x.shape.count(2),
        list(x.shape),
        tuple(x.shape),
        3 in x.shape,
        max(x.shape),
    )


def shape_of_result(x, y):
    return (x @ y.t()).shape, x.reshape(3, -1).shape[1], x.view(-1).size()


def dtype_questions(x):
    return (
        x.dtype, x.dtype == torch.float32, x.dtype is torch.float32, x.dtype != torch.int64,
        x.dtype.is_floating_point, x.is_floating_point(), x.element_size(),
    )  # fmt: skip


def device_questions(x):
    return (
        x.device,
        x.device.type == "cpu",
        x.device == torch.device("cpu"),
        str(x.device),
        x.device.index,
    )


def layout_questions(x):
    return x.is_contiguous(), x.t().is_contiguous(), x.stride(), x.stride(0), x.t().stride()


def requires_grad(x):
    return x * 2 if x.requires_grad else x + 1


def length(x):
    return x * len(x), len(x[0])


def iteration(x):
    rows = [row * 2 for row in x]
    a, b = x
    return rows, a + b, list(x)[1], [e for e in x[0]]


def unpacked_rows(x):
    first, *rest = x
    return first, rest


def enumerate_rows(x):
    return sum(row * i for i, row in enumerate(x))


def zipped_rows(x, y):
    return [a * b for a, b in zip(x, y)]


def is_none(x, nothing):
    return x is None, x is not None, nothing is None, x


def tensor_identity(x, y):
    z = x
    return x is z, x is y, x + 1 is x, x.view(2, 3) is x


def truth_of_none_default(x, nothing):
    return x + 1 if nothing is None else x + nothing


def indexing(x):
    return x[0], x[:, 1], x[..., None], x[-1, -1], x[0:1, ::2], x[None], x[(0, 1)], x[1:][0]


def index_by_computed(x, n):
    return x[n - 2], x[:, : n - 1], x[0][n % 2]


def operators(x, y):
    return (
        x + y,
        2 - x,
        x / 2,
        -x,
        x**2,
        2**x,
        x @ y.t(),
        x > y,
        (x < 0) & (y > 0),
        abs(x),
        ~(x > 0),
    )


def methods_and_functions(x):
    return x.relu(), torch.relu(x), x.sum(), torch.sum(x, 1), x.mean(-1, keepdim=True), x.t(), x.T


def creation(x):
    return (
        torch.zeros(2), torch.ones_like(x), torch.full_like(x, 2), torch.arange(4).reshape(2, 2),
        torch.tensor(1.5), torch.tensor([[1, 2]]), torch.zeros(x.shape), torch.ones(*x.shape),
        torch.empty_like(x).fill_(1) if False else x,
    )  # fmt: skip


def getattr_of_a_tensor(x):
    return getattr(x, "shape"), getattr(x, "nothing", 3), hasattr(x, "sum"), getattr(x, "sum")()


def isinstance_of_a_tensor(x):
    return isinstance(x, torch.Tensor), isinstance(x.shape, tuple), type(x) is torch.Tensor


def method_of_the_class(x, y):
    return torch.Tensor.add(x, y), torch.Tensor.sum(x)


@breaks("data-dependent-branch")
def branch_on_data(x):
    if x.sum() > 0:
        return x + 1
    return x - 1


@breaks("tensor-to-python")
def item(x):
    return x * x.sum().item()


@breaks("tensor-to-python")
def float_of_tensor(x):
    return x * float(x.sum())


def minimum_of_tensors(x):
    return torch.minimum(x, x * 2), torch.maximum(x[0], x[1])


@breaks("data-dependent-branch")
def max_of_tensors(x):
    return max(x.sum(), x.mean())


@breaks("data-dependent-branch")
def sorted_tensors(x):
    return sorted([x.sum(), x.mean()])[0]


def tensors_in_containers(x, y):
    d = {"x": x}
    d["x"] = d["x"] + y
    return d, [x, y][0] is x, (x, y).index(x)


def tensor_as_dict_key(x, y):
    d = {x: 1, y: 2}
    return d[x], x in d, len(d)


def places_without_values(x):
    largest = x.topk(2).indices
    return largest, x.sort(dim=0)[1], x.max(dim=1).indices, x.min(0)[1], x.median(dim=1).indices


def unwritten_memory_is_written(x):
    like, out = torch.empty_like(x), torch.empty(3, 2, dtype=torch.float64)
    like[:] = x * 2
    for n in range(out.shape[0]):
        out[n] = n
    return like, out, torch.empty(2, 0)
