"""The shapes of answers, for the description of the API; making thousands of them a second needs no model."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

__all__ = [
    "Confirmed",
    "Explained",
    "Failed",
    "GateFacts",
    "GateNames",
    "Live",
    "Ready",
    "Scored",
    "TrafficSummary",
    "refusals",
]


class Failed(BaseModel):
    """Why there is no result."""

    error: str = Field(description="One clear sentence.")


class GateNames(BaseModel):
    """The gates that can be asked, and how much at once."""

    gates: list[str]
    default: str | None = Field(description="Which one answers where no other is named.")
    max_inputs: int = Field(description="Files or rows in one request.")
    max_body: int = Field(description="Bytes of one request's body.")
    may_confirm: bool = Field(description="Whether who asks may say by /confirm what inputs are.")


class Interval(BaseModel):
    """Where the realised false-alarm rate lies."""

    low: float
    high: float
    probability: float


class Histogram(BaseModel):
    """Counts between edges."""

    edges: list[float]
    counts: list[int]


class Calibration(BaseModel):
    """Scores of normal inputs that nothing else has seen."""

    count: int
    scores: list[float | None] = Field(description="Sorted; at most 401 quantiles. Infinite ones are null.")
    histogram: Histogram


class Health(BaseModel):
    """How well the sampler did."""

    noise_floor: float | None = Field(description="Error of a log-likelihood, in nats.")
    rhat: float | None = Field(description="R̂ between chains.")
    sentences: list[str]
    warnings: list[str]


class GateFacts(BaseModel):
    """What a gate was fitted on, what it promises, and its health."""

    name: str
    kind: str = Field(description="images, rows or table", pattern="^(images|rows|table)$")
    input_shape: list[int]
    columns: list[str] | None
    fitted_on: dict[str, Any]
    settings: dict[str, Any]
    statistic: str
    false_alarm_rate: float
    threshold: float | None = Field(description="What is flagged scores above it; null: nothing can be.")
    false_alarm_interval: Interval
    calibration: Calibration
    health: Health
    version: str = Field(description="Of the saved gate: it changes when the gate is replaced.")
    dissensus: str


class Decision(BaseModel):
    """What the gate says about one input."""

    score: float | None = Field(description="Higher is more unusual; null if infinite.")
    p_value: float = Field(ge=0, le=1)
    flagged: bool
    verdict: str


class Result(BaseModel):
    """A decision about an input, or why there is none."""

    input: str | int = Field(description="The file's name, or the row's number.")
    score: float | None
    p_value: float | None
    flagged: bool | None
    verdict: str | None
    error: str | None
    notes: list[str] = Field(description="What no training input had, such as a category never seen.")
    known: str | None = Field(description="What a person said of such an input before.")


class Scored(BaseModel):
    """One result an input, in the order they were sent."""

    gate: str
    false_alarm_rate: float
    results: list[Result]


class NothingScored(Failed):
    """No input could be scored; where that has a reason for each, they are listed."""

    results: list[Result] | None = None


class Disagreement(BaseModel):
    """Where the draws disagree."""

    png: str | None = Field(description="A data URI.")
    largest: list[dict[str, Any]]


class Standing(BaseModel):
    """A statistic, and how it stands among calibration inputs."""

    value: float | None
    percentile: float | None
    meaning: str


class Explained(BaseModel):
    """Why an input scores as it does. Pictures are data URIs."""

    gate: str
    decision: Decision
    input_png: str | None
    disagreement: Disagreement
    reconstructions: list[str]
    statistics: dict[str, Standing]
    surprises: dict[str, float] = Field(
        description="Of a score that is made of parts: how unusual each is by itself, −log p in nats."
    )
    notes: list[str] = Field(description="What no training input had, such as a category never seen.")
    known: str | None = Field(description="What a person said of such an input before.")
    nearest: list[str]
    columns: list[dict[str, Any]] | None = Field(
        description="Of a row, its columns, that which matters most first. Of a table value, expected and "
        "nearest are texts as a person would write them."
    )


class Confirmed(BaseModel):
    """What became of inputs that a person has looked at."""

    gate: str
    version: str = Field(description="Of the gate that remembers them, as in /gate.")
    normal: bool
    remembered: int
    joined: int = Field(description="How many of them became calibration inputs.")
    left: int = Field(description="How many calibration inputs turned out to be outliers, and left.")
    calibration_inputs: int = Field(description="How many there are now.")


class Answered(BaseModel):
    """One past decision."""

    time: float
    score: float | None
    p_value: float
    flagged: bool


class Drift(BaseModel):
    """The test martingale."""

    log_capital: float
    alarm: bool
    alarm_at: int | None
    alarm_level: float
    false_alarm_probability: float
    confidence: float = Field(description="How surely that holds for this gate's own calibration set.")
    sentence: str | None = Field(description="After an alarm: how recent inputs differ, and what to do.")
    p_value: float
    inputs: int


class TrafficSummary(BaseModel):
    """What was answered lately."""

    gate: str
    version: str = Field(description="Of the gate that answers now, as in /gate.")
    window: int
    recent: list[Answered]
    flagged_share: float | None
    drift: Drift
    inputs: int
    requests: int


class Ready(BaseModel):
    """Whether requests are taken."""

    ready: bool
    problems: list[str]
    gates: int


class Live(BaseModel):
    """Whether the process answers."""

    live: bool


_WHEN = {
    400: "The request cannot be read.",
    401: "An API key is needed.",
    403: "The name or the page that was asked from is not let in.",
    404: "There is no such gate.",
    409: "The gate cannot be saved.",
    408: "The body took too long to arrive.",
    413: "Too much at once.",
    415: "The type of the body is not taken.",
    422: "The request can be read, but not answered by this gate.",
    429: "There is no room now; Retry-After says when.",
    500: "The service failed.",
    503: "There was no answer in time, or the service is stopping.",
}


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The refusals that an endpoint may answer with, besides those that any may."""
    found: dict[int | str, dict[str, Any]] = {
        status: {"model": Failed, "description": _WHEN[status]}
        for status in sorted({401, 403, 500, *statuses})
    }
    if 429 in found:
        found[429]["headers"] = {
            "Retry-After": {"required": True, "schema": {"type": "integer", "minimum": 1}}
        }
    return found
