"""Deep Ensembles, where PyTorch is installed, by the recipe of their own paper.

Five networks of one hidden layer (50 units, of the largest tables 100) predict mean and variance. Each is trained for
40 epochs of batches of 100 rows by Adam at a rate of 0.1, on rows and on rows moved against it by a hundredth of the
range of each column (adversarial training). Features and target are standardised.
"""

from typing import Any

import numpy as np

from epiboost._optional import require
from epiboost._posterior.posterior import Posterior
from epiboost._typing import AnyArray, Floats
from epiboost.paper.methods.clock import Clock
from epiboost.paper.methods.measures import measure
from epiboost.paper.problem import Fold

_NETWORKS, _EPOCHS, _BATCH, _RATE, _MOVE = 5, 40, 100, 0.1, 0.01
_UNITS, _MORE_UNITS, _MANY_ROWS = 50, 100, 30_000
_LEAST_VARIANCE = 1e-6


def deep_ensembles(fold: Fold, seed: int, clock: Clock) -> dict[str, Any]:
    """Train the networks on the training part and judge them."""
    units = _MORE_UNITS if len(fold.y) > _MANY_ROWS else _UNITS
    with clock("deep_ensembles"):
        networks = Networks(fold.X, fold.y, units=units, seed=seed)
    with clock("judge"):
        inside = Posterior(networks.predict(fold.X_test), "normal")
        outside = None if fold.X_out is None else Posterior(networks.predict(fold.X_out), "normal")
        figures = measure(inside, outside, fold)
    return {"chosen": {"units": units, "epochs": _EPOCHS}, "results": {"deep_ensembles": figures}}


class Networks:
    """Networks that are trained side by side, as one batched product."""

    def __init__(self, X: Floats, y: AnyArray, *, units: int, seed: int, epochs: int = _EPOCHS) -> None:
        self.torch: Any = require("torch", extra="deep", purpose="running Deep Ensembles")
        spread = X.std(axis=0)
        self.columns = X.mean(axis=0), np.where(spread > 0, spread, 1.0)
        self.target = float(np.mean(y)), float(np.std(y))
        self.random = self.torch.Generator().manual_seed(seed)
        self.weights = [
            self._drawn((X.shape[1], units), X.shape[1]),
            self._drawn((1, units), None),
            self._drawn((units, 2), units),
            self._drawn((1, 2), None),
        ]
        self._train(self._rows(X), self._tensor((y - self.target[0]) / self.target[1]), epochs)

    def predict(self, X: Floats) -> Floats:
        """Return means and variances, shape (networks, rows, 2)."""
        with self.torch.no_grad():
            mean, variance = self._outputs(self._rows(X).expand(_NETWORKS, -1, -1))
        location, scale = self.target
        return np.stack([location + scale * mean.numpy(), scale**2 * variance.numpy()], axis=-1).astype(np.float64)

    def _train(self, rows: Any, y: Any, epochs: int) -> None:  # noqa: ANN401 (tensors)
        optimizer = self.torch.optim.Adam(self.weights, lr=_RATE)
        move = _MOVE * (rows.max(0).values - rows.min(0).values)
        for _ in range(epochs):
            orders = [self.torch.randperm(len(rows), generator=self.random) for _ in range(_NETWORKS)]
            for batch in self.torch.stack(orders).split(_BATCH, dim=1):
                own = rows[batch].requires_grad_()
                loss = self._loss(own, y[batch])
                (slope,) = self.torch.autograd.grad(loss, own, retain_graph=True)
                moved = (own + move * slope.sign()).detach()
                optimizer.zero_grad()
                (loss + self._loss(moved, y[batch])).backward()
                optimizer.step()

    def _loss(self, rows: Any, y: Any) -> Any:  # noqa: ANN401 (tensors)
        """Return the mean negative log-likelihood of each network, added up: networks do not share weights."""
        mean, variance = self._outputs(rows)
        return (0.5 * self.torch.log(variance) + 0.5 * (y - mean) ** 2 / variance).mean(dim=1).sum()

    def _outputs(self, rows: Any) -> tuple[Any, Any]:  # noqa: ANN401 (tensors)
        first, shift, second, offset = self.weights
        outputs = self.torch.relu(rows @ first + shift) @ second + offset
        return outputs[..., 0], self.torch.nn.functional.softplus(outputs[..., 1]) + _LEAST_VARIANCE

    def _drawn(self, shape: tuple[int, int], inputs: int | None) -> Any:  # noqa: ANN401 (a tensor)
        """Return weights of variance one over the inputs, or zeros."""
        if inputs is None:
            return self.torch.zeros(_NETWORKS, *shape, requires_grad=True)
        drawn = self.torch.randn(_NETWORKS, *shape, generator=self.random) / inputs**0.5
        return drawn.requires_grad_()

    def _rows(self, X: Floats) -> Any:  # noqa: ANN401 (a tensor)
        return self._tensor((X - self.columns[0]) / self.columns[1])

    def _tensor(self, values: AnyArray) -> Any:  # noqa: ANN401 (a tensor)
        return self.torch.tensor(np.asarray(values), dtype=self.torch.float32)
