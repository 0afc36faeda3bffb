"""Code of a person's own: named, imported where a person typed its name, and never where a file did."""

import sys

import pytest

from dissensus.errors import ArtifactError, SettingsError
from dissensus.own_code import import_class, name_of, pick
from dissensus.scores import Score, Typicality, Whitened

WORDS = {"what": "score", "argument": "statistic", "option": "--score"}


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module of the current folder, which is not among those that Python looks into."""
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place])
    monkeypatch.chdir(tmp_path)

    def write(name, text):
        (tmp_path / f"{name}.py").write_text(text, "utf-8")
        monkeypatch.delitem(sys.modules, name, raising=False)
        return name

    return write


SCORE = """
from dissensus.scores import Score
class Own(Score):
    name, description = "own", "how own"
    def __call__(self, measured):
        return measured.matrix[0]
class Not:
    pass
class Outer:
    Own = Own
"""


def test_a_class_of_the_current_folder_is_imported(module):
    module("beside_the_person", SCORE)
    found = import_class("beside_the_person:Own", Score, option="--score")
    assert issubclass(found, Score)
    assert name_of(found) == "beside_the_person:Own"
    assert import_class("beside_the_person:Outer.Own", Score, option="--score") is found


def test_the_current_folder_shadows_nothing(module):
    module("fractions", "raise RuntimeError('the wrong one')")
    sys.modules.pop("fractions", None)
    with pytest.raises(SettingsError, match="fractions:Fraction is no Score"):
        import_class("fractions:Fraction", Score, option="--score")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("kl", r"--score takes package:Class, as in my_module:MyScore, not 'kl'"),
        ("os.system('x'):y", "takes package:Class"),
        ("no_such_module_here:Own", "there is no module 'no_such_module_here' here; install it, or give"),
        ("wrong_names:Nothing", "'Nothing'; check the name"),
        ("wrong_names:Not", r"is no Score: it must be a class that inherits from dissensus\.scores\.Score"),
        ("broken:Own", r"broken:Own cannot be imported \(ZeroDivisionError: division by zero\)"),
        ("needs_more:Own", "there is no module 'nothing_like_it' here"),
    ],
)
def test_what_cannot_be_imported_is_said_in_one_sentence(module, name, said):
    module("wrong_names", SCORE)
    module("broken", "1 / 0")
    module("needs_more", "import nothing_like_it")
    with pytest.raises(SettingsError, match=said) as error:
        import_class(name, Score, option="--score")
    assert "\n" not in str(error.value)


def test_a_class_that_nobody_could_name_is_refused():
    class Local:
        pass

    with pytest.raises(SettingsError, match=r"Local is defined inside a function.*at the top of a module"):
        name_of(Local)


def test_the_one_that_a_file_names_is_picked_among_those_passed():
    name = name_of(Whitened)
    assert pick(name, [Typicality, Whitened], **WORDS) is Whitened
    assert pick(name, [Whitened()], **WORDS) is Whitened
    with pytest.raises(ArtifactError, match=r"its score is dissensus\.scores\._whitened:Whitened, code of"):
        pick(name, [], **WORDS)
    with pytest.raises(ArtifactError, match=r"and what was passed is .*:Typicality: pass load\(…, "):
        pick(name, [Typicality], **WORDS)
    with pytest.raises(ArtifactError, match=r"statistic=Own\), or --score my_scores:Own on the command line"):
        pick("my_scores:Own", [], **WORDS)


def test_what_a_script_defined_may_have_moved_to_a_module():
    assert pick("__main__:Whitened", [Whitened], **WORDS) is Whitened
    with pytest.raises(ArtifactError, match="--score MODULE:Own on the command line"):
        pick("__main__:Own", [Whitened], **WORDS)
