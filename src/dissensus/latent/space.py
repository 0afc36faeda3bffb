"""The latent space of a fitted model: where it knows what it decodes to, and where it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dissensus.decisions import conformal_p_values, conformal_threshold
from dissensus.errors import DataError, SettingsError
from dissensus.latent.aggregated_posterior import aggregated_posterior
from dissensus.latent.annulus import annulus
from dissensus.latent.by_point import by_point
from dissensus.latent.codes import LatentCodes, encodings
from dissensus.latent.forms import Expectation, Information, models_of, most_probable
from dissensus.latent.one_space import shared_space
from dissensus.latent.points import list_of_size, points_of_size
from dissensus.models import LatentModel
from dissensus.posterior import WeightDraws
from dissensus.seeding import torch_stream

__all__ = ["Form", "LatentSpace"]

Form: TypeAlias = Literal["information", "expectation"]
NEIGHBOURS = 100
EXPECTED_TILE = 8  # points at once, each of which becomes L inputs
PROPOSED = 256  # points of the prior at once
MOST_IN_VAIN, MOST_TRIES = 64 * PROPOSED, 256  # without any that is kept; for each that is wanted


class LatentSpace:
    """Answers to questions about points z (n, Z), tensors in and tensors out, on the device z is on.

    Values depend on z alone, not on the points beside it, and are differentiable in z where it says so: all
    noise is fixed by the seed. Points may have any shape (..., Z); answers then have the shape (...).

    Every chain has a latent space of its own. Draws that share an encoder are taken all; else those of one
    chain, ``chain`` or the one that gives held-out inputs the highest likelihood. ``words`` says which.
    """

    def __init__(
        self,
        model: LatentModel,
        draws: WeightDraws,
        *,
        codes: LatentCodes | None = None,
        chain: int | None = None,
        seed: int = 0,
        device: torch.device | str = "cpu",
        one_a_call: bool = False,
        read: Callable[[Any], Tensor] | None = None,
        shown: Callable[[Tensor], Any] | None = None,
    ) -> None:
        shared = shared_space(model, draws, chain)
        self.model, self.draws = model, draws.select(shared.draws)
        self.chain, self.words, self.size = shared.chain, shared.words, int(model.latent_size)
        self.codes, self.seed, self.device = codes, seed, torch.device(device)
        self.one_a_call = one_a_call
        """Where networks round a point by its place among others, so that one is asked at a time."""
        self._read, self._shown = read, shown
        self._models = models_of(model, self.draws, self.device)
        self._held_out: dict[str, NDArray[np.float64]] = {}

    def __repr__(self) -> str:
        return f"LatentSpace({self.size} dimensions, {self.words})"

    # ---- there and back

    def encode(self, X: Any) -> Tensor:
        """The codes (N, Z) of inputs: the means of q(z|x). Accepts what ``fit`` takes."""
        data = X if self._read is None else self._read(X)
        return encodings(self.model, self.draws, [data], self.device)[0]

    @torch.no_grad()
    def decode(self, z: Any, *, draw: int | None = None) -> Any:
        """What points (n, Z) stand for, as all draws see them together or as one does.

        Texts are written by the mixture of draws, always with the most probable symbol. Pictures and rows are
        the mean, in the inputs' own units, and by default that of the last draw.
        """
        points = list_of_size(z, self.size)
        if draw is not None and not -len(self._models) <= draw < len(self._models):
            raise SettingsError(
                f"draw={draw}: this space has {len(self._models)} draws, counted from 0: choose one of them"
            )
        asked = self._models if draw is None else [self._models[draw]]
        found = most_probable(asked, points.to(self.device, torch.float32))
        return found if self._shown is None else self._shown(found)

    def sample(self, n: int, *, max_disagreement: float | None = None, seed: int = 0) -> Tensor:
        """Points (n, Z) of the prior N(0, I); with ``max_disagreement`` those of them that have no more."""
        if type(n) is not int or n < 1:
            raise SettingsError(f"n must be a whole number of at least 1, got {n!r}")
        generator, kept, tried, left = torch_stream(seed, "latent sample"), [], 0, n
        while left > 0:
            z = torch.randn(PROPOSED, self.size, generator=generator)
            tried += len(z)
            if max_disagreement is not None:
                z = z[self.disagreement(z) <= max_disagreement]
            kept.append(z[:left])
            left -= len(kept[-1])
            most = MOST_IN_VAIN if left == n else MOST_TRIES * max(n, PROPOSED)
            if left > 0 and tried >= most:
                raise SettingsError(
                    f"of {tried} points of the prior {n - left} have a disagreement of at most "
                    f"{max_disagreement:g}: allow more (limit(0.05) is what 95% of held-out codes keep to)"
                )
        return torch.cat(kept)

    # ---- how far from the data

    def disagreement(
        self, z: Any, *, form: Form = "information", inputs: int | None = None, samples: int = 16
    ) -> Tensor:
        """How much the draws disagree about what z decodes to, (n,), higher = less informed; differentiable.

        ``"information"`` is the cheap form: what an output tells of the draw that made it, in nats.
        ``"expectation"`` is the paper's, L · M · K decodings a point: the mean disagreement about
        L = ``inputs`` decoded inputs (32), each with K = ``samples``. Its gradient is the expectation's.
        """
        points = self._points(z)
        ask, tile = self._form(form, inputs, samples)
        values = by_point(ask, points.reshape(-1, self.size), tile=tile, device=self.device)
        return values.reshape(points.shape[:-1])

    def p_values(self, z: Any, *, form: Form = "information") -> Tensor:
        """The share of held-out codes with a disagreement at least as high, (n,), conformal.

        Uniform for codes drawn from q(z|x) of inputs like the training data, small where the space is
        uninformed. What :meth:`encode` gives, their means, has mostly high ones.
        """
        values = self.disagreement(z, form=form).detach()
        found = conformal_p_values(self._calibration(form), values.double().cpu().numpy().ravel())
        return torch.from_numpy(found).reshape(values.shape).to(values.device)

    def limit(self, false_alarm_rate: float = 0.05, *, form: Form = "information") -> float:
        """The disagreement that at most this share of codes exceeds, of inputs like the training data."""
        return conformal_threshold(self._calibration(form), false_alarm_rate)

    def annulus(self, z: Any) -> Tensor:
        """How far z is from the sphere where the prior has its mass, (n,); differentiable."""
        points = self._points(z)
        return annulus(points.reshape(-1, self.size)).reshape(points.shape[:-1]).to(points.dtype)

    def log_q(self, z: Any) -> Tensor:
        """log q(z), the density (n,) of the training inputs' codes by the 100 nearest; differentiable."""
        points, codes = self._points(z), self._codes()
        flat = points.reshape(-1, self.size)
        if not len(codes.means):
            raise DataError("no codes of training inputs were kept: fit with neighbours=True")
        means, log_stds = (torch.from_numpy(a).to(flat.device) for a in (codes.means, codes.log_stds))
        found = -aggregated_posterior(flat, means, log_stds, neighbours=min(NEIGHBOURS, len(means)))
        return found.reshape(points.shape[:-1]).to(points.dtype)

    # ---- parts

    def _points(self, z: Any) -> Tensor:
        return points_of_size(z, self.size)

    def _form(self, form: str, inputs: int | None, samples: int) -> tuple[Information | Expectation, int]:
        if form not in get_args(Form):
            raise SettingsError(f"form={form!r}: choose one of {', '.join(get_args(Form))}")
        for name, count in (("inputs", inputs), ("samples", samples)):
            if count is not None and (type(count) is not int or count < 1):
                raise SettingsError(f"{name} must be a whole number of at least 1, got {count!r}")
        if form == "information":
            own = {} if inputs is None else {"inputs": inputs}
            tile = 1 if self.one_a_call else self.model.observed_tile(self.device)
            return Information(self._models, seed=self.seed, **own), tile
        expectation = Expectation(
            self.model,
            self.draws,
            self._models,
            inputs=inputs or 32,
            samples=samples,
            seed=self.seed,
            one_a_call=self.one_a_call,
        )
        return expectation, 1 if self.one_a_call else EXPECTED_TILE

    def _codes(self) -> LatentCodes:
        if self.codes is None:
            raise DataError(
                "no codes of training inputs are kept with this latent space: ask gate.latent of a gate that "
                "was fitted with this version"
            )
        return self.codes

    def _calibration(self, form: Form) -> NDArray[np.float64]:
        if form not in self._held_out:
            with torch.no_grad():
                held_out = torch.from_numpy(self._codes().held_out)
                self._held_out[form] = self.disagreement(held_out, form=form).double().numpy()
        return self._held_out[form]
