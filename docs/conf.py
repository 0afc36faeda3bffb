"""How Sphinx builds the site: ``make docs`` writes it to ``build/site``."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from dissensus import __version__  # noqa: E402

project = "dissensus"
author = copyright = "the dissensus maintainers"
version = release = __version__
language = "en"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
    "_site.commands",
    "_site.examples",
    "_site.formulas",
    "_site.gallery",
    "_site.http_api",
    "_site.outside",
    "_site.public_names",
]
exclude_patterns = ["_site", "gallery/*.ipynb", "gallery/*.json", "gallery/*.py", "gallery/*.zip"]
suppress_warnings = [
    "config.cache",  # of settings that are functions
    "misc.highlighting_failure",  # of code that leaves something out
]

# ---- pages

source_suffix = {".md": "myst-nb", ".rst": "restructuredtext"}
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE.parent / "build/notebooks")
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True
nb_code_prompt_show = "How this figure is made"
nb_code_prompt_hide = "Hide the code"

# ---- what is said of every public name

autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_default_options = {
    "members": True,
    "exclude-members": "set_fit_request, set_predict_request, set_score_request, get_metadata_routing",
}
python_display_short_literal_types = True
python_maximum_signature_line_length = 88
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

# ---- examples: their pages are made here, what they print and draw is recorded (tools/run_examples.py)

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"examples/scale/",
    "nested_sections": False,
    "plot_gallery": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "within_subsection_order": "FileNameSortKey",
}

# ---- what it looks like

html_theme = "furo"
html_math_renderer = "mathml"
html_title = f"dissensus {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
