"""The page a saved detector brings along for people: what it is, what it promises, how to use it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dissensus._version import __version__
from dissensus.decisions import false_alarm_interval
from dissensus.detector.describing import sampler_verdict
from dissensus.detector.posterior import posterior_in_words
from dissensus.inputs import EmbeddedPreprocessor
from dissensus.models import MODELS, OBSERVATIONS, ObservationModel, model_name
from dissensus.own_code import is_own_name, name_of
from dissensus.scores import MATRIX, is_built_in

if TYPE_CHECKING:
    from dissensus.detector.estimator import Detector
    from dissensus.detector.learnt import LeftOut

__all__ = ["model_card"]


def model_card(detector: Detector) -> str:
    """Markdown, with the metadata block that model hubs read on top."""
    kept = len(detector.examples_.inputs)
    more = set(detector.score_.requires) - {MATRIX}
    noticed = ", or what they find unusual in another way," if more else ""
    parts = [
        "---\nlibrary_name: dissensus\ntags:\n- out-of-distribution\n- anomaly-detection\n---",
        "# A gate against inputs unlike the training data",
        f"Made by dissensus {__version__} without labels: "
        f"{len(detector.draws_)} networks drawn from a posterior are asked about each input, and what they "
        f"disagree about{noticed} is unlike what they were fitted on.",
        f"## Use\n\n```python\n{_use(detector)}\ngate.decide(X)  # score, p-value, flag\n```",
        f"## Inputs\n\n{_inputs(detector)}",
        f"## What a flag means\n\n{_promise(detector)}",
        f"## The sampler\n\n{_health(detector)}",
        f"## Settings\n\n{_settings(detector)}",
        "## Limits\n\n"
        "- The promise holds for inputs drawn like the calibration inputs; when those change, calibrate "
        "again (`gate.recalibrate(X)`).\n"
        "- It says that an input is unusual, not that it is wrong, and not every unusual input is found."
        + (f"\n- It holds {kept} training inputs, which whoever has this folder can see." if kept else "")
        + _surroundings(detector)
        + _codes(detector),
    ]
    return "\n\n".join(parts) + "\n"


def _surroundings(detector: Detector) -> str:
    """What is kept of training rows to measure distances to."""
    own = getattr(detector.preprocessor_, "surroundings", None)
    if own is None:
        return ""
    return (
        f"\n- It holds {len(own.rows):,} training inputs as {own.rows.shape[1]} numbers each, to measure how "
        "near they are: whoever has this folder can read these (`neighbours=False` keeps none)."
    )


def _codes(detector: Detector) -> str:
    """What is kept of inputs to know where they lie in the latent space."""
    codes = detector.learnt_.codes
    if codes is None:
        return ""
    trained = f"{len(codes.means):,} training and " if len(codes.means) else ""
    return (
        f"\n- It holds the latent codes of {trained}{len(codes.held_out):,} calibration inputs, for "
        "`gate.latent`: whoever has this folder can decode them to something like these inputs."
    )


def _use(detector: Detector) -> str:
    """How to load it: code of a person's own is not in the folder."""
    kind, home = type(detector).__name__, type(detector).__module__
    imported = f"from {'dissensus' if home.startswith('dissensus.') else home} import {kind}\n"
    passed = ""
    for argument, what, own in _own_code(detector):
        module, _, path = name_of(own).partition(":")
        imported += f"from {module} import {path}  # the {what}'s own code, which is not in this folder\n"
        passed += f", {argument}={path}"
    settings = detector.get_params(deep=False)
    passed += "".join(f", {name}=…" for name in ("encoder", "decoder") if settings.get(name) is not None)
    if (embedder := _embedder(detector)) is not None and embedder["sha256"] is not None:
        passed += ", embed=…"  # a file, or an object that has weights
    return f'{imported}\ngate = {kind}.load("path/to/this/folder"{passed})'


def _embedder(detector: Detector) -> dict[str, Any] | None:
    """The embedder's name, arguments and digest."""
    return detector.preprocessor_.config().get("embedder")


def _own_code(detector: Detector) -> Iterator[tuple[str, str, Any]]:
    """The argument of load, what it is, and the class or function, of what is not of the package."""
    if not is_built_in(detector.score_):
        yield "statistic", "score", type(detector.score_)
    if type(detector.model_) not in MODELS.values():
        yield "model", "model", type(detector.model_)
    observation = getattr(detector.model_, "observation", None)
    if isinstance(observation, ObservationModel) and type(observation) not in OBSERVATIONS.values():
        yield "observation", "observation model", type(observation)
    inputs = detector.preprocessor_
    if isinstance(inputs, EmbeddedPreprocessor):
        own, digest = (inputs.described[key] for key in ("embedder", "sha256"))
        if is_own_name(own) and digest is None:
            yield "embed", "embedder", inputs.embedder.code


def _inputs(detector: Detector) -> str:
    contract = detector.preprocessor_.contract()
    shape = " × ".join(str(side) for side in contract["shape"])
    accepted = " or ".join(
        f"{dtype} ({values if isinstance(values, str) else f'{values[0]} to {values[1]}'})"
        for dtype, values in contract["accepts"].items()
    )
    steps = ", ".join(
        step["step"]
        + (f" by {step['by']}" if "by" in step else "")
        + (f" to {step['to'][0]:g}, {step['to'][1]:g}" if "to" in step else "")
        for step in detector.preprocessor_.steps()
    )
    rows = detector.fitted_rows_
    return (
        f"{contract['kind'].capitalize()}{f' of shape {shape}' if shape else ''}: {accepted}. Before the "
        f"networks: {steps}.\n\n"
        f"Fitted on {rows['train']} inputs, with {rows['validation']} for validation and "
        f"{len(detector.calibration_scores_)} for calibration."
        + ("" if (left_out := detector.left_out_) is None else f"\n\n{_left_out(left_out)}")
    )


def _left_out(left_out: LeftOut) -> str:
    return (
        f"With contamination {left_out.contamination:g}, {left_out.train} training and {left_out.validation} "
        "validation inputs, the most unusual ones, were left out. Calibration inputs were not: unless the "
        "gate was recalibrated on normal inputs since, outliers among them make flags rarer than is said "
        "below."
    )


def _promise(detector: Detector) -> str:
    rate, count = detector.false_alarm_rate, len(detector.calibration_scores_)
    interval = false_alarm_interval(count, rate)
    if interval.high == 0:
        return f"Nothing is ever flagged: {count} calibration inputs are too few for a rate of {rate:.3g}."
    return (
        f"Of inputs like the calibration inputs a share of {rate:.3g} is flagged. The {count} calibration "
        f"inputs being what they are, the share is between {interval.low:.3g} and {interval.high:.3g} with "
        f"probability {interval.level:.0%}."
    )


def _health(detector: Detector) -> str:
    verdict, health = sampler_verdict(detector), detector.draws_.diagnostics.health()
    lines = [*(() if verdict.warning is None else (f"**{verdict.warning}**",)), *verdict.remarks]
    for name, numbers in health["networks"].items():
        kinetic = numbers["kinetic_temperature"] / numbers["right_temperature"]
        lines += [
            f"{name}: configurational temperature {numbers['configurational_temperature']:.2f}, kinetic "
            f"{kinetic:.2f} (right is 1, for both)",
            f"{name}: {numbers['clamped_share']:.0%} of the weights get more noise from the minibatches "
            "than they may",
        ]
    lines += health["restarts"]
    lines.append(f"estimating a log-likelihood twice moves it by {detector.noise_floor_:.2g} nats")
    return "\n".join(f"- {line}" for line in lines)


def _settings(detector: Detector) -> str:
    settings = {n: v for n, v in detector.get_params(deep=False).items() if n not in ("encoder", "decoder")}
    settings |= {"device": None, "random_state": detector.seed_, "statistic": detector.statistic_}
    settings |= vars(detector.sampler_) | {"posterior": posterior_in_words(detector.sampler_.posterior)}
    if not detector.learnt_.levels:
        settings["effort"] = None  # there is but one way to ask
    settings["embed"] = None if (embedder := _embedder(detector)) is None else embedder["embedder"]
    if "model" in settings:  # an object would be written as its layers
        settings["model"] = model_name(type(detector.model_))
    rows = [f"| {name} | {value} |" for name, value in settings.items() if value is not None]
    meaning = f"\n\n`{detector.statistic_}`: {detector.score_.description}."
    return "\n".join(["| | |", "|---|---|", *rows]) + meaning
