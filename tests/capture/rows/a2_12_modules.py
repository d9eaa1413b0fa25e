"""A2.12: objects that look like modules."""


class _Linear:
    def __init__(self, weight, bias):
        self.params = {"weight": weight, "bias": bias}
        self.training = True

    def forward(self, t):
        return t @ self.params["weight"] + self.params["bias"]

    def __call__(self, t):
        return self.forward(t)


class _Sequential:
    def __init__(self, *children):
        self.children = list(children)
        self.training = False
        self.calls = 0

    def __call__(self, t):
        self.calls += 1
        for child in self.children:
            t = child(t)
        return t


class _Relu:
    def __call__(self, t):
        return torch.relu(t)


MODEL = _Sequential(
    _Linear(torch.ones(3, 2), torch.zeros(2)), _Relu(), _Linear(torch.ones(2, 3), torch.ones(3))
)
LINEAR = _Linear(torch.ones(3, 3), torch.zeros(3))


def parameters_are_inputs(x):
    return LINEAR(x)


def training_flag(x):
    return LINEAR(x) * 2 if LINEAR.training else x


def children(x):
    return MODEL(x)


def statistics_updated(x):
    LINEAR.params["bias"] = LINEAR.params["bias"] * 0.5
    return LINEAR(x)


def module_made_inside(x):
    layer = _Linear(torch.ones(3, 1), 1.0)
    return layer(x)


def state_dict(x):
    return {name: p * 2 for name, p in LINEAR.params.items()}, x


class _Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(3, 3)
        self.again = self.inner
        self.calls = 0
        with torch.no_grad():
            for p in self.parameters():
                p.fill_(0.5)

    def forward(self, x):
        self.calls += 1
        names = [name for name, _ in self.named_children()]
        self.calls += len(names)
        return self.inner(x) * self.calls


NET = _Net()


def counting_calls(x):
    return NET(x)


def parameters_each_once(x):
    return x * len(list(NET.parameters())) + sum(p.sum() for p in NET.parameters()).detach()


def modules_each_once(x):
    return [type(m).__name__ for m in NET.modules()], x * len(dict(NET.named_modules()))


def switched_to_evaluation(x):
    before = NET.training
    NET.eval()
    during = NET.training
    NET.train()
    return before, during, NET.inner.training, x + 1
