"""Part (e): beside other packages, on the same images and with an equal, fully connected network."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.speed.comparison import Comparison, more
from benchmarks.speed.peers import PeersMissingError, peer_command, peer_python
from benchmarks.speed.sizes import Sizes
from benchmarks.speed.subject import DENSE_LATENT, DENSE_WIDTHS, dense, images, random_draws
from benchmarks.speed.timing import median, seconds
from benchmarks.speed.training import our_epochs, straightforward_process
from benchmarks.speed.worker import Worker
from dissensus.likelihood import log_likelihoods
from dissensus.models.vae.scorer import CPU_VECTOR_ROWS
from dissensus.side_by_side import side_by_side

__all__ = ["measure_rivals"]

NAMES = {"straightforward": "straightforward PyTorch", "pyod": "PyOD's VAE", "pythae": "pythae's VAE"}
CHAINS = 2  # what a detector has by default
DEFAULT_BATCH = 100  # pythae's
OUR_LIKELIHOODS = 4096  # images, so that the work outweighs the call


def measure_rivals(sizes: Sizes, device: torch.device) -> dict[str, Any]:
    """Training images, scores and likelihoods a second; without the packages where they cannot be had."""
    try:
        python: Path | None = peer_python()
        notes = []
    except PeersMissingError as error:
        python, notes = None, [str(error)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "images.npy"
        np.save(path, images(sizes.peer_images).numpy())
        with straightforward_process() as plain:
            plain.ask("prepare", network="dense", count=sizes.peer_images, batch_size=sizes.batch_size)
            if python is None:
                return _measure(sizes, device, plain, None, path, notes)
            with Worker(peer_command(python, "peer_process.py"), surroundings={"PYTHONPATH": ""}) as peers:
                return _measure(sizes, device, plain, peers, path, notes)


def _measure(
    sizes: Sizes, device: torch.device, plain: Worker, peers: Worker | None, path: Path, notes: list[str]
) -> dict[str, Any]:
    packages = () if peers is None else ("pyod", "pythae")
    versions = {}
    for package in packages:
        assert peers is not None
        versions[package] = peers.ask(
            "prepare",
            package=package,
            images=str(path),
            widths=list(DENSE_WIDTHS),
            latent=DENSE_LATENT,
            batch_size=sizes.batch_size,
        )
    comparisons = _training(sizes, plain, peers, packages)
    if peers is not None:
        comparisons += _scores(sizes, device, peers) + _likelihoods(sizes, device, peers)
    bounds = [{"samples": K, "images_per_second": _decoder_alone(K, sizes, device)} for K in sizes.samples]
    return {
        "settings": {
            "images": sizes.peer_images,
            "batch_size": sizes.batch_size,
            "rounds": sizes.rounds,
            "network": [784, *DENSE_WIDTHS, DENSE_LATENT],
        },
        "versions": versions,
        "notes": notes,
        "decoder_alone": bounds,
        "comparisons": [one.to_dict() for one in comparisons],
    }


def _training(
    sizes: Sizes, plain: Worker, peers: Worker | None, packages: tuple[str, ...]
) -> list[Comparison]:
    """Images a second, while one epoch of ours follows one of each other's."""
    data = images(sizes.peer_images).flatten(1)
    comparisons = []
    # The others train one VAE by Adam: so do we, and then twice as a detector does it, sampling the decoder.
    for chains, sampled in ((1, False), (1, True), (CHAINS, True)):
        others: dict[str, list[float]] = {name: [] for name in ("straightforward", *packages)}

        def between(others: dict[str, list[float]] = others) -> None:
            others["straightforward"].append(plain.ask("epoch"))
            for package in packages:
                assert peers is not None
                others[package].append(peers.ask("train", package=package))

        times = our_epochs(
            dense(),
            data,
            chains=chains,
            batch_size=sizes.batch_size,
            rounds=sizes.rounds,
            plain=not sampled,
            between=between,
        )
        trained = len(data) // sizes.batch_size * sizes.batch_size
        how = f"{chains} {'chain' if chains == 1 else 'chains'}" if sampled else "by Adam"
        what = f"training, dense VAE, batch {sizes.batch_size}, {how}"
        comparisons += [
            more(
                what,
                trained * chains / median(times.whole),
                trained / median(own[1:]),
                NAMES[name],
                "images/s",
            )
            for name, own in others.items()
        ]
    return comparisons


def _scores(sizes: Sizes, device: torch.device, peers: Worker) -> list[Comparison]:
    """The least that can be scored: one draw and one sample, as PyOD has it."""
    vae, data = dense(), images(sizes.peer_images).flatten(1)
    draws = random_draws(vae, 1)

    def ours() -> None:
        log_likelihoods(vae, draws, data, samples=1, device=device)

    seconds(ours, device)
    pairs = [
        (seconds(ours, device), peers.ask("score", package="pyod", count=len(data)))
        for _ in range(sizes.rounds)
    ]
    mine, theirs = (len(data) / median(own) for own in zip(*pairs, strict=True))
    return [more("scores, dense VAE, one draw, K = 1", mine, theirs, NAMES["pyod"], "images/s")]


def _likelihoods(sizes: Sizes, device: torch.device, peers: Worker) -> list[Comparison]:
    """Importance-sampled likelihoods under one draw, with K samples each.

    Asked for fewer samples than its batch size, pythae's function draws as many as that all the same: it is
    timed as it is, and told to draw no more than K.
    """
    vae = dense()
    draws = random_draws(vae, 1)
    data = images(max(OUR_LIKELIHOODS, sizes.peer_scored)).flatten(1)
    comparisons = []
    for K, told in itertools.product(sizes.samples, (False, True)):

        def ours(samples: int = K) -> None:
            log_likelihoods(vae, draws, data, samples=samples, device=device)

        request = {"package": "pythae", "count": sizes.peer_scored, "samples": K}
        request["batch_size"] = K if told else DEFAULT_BATCH
        seconds(ours, device)
        pairs = [(seconds(ours, device), peers.ask("likelihood", **request)) for _ in range(sizes.rounds)]
        mine, theirs = (median(own) for own in zip(*pairs, strict=True))
        comparisons.append(
            more(
                f"likelihoods, dense VAE, one draw, K = {K}",
                len(data) / mine,
                sizes.peer_scored / theirs,
                f"pythae's get_nll{f', batch_size={K}' if told else ''}",
                "images/s",
            )
        )
    return comparisons


def _decoder_alone(samples: int, sizes: Sizes, device: torch.device) -> float:
    """Likelihoods a second if they took nothing but the decoder's own time: a bound, in tiles as they are."""
    vae, cores = dense(), torch.get_num_threads()
    z = torch.randn(CPU_VECTOR_ROWS, DENSE_LATENT)
    tiles = max(1, OUR_LIKELIHOODS * samples // (CPU_VECTOR_ROWS * cores))

    def decoded() -> Iterator[None]:
        with torch.inference_mode():
            for _ in range(tiles):
                vae.decode(z)
        yield

    def work() -> None:
        for _ in side_by_side([decoded() for _ in range(cores)], threads=1):
            pass

    seconds(work, device)
    took = median([seconds(work, device) for _ in range(sizes.rounds)])
    return tiles * cores * CPU_VECTOR_ROWS / samples / took
