import pytest

from benchmarks.paper.benchmarks import GROUPS
from benchmarks.paper.question_numbers import NUMBERS, TABLES
from benchmarks.paper.ratio import ASKED
from benchmarks.records import Record, Records


def test_what_documents_say_of_the_choice_and_of_the_ratio(tmp_path):
    records = Records(tmp_path / "paper")
    for split in GROUPS["fashion-mnist-heldout"]:
        for seed, area in ((0, 0.6), (1, 0.7)):
            for method, more in (("BVAE1", 0.0), ("BVAE2", 0.01)):
                row = dict.fromkeys(("auroc", "auprc_out", "fpr80_out"), area + more)
                records.add(split, Record(f"chosen-on-clusters/{method}", seed, {}, [row], {}))
    row = {"draws": 25, "samples": 128, "ess": 0.75}
    records.add("selection-clusters", Record("latent_size=10/01", 0, {}, [row], {}))
    row = {"hypothesis": "as in the table", "form": "rate=0.2", "auroc": 0.2, "made_up": 0.5, "closed": 0.0}
    for name in ASKED:
        about = {"rank_correlation_with_contrast": 0.5}
        records.add("likelihood-ratio", Record(name, 0, {}, [row], {}, about))
    chosen = [
        NUMBERS[f"fashion-mnist-heldout.chosen{which}.{part}"](tmp_path)
        for which in ("", ".BVAE2")
        for part in ("auroc", "spread", "short")
    ]
    assert chosen == pytest.approx([0.65, 0.005**0.5, 0.693 - 0.65, 0.66, 0.005**0.5, 0.683 - 0.66])
    assert NUMBERS["ratio.svhn-vs-cifar10.contrast"](tmp_path) == 0.5
    assert "| latent_size=10, 25 draws a chain, K = 128 (chosen) | .750 |" in TABLES["clusters"](tmp_path)
    assert TABLES["ratio"](tmp_path).count("as in the table") == 2
