"""Monotone transforms of a target: the logarithm, Box–Cox, Yeo–Johnson and functions of the user.

A transform maps the target y to z, which the regressor is trained on. Exponents of Box–Cox and Yeo–Johnson are the most
likely ones between 0 and 2: outside, z is bounded on the side of a long tail, and the mean of y would be infinite.

>>> log = Transform("log")
>>> log.forward(np.array([1.0, np.e])), log.inverse(np.array([0.0, 1.0])).round(3)
(array([0., 1.]), array([1.   , 2.718]))
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import special

from epiboost._typing import Floats

NAMED = ("log", "box-cox", "yeo-johnson")
Function = Callable[[Floats], Floats]

_MAX_EXPONENT = 2.0
_TOLERANCE = 1e-6  # of the inverse, relative to the spread of the target
_STEP = 6e-6  # cube root of the rounding error: best for central differences
_REACH, _GRID, _BISECTIONS = 20.0, 200, 50  # spreads of z, places on them
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True)
class Transform:
    """A monotone transform.

    Attributes
    ----------
    name : {"log", "box-cox", "yeo-johnson", "functions"}
    exponent : float
        Of Box–Cox and Yeo–Johnson; 0 and 1 are the logarithm and no change of positive numbers.
    functions : pair of callables, optional
        A function and its inverse.
    increasing : bool
        Whether z increases with y.
    limits : pair of float
        Smallest and largest z of functions, within which the second is the inverse of the first: z of a square root
        is not below 0, nor is that of ``log1p`` for a target that never is. What a Normal has beyond counts as these.
    """

    name: str
    exponent: float = 0.0
    functions: tuple[Function, Function] | None = None
    increasing: bool = True
    limits: tuple[float, float] = (-np.inf, np.inf)

    @classmethod
    def fit(cls, transform: str | tuple[Function, Function], y: Floats, weight: Floats) -> Self:
        """Return the transform of a target; a ValueError if it is unknown or does not suit the target."""
        if isinstance(transform, str):
            if transform not in NAMED:
                message = f"function must be one of {NAMED} or a pair (function, inverse), got {transform!r}"
                raise ValueError(message)
            if transform != "yeo-johnson" and not (smallest := y.min()) > 0.0:
                message = (
                    f"function={transform!r} is for numbers above 0; y holds {smallest:g}; 'yeo-johnson' takes any"
                )
                raise ValueError(message)
            return cls(transform) if transform == "log" else cls._most_likely(transform, y, weight)
        if not (isinstance(transform, tuple | list) and len(transform) == 2 and all(map(callable, transform))):  # noqa: PLR2004
            message = f"function must be one of {NAMED} or a pair (function, inverse), got {transform!r}"
            raise ValueError(message)
        functions = (transform[0], transform[1])
        return cls("functions", 0.0, functions, _check_functions(functions, y), _limits(functions, y))

    @classmethod
    def _most_likely(cls, name: str, y: Floats, weight: Floats) -> Self:
        """Return the exponent at which a Normal of the transformed target is most likely."""
        from scipy.optimize import minimize_scalar  # noqa: PLC0415 (slow to import)

        share = weight / weight.sum()

        def loss(exponent: float) -> float:
            transform = cls(name, exponent)
            z = transform.forward(y)
            variance = float(share @ np.square(z - share @ z))
            return 0.5 * float(np.log(max(variance, _TINY))) - float(share @ transform.log_slope(y))

        with np.errstate(over="ignore", invalid="ignore"):
            found = minimize_scalar(loss, bounds=(0.0, _MAX_EXPONENT), method="bounded", options={"xatol": 1e-4})
        return cls(name, float(np.round(found.x, 3)))

    def forward(self, y: Floats) -> Floats:
        """Return z; minus infinity at or below the lower end of the possible y."""
        if self.functions is not None:
            ends = self._possible
            lowest = -np.inf if self.increasing else np.inf
            with np.errstate(all="ignore"):
                z = np.asarray(self.functions[0](np.clip(y, *ends)), dtype=np.float64)
            return np.where(y < ends[0], lowest, np.where(y > ends[1], -lowest, z))
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.name == "yeo-johnson":
                size = np.abs(y)
                power = np.where(y >= 0.0, self.exponent, 2.0 - self.exponent)
                return np.asarray(np.sign(y) * np.asarray(special.boxcox1p(size, power)))
            floor = -1.0 / self.exponent if self.exponent else -np.inf
            return np.where(y > 0.0, special.boxcox(np.maximum(y, 0.0), self.exponent), floor)

    @property
    def _possible(self) -> tuple[float, float]:
        """Smallest and largest y of functions."""
        ends = self.inverse(np.array(self.limits))
        return float(ends.min()), float(ends.max())

    def inverse(self, z: Floats) -> Floats:
        """Return y; zero below the smallest z that Box–Cox can have."""
        if self.functions is not None:
            with np.errstate(all="ignore"):
                return np.asarray(self.functions[1](np.clip(z, *self.limits)), dtype=np.float64)
        with np.errstate(over="ignore"):
            if self.name == "yeo-johnson":
                size = np.abs(z)
                power = np.where(z >= 0.0, self.exponent, 2.0 - self.exponent)
                return np.asarray(np.sign(z) * special.inv_boxcox1p(size, power))
            if not self.exponent:
                return np.asarray(np.exp(z))
            return np.asarray(special.inv_boxcox(np.maximum(z, -1.0 / self.exponent), self.exponent))

    def log_slope(self, y: Floats) -> Floats:
        """Return the logarithm of |dz / dy|, the Jacobian; minus infinity where y is not possible."""
        with np.errstate(all="ignore"):
            if self.name == "yeo-johnson":
                return np.asarray(np.sign(y) * (self.exponent - 1.0) * np.log1p(np.abs(y)))
            if self.functions is None:
                return np.where(y > 0.0, (self.exponent - 1.0) * np.log(np.maximum(y, _TINY)), -np.inf)
            z = self.forward(y)  # by the inverse, which is defined on both sides of z
            step = _STEP * np.maximum(np.abs(z), 1.0)
            above, below = np.clip(z + step, *self.limits), np.clip(z - step, *self.limits)
            slope = (self.inverse(above) - self.inverse(below)) / (above - below)
            return np.where(np.isfinite(slope) & (slope != 0.0), -np.log(np.abs(slope)), -np.inf)

    def to_header(self) -> dict[str, Any]:
        """Return what a model file keeps; a ValueError for functions that have no name."""
        header: dict[str, Any] = {"name": self.name, "exponent": self.exponent, "increasing": self.increasing}
        if self.functions is not None:
            header["limits"] = list(self.limits)
            header["functions"] = [_name_of(function) for function in self.functions]
        return header

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> Self:
        """Return the transform that `to_header` described; a ValueError if it is not possible."""
        names = header.get("functions")
        if header["name"] not in (*NAMED, "functions") or (names is None) is (header["name"] == "functions"):
            message = f"unknown transform {header['name']!r}"
            raise ValueError(message)
        exponent = float(header["exponent"])
        if not 0.0 <= exponent <= _MAX_EXPONENT:
            message = f"exponents are between 0 and {_MAX_EXPONENT:g}, got {exponent}"
            raise ValueError(message)
        functions = None if names is None else (_ufunc(names[0]), _ufunc(names[1]))
        if functions is None:
            return cls(header["name"], exponent)
        lowest, highest = map(float, header["limits"])
        if not lowest < highest:
            message = f"limits must be in order, got {header['limits']}"
            raise ValueError(message)
        return cls(header["name"], exponent, functions, bool(header["increasing"]), (lowest, highest))


def _limits(functions: tuple[Function, Function], y: Floats) -> tuple[float, float]:
    """Return the z on either side of the target's up to which the second function is the inverse of the first."""
    function, inverse = functions
    z = np.asarray(function(y), dtype=np.float64)
    lowest, highest = float(z.min()), float(z.max())
    reach = _REACH * (max(highest - lowest, 1e-3 * max(abs(lowest), abs(highest))) or 1.0)
    # log1p is taken for numbers from 0 on, and has values down to -1
    least = 0.0 if function is np.log1p and y.min() >= 0.0 else -np.inf

    ends = np.asarray(inverse(np.array([lowest, highest])), dtype=np.float64)
    direction = float(np.sign(ends[1] - ends[0])) or 1.0

    def is_inverse(place: float) -> bool:
        with np.errstate(all="ignore"):
            y_there = np.asarray(inverse(np.array([place])), dtype=np.float64)
            back = float(np.asarray(function(y_there), dtype=np.float64)[0])
        moved = direction * (float(y_there[0]) - ends[0 if place <= lowest else 1])
        is_monotone = moved <= 0.0 if place <= lowest else moved >= 0.0
        return is_monotone and abs(back - place) <= _TOLERANCE * reach

    return _farthest(is_inverse, lowest, max(lowest - reach, least)), _farthest(is_inverse, highest, highest + reach)


def _farthest(holds: Callable[[float], bool], start: float, end: float) -> float:
    """Return the place farthest from the start, up to the end, as far as something holds on a grid; by bisection."""
    good = start
    for place in np.linspace(start, end, _GRID).tolist():
        if not holds(place):
            end = place
            break
        good = place
    else:
        return end
    for _ in range(_BISECTIONS):
        middle = 0.5 * (good + end)
        good, end = (middle, end) if holds(middle) else (good, middle)
    return good


def _check_functions(functions: tuple[Function, Function], y: Floats) -> bool:
    """Return whether a function increases; a ValueError if it is not monotone, or the other is not its inverse."""
    function, inverse = functions
    ordered = np.unique(y)
    try:
        with np.errstate(all="ignore"):
            z = np.asarray(function(ordered), dtype=np.float64)
            back = np.asarray(inverse(z), dtype=np.float64)
    except (TypeError, ValueError) as error:
        message = f"the functions of the transform must take and return arrays of numbers: {error}"
        raise ValueError(message) from error
    if z.shape != ordered.shape or back.shape != ordered.shape:
        message = f"the functions of the transform must return one number per number, got {z.shape} for {ordered.shape}"
        raise ValueError(message)
    if not np.isfinite(z).all():
        message = f"the function of the transform must be finite for all y, it is {z[~np.isfinite(z)][0]} at "
        raise ValueError(message + f"{ordered[~np.isfinite(z)][0]:g}")
    steps = np.diff(z)
    if not ((steps > 0.0).all() or (steps < 0.0).all()):
        message = "the function of the transform must be strictly monotone on the values of y, and it is not"
        raise ValueError(message)
    spread = max(float(np.ptp(ordered)), float(np.abs(ordered).max()) * 1e-3)
    worst = int(np.abs(back - ordered).argmax()) if np.isfinite(back).all() else int(np.argmin(np.isfinite(back)))
    if not np.abs(back[worst] - ordered[worst]) <= _TOLERANCE * spread:
        message = (
            f"the second function of the transform is not the inverse of the first: {ordered[worst]:g} becomes "
            f"{z[worst]:g}, and that {back[worst]:g}"
        )
        raise ValueError(message)
    return bool(len(steps) == 0 or steps[0] > 0.0)


def _name_of(function: Function) -> str:
    for package, module in (("numpy", np), ("scipy.special", special)):
        name = getattr(function, "__name__", "")
        if isinstance(function, np.ufunc) and getattr(module, name, None) is function:
            return f"{package}.{name}"
    message = (
        f"a model file holds no code, and this transform has {function!r}; use one of {NAMED} or functions of "
        "NumPy or scipy.special, as (numpy.sqrt, numpy.square), or pickle the model"
    )
    raise ValueError(message)


def _ufunc(path: str) -> Function:
    package, _, name = str(path).rpartition(".")
    function = getattr({"numpy": np, "scipy.special": special}.get(package), name, None)
    if not isinstance(function, np.ufunc):
        message = f"{path!r} is no function of NumPy or scipy.special"
        raise ValueError(message)  # noqa: TRY004 (of a file)
    return function
