"""The shapes of requests: what is checked before their numbers are looked at, and described in the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    FailFast,
    Field,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import models_json_schema
from pydantic_core import PydanticCustomError

from dissensus.serve.refusals import Refusal

__all__ = [
    "REFERENCE",
    "FilesRequest",
    "InferRequest",
    "OutputName",
    "RowsRequest",
    "Tensor",
    "definitions",
    "sentence",
]

REFERENCE = "#/components/schemas/{model}"
MOST_AXES = 8
MOST_VALUES = 1 << 31  # of one tensor: more than fit into the largest body
LONGEST_NAME = 40  # characters of a field's name that a sentence repeats
LONGEST_ID = 1000  # characters of a request: as long as it waits, they are in memory

Datatype = Literal[
    "BOOL",
    "UINT8",
    "UINT16",
    "UINT32",
    "UINT64",
    "INT8",
    "INT16",
    "INT32",
    "INT64",
    "FP16",
    "FP32",
    "FP64",
    "BYTES",
]
"""All of the protocol; what a gate takes of them is its own affair."""
OutputName = Literal["score", "p_value", "flagged"]
_Value = {"type": ["number", "string", "boolean", "null"]}
# A row that is wrong has an error of its own beside the scores of the others, so rows are not checked here.
_Row = Annotated[
    Any,
    WithJsonSchema(
        {"anyOf": [{"type": "array", "items": _Value}, {"type": "object", "additionalProperties": _Value}]}
    ),
]
_File = Annotated[bytes, WithJsonSchema({"type": "string", "format": "binary"})]
# Of the type that another field names, flat or nested: checked where they become an array.
_Numbers = Annotated[Any, WithJsonSchema({"type": ["array", "null"], "items": {}})]
_Side = Annotated[int, Field(ge=0, le=MOST_VALUES)]


class _Request(BaseModel):
    """Values are taken as JSON has them: a text that looks like a number is none."""

    model_config = ConfigDict(strict=True)

    @classmethod
    def read(cls, body: dict[str, Any], *, status: int) -> Self:
        """The request that a JSON object is; anything else is refused with ``status``."""
        try:
            return cls.model_validate(body)
        except ValidationError as error:
            raise Refusal(status, sentence(error.errors(include_url=False)[0])) from None


class RowsRequest(_Request):
    """Rows of numbers or of named columns."""

    model_config = ConfigDict(extra="forbid")
    rows: list[_Row] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _first_unknown(cls, body: dict[str, Any]) -> dict[str, Any]:
        """The first unknown field is enough: a million of them would be a million errors."""
        for name in body:
            if name not in cls.model_fields:
                raise PydanticCustomError("unknown", "{name}", {"name": name})
        return body


class FilesRequest(BaseModel):
    """Image files, as a form; only the description of the API needs it."""

    files: list[_File] = Field(min_length=1)


class TensorParameters(_Request):
    """How a tensor is sent."""

    binary_data_size: int | None = Field(
        default=None, ge=0, le=8 * MOST_VALUES, description="Bytes of it that stand behind the JSON."
    )


class Tensor(_Request):
    """One input tensor; its values are in ``data``, flat or in lists of lists, or behind the JSON."""

    name: str
    shape: Annotated[list[_Side], FailFast()] = Field(min_length=1, max_length=MOST_AXES)
    datatype: Datatype
    data: _Numbers = None
    parameters: TensorParameters = TensorParameters()


class OutputParameters(_Request):
    """How an output is wanted."""

    binary_data: bool | None = Field(default=None, description="Whether it comes as bytes behind the JSON.")


class Output(_Request):
    """One output that is wanted."""

    name: OutputName
    parameters: OutputParameters = OutputParameters()


class RequestParameters(_Request):
    """How all outputs are wanted."""

    binary_data_output: bool = Field(default=False, description="Whether they come as bytes behind the JSON.")


class InferRequest(_Request):
    """Of the Open Inference Protocol."""

    id: str | None = Field(default=None, max_length=LONGEST_ID, description="Comes back in the answer.")
    inputs: Annotated[list[Tensor], FailFast()] = Field(min_length=1)
    outputs: Annotated[list[Output], FailFast()] = Field(default=[], description="Which; default: all.")
    parameters: RequestParameters = RequestParameters()


def definitions() -> dict[str, Any]:
    """The schemas, by name, that :data:`REFERENCE` points to."""
    _, found = models_json_schema([(InferRequest, "validation")], ref_template=REFERENCE)
    return dict(found["$defs"])


_WORDS = {
    "missing": "is missing",
    "list_type": "must be a list",
    "string_type": "must be a text",
    "int_type": "must be a whole number",
    "bool_type": "must be true or false",
    "model_type": "must be an object",
    "literal_error": "must be {expected}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "int_parsing_size": "is too large a number",
    "too_short": "must have at least {min_length} of what it lists",
    "too_long": "must have at most {max_length} of what it lists",
    "string_too_long": "must be at most {max_length} characters long",
    "bool_parsing": "must be true or false",
}


def sentence(error: Mapping[str, Any]) -> str:
    """What is wrong with a request, from one error of pydantic's, with the name of the field.

    >>> sentence({"type": "int_type", "loc": ("inputs", 0, "shape", 1), "msg": "", "input": True})
    "'inputs[0].shape[1]' must be a whole number"
    """
    context = error.get("ctx", {})
    if error["type"] == "unknown":
        return f"the body has the unknown field {str(context['name'])[:LONGEST_NAME]!r}"
    steps = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in error["loc"]]
    words = _WORDS.get(error["type"])
    told = error["msg"] if words is None else words.format(**context)
    return f"{''.join(steps).removeprefix('.')!r} {told}"
