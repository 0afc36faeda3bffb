"""Code of a person's own, named as ``package:Class`` or ``package:function``.

A file may name such code and never has it imported: whoever loads the file passes it again. A name that a
person typed on the command line, or in a service's settings, is imported.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, TypeVar

from dissensus.errors import ArtifactError, SettingsError, brief

__all__ = [
    "arguments_of",
    "import_class",
    "import_named",
    "is_named",
    "is_own_name",
    "name_of",
    "not_passed",
    "pick",
]

T = TypeVar("T")

_WORD = r"[^\W\d]\w*"
_NAME = re.compile(rf"{_WORD}(\.{_WORD})*:{_WORD}(\.{_WORD})*")
SCRIPT = "__main__"


def is_own_name(text: object) -> bool:
    """Whether a text has the form of ``package:Class``.

    >>> [is_own_name(text) for text in ("my_scores:Spread", "a.b:C", "kl", "C:/gates", "a:b c")]
    [True, True, False, False, False]
    """
    return isinstance(text, str) and _NAME.fullmatch(text) is not None


def name_of(own: Any) -> str:
    """Return the name of a class or function as ``package:Name``; one that nobody else could name is refused.

    >>> import decimal
    >>> name_of(decimal.Decimal)
    'decimal:Decimal'
    """
    name = f"{own.__module__}:{own.__qualname__}"
    if not is_own_name(name):
        if own.__name__ == "<lambda>":
            raise SettingsError("a lambda has no name that a gate could write: define a function with def")
        raise SettingsError(
            f"the {'class' if isinstance(own, type) else 'function'} {own.__name__} is defined inside a "
            "function, where no gate could name it: define it at the top of a module"
        )
    return name


def import_class(name: str, kind: type[T], *, option: str) -> type[T]:
    """Return the class that a person named on the command line, which must be of a kind.

    ``option`` is where the name was given, for the errors.
    """
    if not is_own_name(name):
        raise SettingsError(f"{option} takes package:Class, as in my_module:My{kind.__name__}, not {name!r}")
    found = import_named(name, option=option)
    if not isinstance(found, type) or not issubclass(found, kind):
        raise SettingsError(
            f"{option} {name} is no {kind.__name__}: it must be a class that inherits from "
            f"{kind.__module__.split('._')[0]}.{kind.__name__}"
        )
    return found


def import_named(name: str, *, option: str) -> Any:
    """Return whatever a person named on the command line as ``package:name``.

    Modules beside the person, in the current folder, are found after all others.
    """
    module, _, path = name.partition(":")
    here = os.getcwd()  # noqa: PTH109 a text, as sys.path holds
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)
    try:
        found: Any = import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except ModuleNotFoundError as error:
        where = "install it, or give the command in its folder"
        raise SettingsError(f"{option} {name}: there is no module {error.name!r} here; {where}") from error
    except AttributeError as error:
        raise SettingsError(f"{option} {name}: {brief(error)}; check the name") from error
    except Exception as error:  # whatever the module does when it is imported
        raise SettingsError(
            f"{option} {name} cannot be imported ({type(error).__name__}: {brief(error)})"
        ) from error
    return found


def pick(name: str, given: Iterable[T | type[T]], *, what: str, argument: str, option: str) -> type[T]:
    """Return the class that a file names, among those that a person passed as classes or objects.

    ``what`` it is, and the ``argument`` and ``option`` by which it is passed, are for the errors.
    """
    classes: list[type[T]] = [own if isinstance(own, type) else type(own) for own in given]
    for own in classes:
        if is_named(name, own):
            return own
    raise not_passed(name, classes, what=what, argument=argument, option=option)


def not_passed(name: str, given: Sequence[Any], *, what: str, argument: str, option: str) -> ArtifactError:
    """Return the error about code that a file names, where a person passed none or other classes."""
    module, _, path = name.partition(":")
    option_name = f"MODULE:{path}" if module == SCRIPT else name
    remedy = f"load(…, {argument}={path}), or {option} {option_name} on the command line"
    if given:
        others = ", ".join(f"{own.__module__}:{own.__qualname__}" for own in given)
        return ArtifactError(f"its {what} is {name} and what was passed is {others}: pass {remedy}")
    return ArtifactError(
        f"its {what} is {name}, code of its owner's own that no gate holds: pass it again, {remedy}"
    )


def is_named(name: str, own: Any) -> bool:
    """Whether a class or function is the one named; a script's own may have moved to a module."""
    module, _, path = name.partition(":")
    if path != own.__qualname__:
        return False
    return module == own.__module__ or SCRIPT in (module, own.__module__)


def arguments_of(made: object) -> dict[str, Any]:
    """What an object of a person's own class was made with, if it keeps each argument by its own name."""
    names = list(inspect.signature(type(made)).parameters)
    missing = [name for name in names if not hasattr(made, name)]
    if missing:
        raise SettingsError(
            f"{type(made).__name__} does not keep its argument {missing[0]!r} as an attribute of that name: "
            "do so, or write config() and from_config()"
        )
    return {name: getattr(made, name) for name in names}
