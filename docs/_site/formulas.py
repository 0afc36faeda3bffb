"""Formulas as MathML, made when the site is built: a page fetches nothing from elsewhere."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

SIGNS = {"≈": r"\approx ", "∖": r"\setminus ", "≥": r"\ge ", "≤": r"\le ", "∈": r"\in ", r"\dots": r"\ldots"}
SIZES = re.compile(r"\\[bB]igg?[lr]?(?![a-zA-Z])")


def prepared(tex: str) -> str:
    """A formula in those commands that docutils knows; brackets grow by themselves."""
    for sign, command in SIGNS.items():
        tex = tex.replace(sign, command)
    tex = SIZES.sub("", tex)
    return rf"\begin{{aligned}}{tex}\end{{aligned}}" if "&" in tex and r"\begin" not in tex else tex


def inline(self: Any, node: nodes.math) -> None:
    """Called by Sphinx's writer of HTML for a formula in a line."""
    self.body.append(tex2mathml(prepared(node.astext()), as_block=False))
    raise nodes.SkipNode


def display(self: Any, node: nodes.math_block) -> None:
    """The same for one on a line of its own."""
    self.body.append(f'<div class="formula">{tex2mathml(prepared(node.astext()), as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"parallel_read_safe": True}
