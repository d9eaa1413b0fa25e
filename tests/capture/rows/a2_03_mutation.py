"""A2.3: changes of what existed before the call."""


class _Box:
    def __init__(self, value):
        self.value = value


BOX = _Box(1)
ITEMS = [1]
TABLE = {"a": 1}
COUNT = 0


def list_append(x, numbers):
    numbers.append(x * 2)
    return numbers[-1] + len(numbers)


def list_many_changes(x, numbers):
    numbers.append(4)
    numbers[0] = x
    numbers.insert(1, "new")
    numbers.extend((5, 6))
    last = numbers.pop()
    del numbers[2]
    numbers.reverse()
    return x + last, len(numbers)


def list_sorted_in_place(x, numbers):
    numbers.sort(reverse=True)
    return x * numbers[0]


def list_slices_written(x, numbers):
    numbers[1:] = [x, 7]
    numbers += [8]
    return x + 1


def list_cleared(x, numbers):
    numbers.clear()
    return x, len(numbers)


def dict_set(x, table):
    table["c"] = x
    table["a"] += 1
    del table["b"]
    return table["c"] * table["a"], list(table)


def dict_many_changes(x, table):
    table.update(b=3, z=x)
    value = table.setdefault("q", [])
    value.append(x)
    got = table.pop("a")
    return x * got, table.get("z") is x, len(table)


def set_changes(x, names):
    names.add("w")
    names.discard("u")
    return x * len(names), "w" in names


def attribute_set(x):
    BOX.value = BOX.value + 1
    return x * BOX.value


def attribute_deleted(x):
    BOX.extra = x
    del BOX.extra
    return x + 1, hasattr(BOX, "extra")


def setattr_and_delattr(x):
    setattr(BOX, "name", 3)
    value = BOX.name
    delattr(BOX, "name")
    return x * value


def global_list(x):
    ITEMS.append(len(ITEMS))
    return x * len(ITEMS)


def global_dict(x):
    TABLE["n"] = TABLE.get("n", 0) + 1
    return x * TABLE["n"]


def global_counter(x):
    global COUNT
    COUNT += 1
    return x * 2


def order_of_changes(x, numbers, box):
    numbers.append(len(box))
    box.append(len(numbers))
    numbers.append(len(box))
    return x


def aliases(x, numbers):
    other = numbers
    other.append(5)
    return x * len(numbers), other is numbers


def nested_change(x, table):
    table["deep"] = {"list": [1]}
    table["deep"]["list"].append(x)
    return x + len(table["deep"]["list"])


def tensor_kept(x, params):
    params["w"] = params["w"] * 0.5
    return x + params["w"]


def tensor_list_replaced(x, xs):
    for i in range(len(xs)):
        xs[i] = xs[i] * i
    return sum(xs)


def change_then_raise(x, numbers):
    numbers.append(1)
    raise ValueError("after the change")
