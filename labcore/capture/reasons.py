"""Why capture stops: every reason there is, with what it means and what to change.

In: nothing.  Out: `REASONS`, by id.
Invariant: no reason is given that is not registered here; tests go through the table.
PyTorch keeps 517 such entries as JSON; ids here are words, so that a text can be looked up by
what it says.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reason:
    """`what` happened, `why` capture cannot go on, a `hint` what to change, and what is compiled
    all the same by who can `leave` it; {particulars} are filled in."""

    what: str
    why: str
    hint: str
    leave: str = ""


_AROUND = "what stands around it is compiled."

REASONS: dict[str, Reason] = {
    # ---- values that only exist when the program runs
    "data-dependent-branch": Reason(
        "branch on a tensor's value",
        "Which way to go depends on numbers in a tensor. Capture sees shapes and types, never "
        "numbers.",
        "Compute both sides and choose with torch.where(condition, a, b), or branch on a shape or "
        "a Python value.",
    ),
    "data-dependent-assert": Reason(
        "assert of a tensor's value",
        "Whether it holds depends on numbers in a tensor. Capture sees shapes and types, never "
        "numbers.",
        "Assert before or after the compiled function, or of a shape or a Python value.",
        _AROUND,
    ),
    "tensor-to-python": Reason(
        "Tensor.{name}() needs the tensor's numbers",
        "The result is a Python value that only exists after the operators before it have run.",
        "Keep the value a tensor (sum, where, comparisons work on tensors), or call it after the "
        "compiled function.",
    ),
    "tensor-as-number": Reason(
        "a tensor is given to {name}() where a Python value is expected",
        "A number such as a size or a fill value is part of the graph, and this one is data.",
        "Pass a Python number, or use an operator that takes a tensor there.",
    ),
    "data-dependent-size": Reason(
        "a mask as an index",
        "As many elements are chosen as the mask has true ones, and capture knows its shape, never "
        "its numbers: there would be no shape to write down.",
        "Keep the shape with torch.where(mask, x, 0) and count with mask.sum(); or index with a "
        "tensor of integers, whose number is known.",
    ),
    "varying-number": Reason(
        "{name}, a value that differs from time to time, is needed as a constant",
        "A text, a length, an index or a key is made of it here, and it was another one when the "
        "same code was captured before. CPython makes that of it, so that the graphs around it "
        "serve every value.",
        "Make that of it before the call, and pass it in.",
        "the operators around it are compiled, and a number that only operators use is an input of "
        "their graph.",
    ),
    # ---- effects
    "side-effect-call": Reason(
        "call of {name}",
        "{name} does something outside the tensors. Captured code runs as a graph, which has no "
        "place for that.",
        "Move it before or after the compiled function.",
        _AROUND,
    ),
    "mutation": Reason(
        "{what} is changed in place",
        "Changes are replayed in order once the graph has run; this one capture cannot write down, "
        "so CPython makes it.",
        "Make a new value instead.",
        _AROUND,
    ),
    "inplace-operator": Reason(
        "in-place operator {name}",
        "A graph only makes new tensors. A write is made one where all is known that shows the "
        "same memory. This one is to a leaf, or a view of one; or another input shows the memory, "
        "and is no view of the same tensor.",
        "Use the operator without the underscore: y = x.{pure}(...), or x = x + 1 instead of x += "
        "1; or write under torch.no_grad().",
    ),
    "uncounted-write": Reason(
        "{name} writes through .data",
        "Nobody counts such a write: eager mode's backward reads the new values wherever an "
        "operator before it saved this memory. A region would have saved the old ones, or compute "
        "them again, so those operators are CPython's, too.",
        "Write under torch.no_grad(), after the backward that needs the old values; eager mode "
        "tells you when it came too early.",
        _AROUND,
    ),
    "random-operator": Reason(
        "random operator {name}",
        "A graph draws only by operators, and only what it uses; the generator must go on as in "
        "eager mode.",
        "Use rand or randn (or dropout), and use what they give.",
    ),
    # ---- calls
    "caller-frame": Reason(
        "call of {name}",
        "{name} looks at the frame of its caller, or of theirs, and captured code has no frames.",
        "Move it before or after the compiled function.",
        _AROUND,
    ),
    "unknown-call": Reason(
        "call of {name}",
        "Capture reads Python bytecode and knows the lab's operators and Python's builtins. {name} "
        "is none of these, so what it does cannot be told.",
        "Move it before or after the compiled function, or give capture Python to read in its "
        "place (compiler.substitute_in_graph).",
        _AROUND,
    ),
    "build-class": Reason(
        "a class is made",
        "Its body is code of its own, run in a namespace that becomes the class, and each call "
        "makes another class.",
        "Move the class out of the function.",
    ),
    "new-object": Reason(
        "an object of class {name} is made",
        "How this class makes an object is nothing that capture can read: a class in C, a "
        "metaclass, a __new__ of its own, or a __del__ that is told when the object goes.",
        "Make the object before the call and pass it in.",
        _AROUND,
    ),
    "exception": Reason(
        "an exception, {name}, that is in use where capture stops",
        "Only CPython can make an exception with its traceback, so it is CPython that raises it.",
        "Handle it without what capture does not follow (print, logging, the traceback).",
        _AROUND,
    ),
    "new-exception": Reason(
        "an exception of class {name} is made",
        "Its class has a way of its own to make its instances, which capture does not follow.",
        "Give its class an __init__ in Python, or make it before the call and pass it in.",
        _AROUND,
    ),
    "context-manager": Reason(
        "a with statement",
        "Entering and leaving a context runs its own code, which capture does not follow.",
        "Put the with statement around the call of the compiled function.",
    ),
    "grad-mode": Reason(
        "operator {name} under another {what} than the one at the beginning",
        "A graph runs under one mode. Capture cuts off what a no_grad block computes; it neither "
        "records what the call would not, nor follows views and inference tensors through a block.",
        "Put the block around the call of the compiled function.",
    ),
    "disabled-call": Reason(
        "call of {name}, which is under compiler.disable",
        "{reason}",
        "Remove the disable.",
        "what stands around the call is compiled.",
    ),
    "graph-break-call": Reason(
        "graph_break() was called",
        "{reason}",
        "Remove the call of graph_break().",
    ),
    "skipped-frame": Reason(
        "operator {name} in {function}, a frame that is skipped",
        "disable(recursive=False) or skip_frame() leaves this function to CPython; only what it "
        "calls is compiled.",
        "Remove the disable or the skip_frame.",
        "the functions it calls are compiled.",
    ),
    "opaque-result": Reason(
        "a function under allow_in_graph gives {what}",
        "Its call is one node of the graph, and what it gives has to be new tensors, alone or in "
        "tuples, lists and dicts.",
        "Return such, or let capture look into the function: remove the allow_in_graph.",
    ),
    "device-copy": Reason(
        "a tensor is copied to device {device!r}",
        "A graph is compiled for one device; PyTorch compiles graphs over several.",
        "Move the tensor before the call, or make it where it is needed: device=x.device.",
        "what comes before and after the copy is compiled, each for its own device.",
    ),
    "several-devices": Reason(
        "{name} would compute on {here!r}, after operators on {before!r}",
        "A graph is compiled for one device; PyTorch compiles graphs over several.",
        "Do the work of each device in a function of its own, one after the other; make a number "
        "for the card there (device=x.device), or as a number of Python's.",
        "what comes before and after it is compiled, each for its own device.",
    ),
    "constant-result": Reason(
        "{name}, under assume_constant_result, {what}",
        "Capture calls the function itself and takes its result for a constant.",
        "Give it plain values or tensors from outside, and have it return what never changes.",
    ),
    "autograd-call": Reason(
        "Tensor.{name}, which is the tape's",
        "A graph computes forward. Its derivative is compiled with it, and run when the tape comes "
        "back to it.",
        "Move it before or after the compiled function.",
        "only this runs in Python, the forward before it and its backward are compiled.",
    ),
    "autograd-function": Reason(
        "a Function's own derivative: {what}",
        "A backward is read with its forward, and becomes a graph from one gradient to one for "
        "each tensor: it computes, and does nothing else.",
        "Return one new tensor, and let backward be a formula; what else it does belongs into a "
        "hook.",
        "only the recording runs in Python, the forward is compiled, and backward is eager.",
    ),
    "unknown-method": Reason(
        "Tensor.{name}",
        "Capture has no rule for this attribute of a tensor.",
        "Use an operator that computes the same.",
        _AROUND,
    ),
    "deep-recursion": Reason(
        "more than {limit} nested calls",
        "Every call is unrolled into the graph, and a recursion this deep gives a program nobody "
        "wants to compile.",
        "Use a loop, or compile the function that one level runs.",
    ),
    "too-long": Reason(
        "more than {limit} instructions were unrolled",
        "Loops over Python values are unrolled into the graph; this one makes it too long.",
        "Work on whole tensors instead of looping over elements, or compile the body of the loop.",
    ),
    "unused-check": Reason(
        "{name} whose result is not used",
        "Eagerly it raises for some values: a divisor of 0, an index that does not exist. A graph "
        "drops what nobody uses, errors included.",
        "Use the result, or remove the call.",
    ),
    "no-derivative": Reason(
        "{name} of a tensor that requires grad",
        "{name} has no derivative. Eagerly that is an error once somebody asks for the gradient; a "
        "graph is differentiated before anybody asks.",
        "Compute under torch.no_grad() what needs no gradient, in the function or around its call.",
    ),
    # ---- Python that has no rule
    "generator": Reason(
        "{name} is a generator or a coroutine that capture does not follow",
        "Capture goes through generators that begin and end within a region. Where one is in use "
        "while capture stops, and where one is compiled itself, CPython runs it.",
        "Return a list or a tuple instead of yielding.",
    ),
    "iterator": Reason(
        "the next item of {name}",
        "It was made where capture did not see it, and tells its items only by giving them away.",
        "Pass a list or a tuple, or make the iterator in the function.",
        _AROUND,
    ),
    "last-reference": Reason(
        "the last reference to {name} goes",
        "It is told, and what it does then comes before what the program does next. Captured code "
        "makes its changes at the end of a region.",
        "Hold it until the compiled function has returned, or give it a method that closes it.",
        _AROUND,
    ),
    "opcode": Reason(
        "Python instruction {name}",
        "Capture has no rule for this instruction.",
        "Write the expression or statement in another way.",
        _AROUND,
    ),
    "operation": Reason(
        "{what}",
        "Capture has no rule for this operation on these types.",
        "Use tensors, numbers, texts, tuples, lists or dicts here.",
        _AROUND,
    ),
    "attribute": Reason(
        "attribute {name!r} of {what}",
        "Finding it runs code that capture cannot read (a descriptor in C, a metaclass), or it "
        "belongs to the interpreter.",
        "Read the attribute before the call and pass its value in.",
        _AROUND,
    ),
    "exception-caught": Reason(
        "an exception that was made before is raised inside of try or with",
        "Its traceback grows by the place where it is raised, so it is CPython that raises it.",
        "Make the exception where it is raised: raise ValueError(...).",
    ),
    "tensor-subclass": Reason(
        "{name} is a subclass of Tensor",
        "Its methods may be overridden, so operators on it need not mean what they mean on a "
        "Tensor.",
        "Pass a plain Tensor.",
    ),
    "inference-tensor": Reason(
        "{name} was made under inference_mode",
        "Such a tensor keeps no version, so it must not be recorded for a backward outside of "
        "inference_mode.",
        "Clone it first, or call the function under inference_mode.",
    ),
}
