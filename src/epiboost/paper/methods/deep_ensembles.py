"""Deep Ensembles with the protocol of their own paper; they need PyTorch.

Five networks with one hidden layer (50 units, 100 for large tables) predict mean and variance. Each is trained for 40
epochs on batches of 100 rows by Adam at a rate of 0.1, with adversarial training: on the rows, and on the same rows
shifted in the direction of the largest loss by one hundredth of each column's range. Features and target are
standardised.
"""

import numpy as np

from epiboost._optional import require
from epiboost._posterior.posterior import Posterior
from epiboost._typing import AnyArray, Floats, LibraryObject
from epiboost.paper.methods.evaluation import evaluate
from epiboost.paper.methods.inputs import EVALUATION, MethodInputs, MethodOutputs

_NETWORKS, _EPOCHS, _BATCH, _RATE, _ADVERSARIAL_SHIFT = 5, 40, 100, 0.1, 0.01
_UNITS, _UNITS_IF_LARGE, _LARGE = 50, 100, 30_000
_MIN_VARIANCE = 1e-6

Tensor = LibraryObject


def deep_ensembles(inputs: MethodInputs) -> MethodOutputs:
    """Train the networks on the training rows and evaluate them."""
    fold = inputs.fold
    units = _UNITS_IF_LARGE if len(fold.y) > _LARGE else _UNITS
    with inputs.timer("deep_ensembles"):
        networks = Networks(fold.X, fold.y, units=units, seed=inputs.seed)
    with inputs.timer(EVALUATION):
        posterior = Posterior(networks.predict(fold.X_test), "normal")
        posterior_ood = None if fold.X_ood is None else Posterior(networks.predict(fold.X_ood), "normal")
        scores = evaluate(posterior, posterior_ood, fold)
    return {"chosen": {"units": units, "epochs": _EPOCHS}, "results": {"deep_ensembles": scores}}


class Networks:
    """Independent networks, trained together as one batched matrix product."""

    def __init__(self, X: Floats, y: AnyArray, *, units: int, seed: int, epochs: int = _EPOCHS) -> None:
        self.torch: LibraryObject = require("torch", extra="deep", purpose="running Deep Ensembles")
        deviation = X.std(axis=0)
        self.columns = X.mean(axis=0), np.where(deviation > 0, deviation, 1.0)
        self.target = float(np.mean(y)), float(np.std(y))
        self.generator = self.torch.Generator().manual_seed(seed)
        self.weights = [
            self._initial_weights(X.shape[1], units),
            self._zeros(1, units),
            self._initial_weights(units, 2),
            self._zeros(1, 2),
        ]
        self._train(self._standardised(X), self._tensor((y - self.target[0]) / self.target[1]), epochs)

    def predict(self, X: Floats) -> Floats:
        """Return means and variances, of shape (networks, n_rows, 2)."""
        with self.torch.no_grad():
            mean, variance = self._outputs(self._standardised(X).expand(_NETWORKS, -1, -1))
        location, scale = self.target
        return np.stack([location + scale * mean.numpy(), scale**2 * variance.numpy()], axis=-1).astype(np.float64)

    def _train(self, rows: Tensor, y: Tensor, epochs: int) -> None:
        optimizer = self.torch.optim.Adam(self.weights, lr=_RATE)
        shift = _ADVERSARIAL_SHIFT * (rows.max(0).values - rows.min(0).values)
        for _ in range(epochs):
            orders = [self.torch.randperm(len(rows), generator=self.generator) for _ in range(_NETWORKS)]
            for batch in self.torch.stack(orders).split(_BATCH, dim=1):
                inputs = rows[batch].requires_grad_()
                loss = self._loss(inputs, y[batch])
                (gradient,) = self.torch.autograd.grad(loss, inputs, retain_graph=True)
                adversarial = (inputs + shift * gradient.sign()).detach()
                optimizer.zero_grad()
                (loss + self._loss(adversarial, y[batch])).backward()
                optimizer.step()

    def _loss(self, rows: Tensor, y: Tensor) -> Tensor:
        """Return the sum of the networks' mean negative log-likelihoods; networks do not share weights."""
        mean, variance = self._outputs(rows)
        return (0.5 * self.torch.log(variance) + 0.5 * (y - mean) ** 2 / variance).mean(dim=1).sum()

    def _outputs(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        first, first_bias, second, second_bias = self.weights
        outputs = self.torch.relu(rows @ first + first_bias) @ second + second_bias
        return outputs[..., 0], self.torch.nn.functional.softplus(outputs[..., 1]) + _MIN_VARIANCE

    def _initial_weights(self, inputs: int, outputs: int) -> Tensor:
        """Return random weights of variance 1 / inputs."""
        weights = self.torch.randn(_NETWORKS, inputs, outputs, generator=self.generator) / inputs**0.5
        return weights.requires_grad_()

    def _zeros(self, *shape: int) -> Tensor:
        return self.torch.zeros(_NETWORKS, *shape, requires_grad=True)

    def _standardised(self, X: Floats) -> Tensor:
        return self._tensor((X - self.columns[0]) / self.columns[1])

    def _tensor(self, values: AnyArray) -> Tensor:
        return self.torch.tensor(np.asarray(values), dtype=self.torch.float32)
