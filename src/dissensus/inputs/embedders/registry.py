"""Embedders by name, embedders of a person's own, and how either is described in a file and found again."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, TypeAlias

from dissensus.errors import ArtifactError, SettingsError, brief
from dissensus.homes import Homes
from dissensus.inputs.embedders.contract import Embedder
from dissensus.inputs.embedders.functions import FunctionEmbedder
from dissensus.own_code import is_named, is_own_name, name_of, not_passed

__all__ = [
    "EMBEDDERS",
    "OwnEmbedders",
    "check_embedder",
    "embedder",
    "embedder_from_config",
    "embedder_to_config",
]

ONNX = "onnx"
_HOMES = {
    ONNX: "onnx:OnnxEmbedder",
}
EMBEDDERS: Mapping[str, type[Embedder]] = Homes("dissensus.inputs.embedders", _HOMES)
"""Every embedder in this package, by name."""

OwnEmbedders: TypeAlias = Any
"""What is passed when a detector is loaded: what ``embed=`` takes, an Embedder's class, or a list of such."""

WORDS = {"what": "embedder", "argument": "embed", "option": "--embed"}


def check_embedder(embed: object) -> None:
    """Refuse what is no embedder, and what a saved detector could not know again; None is no embedder."""
    if embed is None:
        return
    if isinstance(embed, Embedder):
        _check_described(embed)
    elif _is_module(embed):
        name_of(type(embed))  # copied, and its weights read, when they are needed
    else:
        name_of(embedder(embed).code)


def embedder(embed: object) -> Embedder:
    """Return the embedder that ``embed=`` stands for; what is none is refused in one sentence."""
    if isinstance(embed, Embedder):
        return embed
    if isinstance(embed, str | Path):
        return _of_text(str(embed))
    if isinstance(embed, type):
        raise SettingsError(f"embed={embed.__name__} is a class: pass an object, {embed.__name__}(…)")
    if _is_module(embed):
        return _module(embed)
    if isinstance(embed, MethodType) and _is_module(embed.__self__):
        return _module(embed.__self__, embed.__name__)
    if isinstance(embed, FunctionType | BuiltinFunctionType):
        return FunctionEmbedder(embed)
    raise SettingsError(
        f"embed={str(embed)[:99]!r} is no embedder that a gate could name: give a function, a torch module, "
        "an .onnx file, or an object that inherits from dissensus.inputs.Embedder"
    )


def embedder_to_config(own: Embedder) -> dict[str, Any]:
    """Return an embedder as JSON values: its name or ``package:Name``, its arguments and its digest."""
    return {"embedder": _name(own), "config": own.config(), "sha256": own.digest()}


def embedder_from_config(config: Mapping[str, Any], passed: OwnEmbedders = None) -> Embedder:
    """Return the embedder that a file describes; one of one's own, or an ONNX file, must be passed.

    Its weights must have the digest that the file names.
    """
    name, given = config["embedder"], _listed(passed)
    if name == ONNX or is_own_name(name):
        found = _passed(str(name), config, given)
    elif name in EMBEDDERS:
        found = [EMBEDDERS[name].from_config(config["config"])]
    else:
        raise ArtifactError(f"there is no embedder {str(name)[:99]!r} here: upgrade dissensus")
    for own in found:
        if own.digest() == config["sha256"]:
            return own
    other = str(found[0].digest())[:12]
    raise ArtifactError(
        f"its embedder {name} had weights of SHA-256 {str(config['sha256'])[:12]}…, and what was passed has "
        f"{other}…: pass the weights it was fitted with"
    )


def _of_text(text: str) -> Embedder:
    """By the name of an embedder of the package, or by the path of a file."""
    if text.lower().endswith(".onnx"):
        return EMBEDDERS[ONNX](text)  # type: ignore[call-arg]
    if text in EMBEDDERS and text != ONNX:
        return EMBEDDERS[text]()
    if is_own_name(text):
        raise SettingsError(
            f"embed={text!r} is a name: import it and pass it, or type it on the command line"
        )
    known = [name for name in EMBEDDERS if name != ONNX]
    raise SettingsError(
        f"embed={text!r} is no embedder: name {', '.join([*known, 'an .onnx file'])}, or pass a function or "
        "module"
    )


def _passed(name: str, described: Mapping[str, Any], given: Sequence[Any]) -> list[Embedder]:
    """Those of what a person passed that have the name; where there is none, an error says what to pass."""
    made = [one if isinstance(one, type) else embedder(one) for one in given]
    if name == ONNX:
        found = [own for own in made if not isinstance(own, type) and _name(own) == ONNX]
        if not found:
            raise ArtifactError(
                "its embedder is an ONNX file, which no gate holds: pass it again, "
                'load(…, embed="encoder.onnx"), or --embed encoder.onnx on the command line'
            )
        return found
    codes: list[Any] = [own if isinstance(own, type) else own.code for own in made]
    found = []
    for own, code in zip(made, codes, strict=True):
        if not is_named(name, code):
            continue
        if isinstance(own, Embedder) and type(own) is not code:
            found.append(own)  # a function or module, which has no arguments to be made of
        elif issubclass(code, Embedder):
            found.append(code.from_config(described["config"]))
        else:
            raise ArtifactError(f"its embedder is {name}: pass an object with its weights, not the class")
    if found:
        return found
    if described["sha256"] is not None:
        others = ", ".join(f"{code.__module__}:{code.__qualname__}" for code in codes) or "nothing"
        raise ArtifactError(
            f"its embedder is an object of {name}: pass it again, load(…, embed=…), or --embed MODULE:NAME "
            f"on the command line, for no gate holds its weights; what was passed is {others}"
        )
    raise not_passed(name, codes, **WORDS)


def _name(own: Embedder) -> str:
    code = own.code
    return next((name for name in EMBEDDERS if EMBEDDERS[name] is code), None) or name_of(code)


def _listed(passed: OwnEmbedders) -> Sequence[Any]:
    if passed is None:
        return ()
    return passed if isinstance(passed, list | tuple) else (passed,)


def _is_module(thing: object) -> bool:
    """Whether it is a torch module, told without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(thing, torch.nn.Module)


def _module(module: Any, method: str | None = None) -> Embedder:
    from dissensus.inputs.embedders.modules import ModuleEmbedder

    return ModuleEmbedder(module, method)


def _check_described(own: Embedder) -> None:
    """Refuse an embedder whose description does not make the same one again."""
    name = _name(own)
    if type(own) is not own.code or name == ONNX:
        return  # what it is made of is passed again
    try:
        config = json.dumps(own.config(), allow_nan=False)
        again = type(own).from_config(json.loads(config))
        same = json.dumps(again.config()) == config and again.digest() == own.digest()
    except Exception as error:  # whatever its methods raise
        raise SettingsError(
            f"the embedder {name} could not be loaded back ({brief(error)}): give it config(), which returns "
            "JSON values, and from_config(), which makes the same embedder of them"
        ) from error
    if type(again) is not type(own) or not same:
        raise SettingsError(
            f"the embedder {name} could not be loaded back: from_config(config()) makes another one"
        )
