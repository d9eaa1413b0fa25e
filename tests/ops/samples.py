"""Sample inputs of every operator: one table, from which the tests of this folder and of `peers/`
run.

A row is (operator, arguments, keyword arguments); arrays are float64 unless the operator wants
others, and lie away from kinks and ties, so that numeric differentiation holds.  An operator
without a row fails `test_samples.py`.
"""

from __future__ import annotations

import numpy as np

from labcore import dtypes

SPREAD = np.array([[0.3, -1.2, 2.1], [-0.7, 0.9, 1.4]])  # no kinks, no ties
OTHER = np.array([[1.1, 0.47, -0.8], [2.2, -1.5, 0.62]])
POSITIVE = np.abs(SPREAD)
COLUMN, ROW, POINT = OTHER[:, :1].copy(), OTHER[0].copy(), np.array(1.7)
TRUE = SPREAD > 0.5
CUBE = np.sin(np.arange(12.0)).reshape(2, 3, 2)

CASES = [
    (name, (SPREAD,), {})
    for name in (
        "neg relu exp sin cos tanh sigmoid erf abs square reciprocal clone sum mean amax amin t "
        "flatten contiguous "
        "squeeze sign"
    ).split()
]
CASES += [(name, (POSITIVE,), {}) for name in ("log", "sqrt", "rsqrt")]
CASES += [
    (name, pair, {})
    for name in "add sub mul div maximum minimum remainder".split()
    for pair in (
        (SPREAD, OTHER),
        (SPREAD, ROW),
        (COLUMN, SPREAD),
        (SPREAD, POINT),
        (SPREAD, 2.5),
        (2.5, SPREAD),
    )
]
CASES += [
    ("add", (SPREAD, ROW), {"alpha": 3}),
    ("sub", (SPREAD, ROW), {"alpha": 0.5}),
    ("pow", (POSITIVE, OTHER), {}),
    ("pow", (POSITIVE, ROW), {}),
    ("pow", (SPREAD, 3), {}),
    ("pow", (SPREAD, 2), {}),
    ("pow", (SPREAD, 0), {}),
    ("pow", (SPREAD, 1), {}),
    ("pow", (POSITIVE, 0.5), {}),
    ("pow", (2.0, SPREAD), {}),
    ("pow", (SPREAD, -1), {}),
    ("where", (TRUE, SPREAD, OTHER), {}),
    ("where", (TRUE, ROW, 2.0), {}),
    ("where", (TRUE[:, :1], 1.0, SPREAD), {}),
    ("clamp", (SPREAD, -0.5, 1.0), {}),
    ("clamp", (SPREAD,), {"min": 0.0}),
    ("clamp", (SPREAD,), {"max": 1.0}),
    ("clamp", (SPREAD, OTHER, ROW + 0.3), {}),
    ("clamp", (SPREAD, OTHER), {}),
    ("clamp", (SPREAD,), {"max": OTHER}),
    ("sum", (SPREAD, 1), {}),
    ("sum", (CUBE, (0, -1), True), {}),
    ("mean", (SPREAD, 0), {}),
    ("sum", (POINT,), {}),
    ("mean", (CUBE, (1, 2)), {}),
    ("amax", (CUBE, 1, True), {}),
    ("amin", (CUBE, (0, 2)), {}),
    ("amax", (POINT,), {}),
    ("view", (SPREAD, (3, 2)), {}),
    ("reshape", (SPREAD.T, (2, 3)), {}),
    ("_reshape_copy", (SPREAD.T, (2, 3)), {}),
    ("transpose", (CUBE, 0, -1), {}),
    ("permute", (CUBE, (2, 0, 1)), {}),
    ("expand", (COLUMN, (4, 2, 3)), {}),
    ("expand", (POINT, (2, 2)), {}),
    ("unsqueeze", (SPREAD, -1), {}),
    ("squeeze", (COLUMN, 1), {}),
    ("flatten", (CUBE, 1), {}),
    ("select", (CUBE, 1, -1), {}),
    ("slice", (CUBE, 1, 0, 3, 2), {}),
    ("slice", (CUBE,), {"dim": -1, "start": 1}),
    ("matmul", (SPREAD, OTHER.T.copy()), {}),
    ("matmul", (SPREAD, ROW), {}),
    ("matmul", (COLUMN[:, 0].copy(), SPREAD), {}),
    ("matmul", (ROW, ROW + 1), {}),
    ("matmul", (CUBE, SPREAD), {}),
    ("matmul", (SPREAD, CUBE), {}),
    ("matmul", (ROW, CUBE), {}),
    ("matmul", (CUBE, ROW[:2].copy()), {}),
    ("matmul", (CUBE[None], np.cos(np.arange(6.0)).reshape(1, 2, 3)), {}),
    ("cat", ([SPREAD, OTHER, COLUMN], 1), {}),
    ("cat", ([np.empty(0), SPREAD],), {}),
    ("stack", ([SPREAD, OTHER], -1), {}),
    ("select_scatter", (SPREAD, ROW, 0, -1), {}),
    ("slice_scatter", (CUBE, CUBE[:, ::2] + 1, 1, None, None, 2), {}),
    ("copy", (SPREAD, ROW), {}),
    ("_with_history", (SPREAD, OTHER), {}),
    ("_data", (SPREAD,), {}),
    ("to", (SPREAD, dtypes.float64), {}),
    ("_to_copy", (SPREAD, dtypes.float64), {}),
    ("_to_device", (SPREAD, "cpu"), {}),
]

PLACES = np.array([[0, 2, 1], [1, 1, 0]])
MASK = np.array([[True, False, True], [False, True, True]])
CLASSES = np.array([2, 0])
IMAGE = np.sin(np.arange(2 * 4 * 6 * 5) * 1.7).reshape(2, 4, 6, 5)
LINE = np.cos(np.arange(2 * 4 * 9) * 2.3).reshape(2, 4, 9)
INNER = SPREAD / 3
SQUARE = np.cos(np.arange(9.0) * 1.3).reshape(3, 3)
SCORES = np.sin(np.arange(24.0) * 0.9).reshape(2, 3, 4)
WHOLE = np.array([[3, -2, 5], [1, 4, -6]])


def filled(*shape, start=0.5):
    """Numbers between -1 and 1, none of them equal."""
    return np.sin(start + 1.37 * np.arange(float(np.prod(shape)))).reshape(shape)


QUERY, KEY, VALUE = filled(2, 3, 4), filled(2, 5, 4, start=1.1), filled(2, 5, 4, start=2.3)

CASES += [
    (name, (SPREAD,), {})
    for name in (
        "exp2 expm1 tan atan sinh cosh asinh floor ceil trunc _round isnan isinf isfinite round "
        "frac gelu silu softplus logsigmoid mish softsign tanhshrink leaky_relu elu selu "
        "hardtanh relu6 hardsigmoid hardswish logical_not any all ravel nan_to_num "
        "count_nonzero var std norm argmax argmin argsort zeros_like ones_like rand_like "
        "randn_like _stop_gradient detach prod"
    ).split()
]
CASES += [(name, (INNER,), {}) for name in ("asin", "acos", "atanh")]
CASES += [(name, (POSITIVE,), {}) for name in ("log2", "log10", "log1p")]
CASES += [("acosh", (POSITIVE + 1,), {})]
CASES += [
    (name, (SPREAD, OTHER), {})
    for name in (
        "eq ne lt le gt ge logical_and logical_or logical_xor floor_divide atan2 fmod logaddexp"
    ).split()
]
CASES += [
    (name, (WHOLE, np.array([1, 3, 6])), {})
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor")
]
CASES += [
    ("bitwise_not", (WHOLE,), {}),
    ("atan2", (SPREAD, ROW), {}),
    ("fmod", (SPREAD, 0.43), {}),
    ("xlogy", (SPREAD, POSITIVE), {}),
    ("xlogy", (SPREAD, 2.0), {}),
    ("_bent", (SPREAD, 1.0), {}),
    ("round", (SPREAD, 1), {}),
    ("round", (SPREAD * 100, -1), {}),
    ("clamp_min", (SPREAD, 0.1), {}),
    ("clamp_max", (SPREAD, 0.1), {}),
    ("full", ((2, 3), 1.5), {}),
    ("full_like", (SPREAD, 2.0), {}),
    ("zeros", ((2, 3),), {}),
    ("ones", ((2, 3),), {}),
    ("arange", (2, 9, 3), {}),
    ("eye", (3, 4), {}),
    ("rand", ((2, 3),), {}),
    ("randn", ((2, 3),), {}),
    # activations
    ("softmax", (SPREAD, 1), {}),
    ("softmax", (CUBE, 0), {}),
    ("softmax", (POINT, 0), {}),
    ("softmax", (CUBE.transpose(2, 0, 1), 1), {}),
    ("log_softmax", (SPREAD, -1), {}),
    ("log_softmax", (CUBE, 1), {}),
    ("softmin", (SPREAD, 1), {}),
    ("gelu", (SPREAD, "tanh"), {}),
    ("softplus", (SPREAD, 2, 1.5), {}),
    ("leaky_relu", (SPREAD, 0.3), {}),
    ("elu", (SPREAD, 0.7), {}),
    ("hardtanh", (SPREAD, -0.5, 1.0), {}),
    ("threshold", (SPREAD, 0.5, -2.0), {}),
    ("glu", (filled(3, 4),), {}),
    ("glu", (filled(2, 3), 0), {}),
    ("dropout", (SPREAD, 0.5, False), {}),
    ("dropout", (SPREAD, 0.0), {}),
    ("dropout", (SPREAD, 1.0), {}),
    # by index
    ("gather", (SPREAD, 1, PLACES), {}),
    ("gather", (SPREAD, 0, PLACES[:, :2] % 2), {}),
    ("gather", (CUBE[0], -2, PLACES[:, :2]), {}),
    ("scatter", (SPREAD, 1, PLACES[:1], OTHER), {}),
    ("scatter", (SPREAD, 1, PLACES, 2.5), {}),
    ("scatter_add", (SPREAD, 1, PLACES, OTHER), {}),
    ("scatter_add", (SPREAD, 0, PLACES[:1] % 2, OTHER), {}),
    ("index_select", (SPREAD, 1, np.array([2, 0, 2, 2])), {}),
    ("index_select", (CUBE, 0, np.array([1])), {}),
    ("index_add", (SPREAD, 1, np.array([2, 0, 2]), OTHER), {}),
    ("index_add", (SPREAD, 0, np.array([1]), OTHER[:1]), {"alpha": 2}),
    ("embedding", (PLACES, SQUARE), {}),
    ("embedding", (PLACES[1], SQUARE, 2), {}),
    ("take_along_dim", (SPREAD, PLACES, 1), {}),
    ("take_along_dim", (SPREAD, PLACES), {}),
    ("repeat_interleave", (SPREAD, 2), {}),
    ("repeat_interleave", (CUBE, 3, 1), {}),
    ("one_hot", (PLACES, 4), {}),
    ("_one_hot_classes", (PLACES, 4), {}),
    ("masked_fill", (SPREAD, MASK, -1.5), {}),
    ("masked_fill", (SPREAD, MASK[:, :1], 7), {}),
    ("_index", (CUBE, (None, PLACES[0], None)), {}),
    ("_index", (CUBE, (PLACES % 2, None, PLACES[:1] % 2)), {}),
    ("_index_put", (CUBE, (None, PLACES[1], None), filled(2, 3, 2), True), {}),
    ("_index_put", (CUBE, (None, PLACES[0], None), filled(2)), {}),
    # folds
    ("var", (SPREAD, 1), {"correction": 0}),
    ("var", (CUBE, (0, 2), False, True), {}),
    ("std", (SPREAD, 0, False), {}),
    ("std", (CUBE, (1, 2)), {"keepdim": True}),
    ("prod", (CUBE, 1), {}),
    ("prod", (SPREAD * np.array([1, 0, 1]), 1, True), {}),
    ("logsumexp", (SPREAD, 1), {}),
    ("logsumexp", (CUBE, (0, 2), True), {}),
    ("norm", (SPREAD, 1, 1), {}),
    ("norm", (CUBE, 2, (0, 2), True), {}),
    ("norm", (SPREAD, float("inf"), 0), {}),
    ("norm", (SPREAD, float("-inf")), {}),
    ("norm", (SPREAD, 3, 1), {}),
    ("norm", (SPREAD, 0), {}),
    ("normalize", (SPREAD,), {}),
    ("cosine_similarity", (SPREAD, OTHER), {}),
    ("layer_norm", (SPREAD, (3,)), {}),
    ("layer_norm", (CUBE, (3, 2), filled(3, 2), filled(3, 2, start=2)), {}),
    ("rms_norm", (SPREAD, (3,), ROW), {}),
    ("group_norm", (IMAGE, 2, filled(4), filled(4, start=2)), {}),
    ("batch_norm", (IMAGE, filled(4), POSITIVE.ravel()[:4], filled(4), filled(4, start=2)), {}),
    ("batch_norm", (LINE, None, None, filled(4), None, True), {}),
    ("cumsum", (SPREAD, 1), {}),
    ("cumsum", (CUBE, 0), {}),
    ("_cumsum_back", (SPREAD, 1), {}),
    ("_cumsum_back", (CUBE, 0), {}),
    ("cumprod", (SPREAD, 1), {}),
    ("cumprod", (SPREAD * np.array([1, 0, 1]), 1), {}),
    ("logcumsumexp", (SPREAD, 1), {}),
    ("_product_of_others", (SPREAD, 1), {}),
    ("_cumprod_backward", (SPREAD, OTHER, 1), {}),
    ("argmax", (CUBE, 1), {}),
    ("argmin", (CUBE, -1, True), {}),
    ("argsort", (CUBE, 0, True), {}),
    ("_argtopk", (CUBE, 2, 1), {}),
    ("flip", (CUBE, (0, 2)), {}),
    ("count_nonzero", (SPREAD, 0), {}),
    # products
    ("linear", (SPREAD, SQUARE, ROW), {}),
    ("linear", (filled(2, 2, 3), SQUARE[:2]), {}),
    ("mm", (SPREAD, SQUARE), {}),
    ("bmm", (filled(2, 3, 4), filled(2, 4, 2)), {}),
    ("mv", (SPREAD, ROW), {}),
    ("dot", (ROW, ROW + 1), {}),
    ("outer", (ROW, POSITIVE[0]), {}),
    ("addmm", (ROW, SPREAD, SQUARE), {}),
    ("addmm", (ROW, SPREAD, SQUARE), {"beta": 0.5, "alpha": 2}),
    ("addmv", (filled(2), SPREAD, ROW), {}),
    ("baddbmm", (filled(2, 3, 2), filled(2, 3, 4), filled(2, 4, 2)), {}),
    ("addcmul", (SPREAD, OTHER, ROW), {"value": 0.5}),
    ("addcdiv", (SPREAD, OTHER, ROW), {}),
    ("lerp", (SPREAD, OTHER, 0.3), {}),
    ("lerp", (SPREAD, OTHER, POSITIVE), {}),
    ("tensordot", (CUBE, filled(3, 2, 4)), {}),
    ("tensordot", (CUBE, filled(4, 3), ([1], [1])), {}),
    ("scaled_dot_product_attention", (QUERY, KEY, VALUE), {}),
    ("scaled_dot_product_attention", (QUERY, KEY, VALUE), {"is_causal": True}),
    ("scaled_dot_product_attention", (QUERY, KEY, VALUE, filled(3, 5)), {"scale": 0.3}),
    ("scaled_dot_product_attention", (QUERY, KEY, VALUE, filled(3, 5) > -0.5), {}),
    # shapes
    ("narrow", (SPREAD, 1, 1, 2), {}),
    ("movedim", (CUBE, 0, -1), {}),
    ("movedim", (CUBE, (0, 1), (1, 2)), {}),
    ("swapaxes", (CUBE, 0, 2), {}),
    ("broadcast_to", (COLUMN, (4, 2, 3)), {}),
    ("unflatten", (SPREAD, 1, (3, 1)), {}),
    ("repeat", (SPREAD, (2, 1, 3)), {}),
    ("tile", (CUBE, (2,)), {}),
    ("roll", (SPREAD, 2), {}),
    ("roll", (CUBE, (1, -1), (0, 1)), {}),
    ("diff", (SPREAD,), {}),
    ("diff", (CUBE, 2, 1), {}),
    ("triu", (SQUARE, 1), {}),
    ("tril", (CUBE, -1), {}),
    ("trace", (SQUARE,), {}),
    # windows
    ("unfold", (SPREAD, 1, 2, 1), {}),
    ("unfold", (LINE, -1, 3, 2, 2), {}),
    ("_fold_windows", (filled(2, 3, 4), 11, 1, 2, 2), {}),
    ("_pad", (SPREAD, (1, 2), 0.5), {}),
    ("_pad", (CUBE, (-1, 1, 0, 2)), {}),
    ("pad", (SPREAD, (1, 2)), {}),
    ("pad", (LINE, (2, 3), "reflect"), {}),
    ("pad", (LINE, (2, 3), "replicate"), {}),
    ("pad", (LINE, (2, 3), "circular"), {}),
    ("conv1d", (LINE, filled(3, 4, 3), filled(3)), {"stride": 2, "padding": 1}),
    ("conv2d", (IMAGE, filled(3, 4, 3, 2), filled(3)), {}),
    ("conv2d", (IMAGE, filled(6, 2, 3, 3)), {"groups": 2, "padding": (1, 2), "stride": (2, 1)}),
    ("conv2d", (IMAGE[0], filled(3, 4, 3, 2)), {"dilation": (1, 2), "padding": "same"}),
    ("conv3d", (filled(1, 2, 4, 3, 3), filled(2, 2, 2, 2, 2)), {}),
    ("im2col", (IMAGE, (3, 2)), {"padding": 1, "stride": 2}),
    ("max_pool1d", (LINE, 3, 2), {"padding": 1}),
    ("max_pool2d", (IMAGE, 2), {}),
    ("max_pool2d", (IMAGE, (3, 2), (2, 1)), {"padding": 1, "dilation": (1, 2), "ceil_mode": True}),
    ("avg_pool1d", (LINE, 4), {"ceil_mode": True}),
    ("avg_pool2d", (IMAGE, 2), {}),
    ("avg_pool2d", (IMAGE, 3, 2), {"padding": 1, "count_include_pad": False}),
    ("avg_pool2d", (IMAGE, 3, 2, 1, True), {}),
    ("adaptive_avg_pool2d", (IMAGE, (3, 2)), {}),
    # losses
    ("mse_loss", (SPREAD, OTHER), {}),
    ("mse_loss", (SPREAD, OTHER), {"reduction": "none"}),
    ("l1_loss", (SPREAD, OTHER), {"reduction": "sum"}),
    ("smooth_l1_loss", (SPREAD, OTHER), {"beta": 0.5}),
    ("huber_loss", (SPREAD, OTHER), {"delta": 0.7}),
    ("binary_cross_entropy", (POSITIVE / 3, POSITIVE[::-1] / 3), {}),
    ("binary_cross_entropy_with_logits", (SPREAD, POSITIVE / 3), {}),
    ("binary_cross_entropy_with_logits", (SPREAD, POSITIVE / 3), {"pos_weight": POSITIVE[0]}),
    ("kl_div", (SPREAD, POSITIVE), {"reduction": "batchmean"}),
    ("kl_div", (SPREAD, OTHER), {"log_target": True}),
    ("poisson_nll_loss", (SPREAD, POSITIVE), {"full": True}),
    ("gaussian_nll_loss", (SPREAD, OTHER, POSITIVE), {"full": True}),
    ("nll_loss", (SPREAD, CLASSES), {}),
    ("nll_loss", (SPREAD, CLASSES, POSITIVE[0]), {"reduction": "none"}),
    ("nll_loss", (ROW, np.array(1)), {}),
    ("_classes", (CLASSES, 3, -100), {}),
    ("cross_entropy", (SPREAD, CLASSES), {}),
    ("cross_entropy", (SPREAD, CLASSES, POSITIVE[0]), {"ignore_index": 0}),
    ("cross_entropy", (SPREAD, CLASSES, POSITIVE[0]), {"label_smoothing": 0.2}),
    ("cross_entropy", (SPREAD, POSITIVE), {"reduction": "sum", "label_smoothing": 0.1}),
    ("cross_entropy", (CUBE, PLACES[:, :2] % 3), {}),
]
