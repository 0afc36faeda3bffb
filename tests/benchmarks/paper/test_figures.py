import pytest
import torch
from PIL import Image
from rich.console import Console

from benchmarks.paper.benchmarks import expand
from benchmarks.paper.figures import draw_all
from benchmarks.paper.latent import measure_latent
from benchmarks.paper.methods import find_methods
from benchmarks.paper.runner import measure, plan


@pytest.mark.slow
def test_every_figure_is_drawn_and_shows_something(tmp_path):
    device, console = torch.device("cpu"), Console(quiet=True)
    benchmarks = expand(["svhn-vs-cifar10", "fashion-mnist-heldout-01"])
    tasks = plan(tmp_path, benchmarks, find_methods([]), ["converged"], [0], quick=True)
    assert measure(tmp_path, tasks, quick=True, device=device, console=console) == []
    measure_latent(tmp_path, "converged", 0, quick=True, device=device, console=console)
    paths = list(draw_all(tmp_path, quick=True))
    assert sorted(path.name for path in paths) == [
        "curves-fashion-mnist-heldout-01-converged.png",
        "curves-svhn-vs-cifar10-converged.png",
        "disagreement-fashion-mnist-heldout-01-converged-bvae1.png",
        "disagreement-fashion-mnist-heldout-01-converged-bvae2.png",
        "disagreement-svhn-vs-cifar10-converged-bvae1.png",
        "disagreement-svhn-vs-cifar10-converged-bvae2.png",
        "fashion-mnist-classes.png",
        "histograms-svhn-vs-cifar10-converged.png",
        "latent-converged.png",
    ]
    for path in paths:
        with Image.open(path) as image:
            assert min(image.size) > 300
            assert len(image.convert("L").resize((64, 64)).getcolors()) > 10


def test_without_records_only_the_dataset_is_shown(tmp_path):
    assert [path.name for path in draw_all(tmp_path, quick=False)] == ["fashion-mnist-classes.png"]
