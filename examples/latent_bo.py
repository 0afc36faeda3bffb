"""
Search in a latent space
========================

Bayesian optimisation among expressions, without leaving what the model knows.

Which expression is most like sin(x)·x + 2? A model of random expressions is fitted, a Gaussian process
learns how far each is from the target, and BoTorch proposes points z. Three ways keep it to where draws of
the model agree about what z decodes to: a penalty, a filter of what is proposed, and a constraint.

Takes BoTorch: ``pip install 'dissensus[latent]'``.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import torch
from botorch import fit_gpytorch_mll
from botorch.acquisition import LogExpectedImprovement
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood

from dissensus import Detector, SamplingSettings
from dissensus.inputs import Vocabulary
from dissensus.integrations.botorch import constraint, feasible_starts, keep, penalized
from dissensus.models import Sequences
from dissensus.posterior import SGHMC

TEXTS, EPOCHS, ROUNDS, PROPOSALS = 1500, 30, 4, 5
NEAREST = 1.0  # texts nearer to the target are left out, so that there is something to find
X = np.linspace(-5, 5, 200)
TARGET = np.sin(X) * X + 2


def expression(rng, depth=2):
    """A random expression: x, a number, a sine, a sum or a product."""
    kind = rng.integers(5) if depth else rng.integers(2)
    if kind == 0:
        return "x"
    if kind == 1:
        return str(rng.integers(1, 4))
    if kind == 2:
        return f"sin( {expression(rng, depth - 1)} )"
    return f"{expression(rng, depth - 1)} {'+*'[kind - 3]} {expression(rng, depth - 1)}"


def distance(text):
    """log(1 + mean squared difference from the target); None for what is no expression."""
    try:
        values = eval(text, {"sin": np.sin, "x": X})  # texts of eleven symbols, made here
        return float(np.log1p(np.mean((values - TARGET) ** 2)))
    except (SyntaxError, TypeError):
        return None


def main():
    """Fit, search, print."""
    warnings.filterwarnings("ignore", module="botorch")  # of line searches that end where values jump
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    texts = sorted({expression(rng) for _ in range(TEXTS)})
    texts = [text for text in texts if distance(text) > NEAREST]
    vocabulary = Vocabulary.of(texts)
    # One encoder for all chains: a point z then means the same to every draw.
    posterior = SamplingSettings.variant_1(
        SGHMC(), epochs=EPOCHS, burn_in=EPOCHS - 1, chains=3, batch_size=32, shared_inference=True
    )
    model = Sequences(
        vocabulary.length, len(vocabulary.symbols) + 1, latent_size=6, hidden=64, kl_weight=0.05
    )
    gate = Detector(
        model=model, embed=vocabulary, posterior=posterior, chains=3, statistic="mean-ll", samples=2
    ).fit(texts)
    space = gate.latent
    limit = space.limit(0.05)
    print(f"{space}\n95% of held-out texts disagree by at most {limit:.2f} nats")

    known = [str(text) for text in rng.choice(texts, 60, replace=False)]
    z, values = space.encode(known).double(), [distance(text) for text in known]
    bounds = torch.stack([torch.full((space.size,), -3.0), torch.full((space.size,), 3.0)]).double()
    print(f"best of {len(known)} known texts: {min(values):.2f}")
    for number in range(ROUNDS):
        y = -torch.tensor(values).double()[:, None]
        process = SingleTaskGP(
            z, (y - y.mean()) / y.std(), input_transform=Normalize(space.size, bounds=bounds)
        )
        fit_gpytorch_mll(ExactMarginalLogLikelihood(process.likelihood, process))
        improvement = LogExpectedImprovement(process, best_f=process.train_targets.max())
        starts = feasible_starts(
            space, limit, bounds, restarts=PROPOSALS, acquisition=improvement, seed=number
        )
        found, _ = optimize_acqf(
            penalized(improvement, space, limit),
            bounds,
            q=1,
            num_restarts=PROPOSALS,
            batch_initial_conditions=starts,
            return_best_only=False,
            options={"maxiter": 10},
        )
        proposals = keep(space, found[:, 0].detach(), limit)
        for point, text in zip(proposals, space.decode(proposals), strict=True):
            if text in known:
                continue
            known.append(text)
            value = distance(text)
            print(f"round {number + 1}: {text:32} {'no expression' if value is None else f'{value:.2f}'}")
            z = torch.cat([z, point[None]])
            values.append(max(values) if value is None else value)
    # The same as a constraint: BoTorch's optimiser keeps to it from starts that do.
    found, _ = optimize_acqf(
        improvement,
        bounds,
        q=1,
        num_restarts=1,
        batch_initial_conditions=starts[:1],
        nonlinear_inequality_constraints=[constraint(space, limit)],
        options={"maxiter": 10},
    )
    print(f"under the constraint: {space.decode(found)[0]}, {space.disagreement(found).item():.2f} nats")
    print(f"best: {min(values):.2f}")

    # Each text by its distance, in the order they were asked, and the best so far.
    figure, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
    axes.plot(values, ".", label="one text")
    axes.plot(np.minimum.accumulate(values), label="best so far")
    axes.axvspan(60, len(values), color="grey", alpha=0.15, lw=0, label="proposed by the search")
    axes.set(xlabel="texts", ylabel="distance from the target")
    axes.legend()
    figure.savefig("latent_bo.png", dpi=120)


if __name__ == "__main__":
    main()
