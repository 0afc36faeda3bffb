"""How a fit draws weights: as the person says, and as the model recommends where she says nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dissensus.detector.posterior import OwnPosterior, Posterior, posterior_in_words
from dissensus.detector.statistic import check_statistic
from dissensus.errors import SettingsError
from dissensus.models import AUTO, Recommended
from dissensus.posterior import POSTERIORS, Rule, SamplingSettings, posterior_settings
from dissensus.schedule import default_batch_size, default_epochs

if TYPE_CHECKING:
    from dissensus.detector.estimator import Detector

__all__ = ["Sampler", "check_posterior", "check_sampler", "expected_sampler", "sampling_settings", "settled"]

MANY_EPOCHS = 10_000  # as many as a schedule may want, where the inputs have not been counted yet


@dataclass(frozen=True)
class Sampler:
    """How weights are drawn, with nothing left open."""

    posterior: Posterior
    chains: int
    draws: int
    """M, of all chains together."""
    step_size: float | None
    """None where the posterior is no sampler by name, unless the person gave one."""


def settled(detector: Detector, own: Recommended) -> Sampler:
    """Return how a detector's weights are drawn if its model recommends this."""
    posterior = own.posterior if _is_auto(detector.posterior) else detector.posterior
    usual_chains, usual_draws = _usual(posterior, own)
    chains, draws = detector.chains, detector.draws
    if usual_chains == usual_draws:  # a draw of each chain: to say one number is to say both
        chains, draws = (draws if chains is None else chains), (chains if draws is None else draws)
    step_size = detector.step_size
    if step_size is None and isinstance(posterior, str) and POSTERIORS[posterior].noisy:
        step_size = own.step_size
    return Sampler(
        posterior,
        int(usual_chains if chains is None else chains),
        int(usual_draws if draws is None else draws),
        step_size,
    )


def expected_sampler(detector: Detector, *, rows: bool) -> Sampler:
    """Return how an unfitted detector will draw weights for rows, or for pictures."""
    return settled(detector, detector._recommended(rows=rows))


def check_sampler(detector: Detector) -> None:
    """Refuses numbers of chains and draws that cannot work, whatever the inputs are."""
    _refuse_whatever_comes(detector, lambda own: _check_numbers(detector, settled(detector, own)))


def check_posterior(detector: Detector) -> None:
    """Refuses a posterior that cannot work, as far as that is known before the inputs are counted."""
    rule = isinstance(detector.posterior, Rule)
    if not rule or detector.epochs is not None:
        epochs = int(detector.epochs or MANY_EPOCHS)
        _refuse_whatever_comes(detector, lambda own: _settings(detector, settled(detector, own), epochs, 1))


def sampling_settings(detector: Detector, sampler: Sampler, training_size: int) -> SamplingSettings:
    """How a detector's weights are drawn from so many training inputs."""
    _check_numbers(detector, sampler)
    batch_size = int(detector.batch_size or default_batch_size(training_size))
    epochs = int(detector.epochs or default_epochs(training_size, batch_size))
    return _settings(detector, sampler, epochs, batch_size)


def _refuse_whatever_comes(detector: Detector, check: Callable[[Recommended], object]) -> None:
    """Raises what a check does, if it says the same of rows and of pictures: which will come is not known."""
    said: set[str | None] = set()
    for rows in (False, True):
        try:
            check(detector._recommended(rows=rows))
            said.add(None)
        except SettingsError as error:
            said.add(str(error))
            refused = error
    if len(said) == 1 and None not in said:
        raise refused


def _check_numbers(detector: Detector, sampler: Sampler) -> None:
    # Of a fit in parts, the draws of one part may be too few for a score.
    check_statistic(detector.statistic, None if detector._in_parts else sampler.draws)
    if sampler.draws % sampler.chains:
        raise SettingsError(f"draws={sampler.draws} must be a multiple of chains={sampler.chains}")


def _is_auto(posterior: Posterior) -> bool:
    return isinstance(posterior, str) and posterior == AUTO


def _usual(posterior: Posterior, own: Recommended) -> tuple[int, int]:
    """How many chains and draws a posterior has where nobody says."""
    if isinstance(posterior, SamplingSettings):
        return posterior.chains, posterior.draws
    if isinstance(posterior, Rule):
        return posterior.usual
    if isinstance(posterior, OwnPosterior) or posterior == own.posterior:
        return own.chains, own.draws
    names = ", ".join((AUTO, *POSTERIORS))
    if not isinstance(posterior, str):
        raise SettingsError(
            f"posterior={posterior!r} is no posterior: give one of {names}, a rule such as SWAG(rank=5), or "
            "SamplingSettings"
        )
    if posterior not in POSTERIORS:
        raise SettingsError(f"posterior={posterior!r} is not known: choose one of {names}")
    return POSTERIORS[posterior].usual


def _settings(detector: Detector, sampler: Sampler, epochs: int, batch_size: int) -> SamplingSettings:
    posterior, draws, chains = sampler.posterior, sampler.draws, sampler.chains
    if isinstance(posterior, OwnPosterior):
        raise SettingsError(
            f"this detector was fitted with {posterior.described}, which is not saved with it: set "
            "posterior= to it, or to another one, before another fit"
        )
    if isinstance(posterior, str) and sampler.step_size is not None and not POSTERIORS[posterior].noisy:
        samplers = ", ".join(name for name, rule in POSTERIORS.items() if rule.noisy)
        raise SettingsError(
            f"posterior={posterior!r} is no sampler and has no step size: leave step_size out, or choose one "
            f"of {samplers}"
        )
    if isinstance(posterior, SamplingSettings):
        settings = posterior
        if settings.chains != chains:
            raise SettingsError(
                f"posterior= has settings for {settings.chains} chains and chains={chains}: "
                f"set chains={settings.chains}"
            )
    else:
        settings = posterior_settings(
            posterior,
            epochs=epochs,
            draws=draws,
            chains=chains,
            variant=detector.variant,
            batch_size=batch_size,
            adaptation=None if detector.adaptation is None else int(detector.adaptation),
            **({} if sampler.step_size is None else {"step_size": sampler.step_size}),
        )
    if settings.draws != draws:
        each = settings.draws // chains
        others = f", or chains={draws // each}" if draws % each == 0 else ""
        raise SettingsError(
            f"posterior={posterior_in_words(posterior)} gives {each} draw{'s'[: each != 1]} a chain, "
            f"{settings.draws} in all, not draws={draws}: set draws={settings.draws}{others}"
        )
    return settings
