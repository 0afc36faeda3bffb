"""The shapes of the answers of the Open Inference Protocol, for the description of the API."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

__all__ = [
    "IndexEntry",
    "InferResponse",
    "ModelMetadata",
    "ModelReady",
    "ModelStats",
    "ServerMetadata",
]


class ModelReady(BaseModel):
    """Whether a gate can be asked."""

    name: str
    ready: bool


class ServerMetadata(BaseModel):
    """Of the Open Inference Protocol."""

    name: str
    version: str
    extensions: list[str]


class TensorMetadata(BaseModel):
    """A tensor's name and type; −1 is any number of inputs."""

    name: str
    datatype: str
    shape: list[int]


class ModelMetadata(BaseModel):
    """Of the Open Inference Protocol."""

    name: str
    versions: list[str]
    platform: str
    inputs: list[TensorMetadata]
    outputs: list[TensorMetadata]


class Duration(BaseModel):
    """How often, and how long in all."""

    count: int
    ns: int


class InferenceStats(BaseModel):
    """Of requests, from their arrival in the queue to their answer; of batches, their computing."""

    success: Duration
    fail: Duration
    queue: Duration
    compute_infer: Duration


class GateStats(BaseModel):
    """Of one gate since it was loaded."""

    name: str
    version: str
    last_inference: int = Field(description="Milliseconds since 1970; 0: never.")
    inference_count: int = Field(description="Inputs that were scored.")
    execution_count: int = Field(description="Batches.")
    inference_stats: InferenceStats


class ModelStats(BaseModel):
    """Of the Open Inference Protocol's extension of statistics."""

    model_stats: list[GateStats]


class IndexEntry(BaseModel):
    """A gate that is there, served or not."""

    name: str
    version: str
    state: str = Field(pattern="^(READY|UNAVAILABLE)$")
    reason: str


class ResponseTensor(TensorMetadata):
    """A tensor with its values."""

    data: list[float | bool] | None = None
    parameters: dict[str, Any] | None = None


class InferResponse(BaseModel):
    """Of the Open Inference Protocol."""

    model_name: str
    model_version: str
    id: str | None = None
    outputs: list[ResponseTensor]
