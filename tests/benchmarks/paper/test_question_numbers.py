from benchmarks.paper.question_numbers import NUMBERS, TABLES
from benchmarks.paper.ratio import ASKED
from benchmarks.records import Record, Records


def test_what_documents_say_of_the_choice_and_of_the_ratio(tmp_path):
    records = Records(tmp_path / "paper")
    row = {"draws": 25, "samples": 128, "ess": 0.75}
    records.add("selection-clusters", Record("latent_size=10/01", 0, {}, [row], {}))
    row = {"hypothesis": "as in the table", "form": "rate=0.2", "auroc": 0.2, "made_up": 0.5, "closed": 0.0}
    for name in ASKED:
        about = {"rank_correlation_with_contrast": 0.5}
        records.add("likelihood-ratio", Record(name, 0, {}, [row], {}, about))
    assert NUMBERS["ratio.svhn-vs-cifar10.contrast"](tmp_path) == 0.5
    assert "| latent_size=10, 25 draws a chain, K = 128 (chosen) | .750 |" in TABLES["clusters"](tmp_path)
    assert TABLES["ratio"](tmp_path).count("as in the table") == 2
