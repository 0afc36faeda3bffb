"""``dissensus fit``: from a pile of unlabelled inputs to a gate on disk."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dissensus.cli.chosen import chosen_detector, chosen_embedder, chosen_score, chosen_steps
from dissensus.cli.console import messages, print_bullets, print_json, results, warnings_as_messages
from dissensus.cli.failures import Interrupted, speaking_of
from dissensus.cli.gate_words import what_is_flagged, what_was_left_out
from dissensus.cli.options import (
    USUAL_EFFORT,
    Device,
    EffortName,
    IdColumn,
    Inputs,
    Json,
    Quiet,
    Resize,
    Seed,
    parse_size,
)
from dissensus.cli.progress import AGAIN, SAMPLING, Downloads, StageProgress, fit_work
from dissensus.defaults import STATISTIC
from dissensus.destination import STDOUT, check_folder
from dissensus.errors import ArtifactError, SettingsError
from dissensus.scores import SCORES

if TYPE_CHECKING:
    from dissensus.detector import Chains, Detector
    from dissensus.lock import Claim

__all__ = ["check_output", "claim_output", "fit", "how_to_go_on", "print_summary", "summary_of"]


def fit(
    context: typer.Context,
    data: Inputs,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="The folder the gate is saved in. A gate there is replaced."),
    ],
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|PACKAGE:CLASS",
            help="What learns the data: auto, which suits the inputs, a family of models by name (vae, "
            "deep-vae and pixelcnn, for rows the flows maf, nsf and realnvp), or a class of your own. "
            "Default: auto, which is vae for pictures and maf for rows; vae if an option of VAEs is given.",
        ),
    ] = None,
    variant: Annotated[int, typer.Option(help="Of a VAE: 1 samples decoders, 2 samples encoders too.")] = 1,
    posterior: Annotated[
        str,
        typer.Option(
            help="How networks are drawn: auto, as the model recommends (sghmc; of flows ensemble), sghmc, "
            "cyclical-sghmc, sgld, swag, variational, or ensemble, which takes as many draws as chains."
        ),
    ] = "auto",
    statistic: Annotated[
        str,
        typer.Option(
            "--score",
            "--statistic",
            help=f"What unusual means: {', '.join(SCORES)}, which joins several; or a class of your own, as "
            "package:Class.",
        ),
    ] = STATISTIC,
    false_alarm_rate: Annotated[
        float, typer.Option(help="Share of normal inputs that may be flagged.")
    ] = 0.05,
    effort: Annotated[
        EffortName,
        typer.Option(
            help="How much to spend on a picture unless `score` says otherwise; the gate is calibrated for "
            "all three."
        ),
    ] = USUAL_EFFORT,
    contamination: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Share of DATA that may be outliers, below 0.5: the most unusual inputs are left out, of "
            "pictures after a first fit. Default: all are taken for normal.",
        ),
    ] = None,
    chains: Annotated[
        int | None, typer.Option(min=1, help="Chains that are run. Default: 2; 4 of an ensemble.")
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option(min=1, help="Draws kept of all chains together. Default: 20; 4 of an ensemble."),
    ] = None,
    chain_offset: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Run only some chains of a fit, numbered from N on, as other machines run others: what is "
            "saved is no gate before dissensus join has joined all parts.",
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="AMOUNT",
            help="What the process may take, as in '2 GB': DATA then stays on disk and is learnt from by "
            "blocks. Default: all of DATA is held in memory.",
        ),
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Passes over the data. Default: chosen by its size.")
    ] = None,
    step_size: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="How far a sampler goes in a step: smaller where the fit says that weights are too hot. "
            "Default: 0.01; 0.02 of flows.",
        ),
    ] = None,
    adaptation: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="EPOCHS",
            help="For how many epochs a sampler adapts its scales. Default: until the first draw.",
        ),
    ] = None,
    samples: Annotated[int, typer.Option(min=1, help="Importance samples of each log-likelihood.")] = 16,
    latent_size: Annotated[
        int | None,
        typer.Option(min=1, help="Of a VAE: size of the latent space. Default: chosen by the inputs' shape."),
    ] = None,
    observation: Annotated[
        str,
        typer.Option(
            help="Of a VAE: bernoulli, continuous-bernoulli, gaussian, categorical, discretised-logistic, "
            "auto, or a class of your own, as package:Class."
        ),
    ] = "auto",
    neighbours: Annotated[
        bool,
        typer.Option(
            help="Keep training inputs in the gate, up to 20,000 rows or 10,000 pictures as up to 64 numbers "
            "each, to measure how near they are to an input."
        ),
    ] = True,
    embed: Annotated[
        str | None,
        typer.Option(
            metavar="PACKAGE:NAME|FILE.onnx",
            help="What turns inputs into vectors first: a function, torch module or embedder of your own, or "
            "an ONNX file.",
        ),
    ] = None,
    id_column: IdColumn = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="A column of the table to leave out; may be given again."),
    ] = None,
    resize: Resize = None,
    skip_unreadable: Annotated[
        bool, typer.Option("--skip-unreadable", help="Leave out images that cannot be read.")
    ] = False,
    device: Device = "auto",
    seed: Seed = 0,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="Where to keep what is needed to go on after an interruption. Default: beside the output."
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Learn from unlabelled DATA what is normal, and save the gate.

    An interrupted fit goes on where it stopped when the same command is given again. One process at a time
    writes to a gate: a second one is refused at once, and told which process it is.
    """
    size = parse_size(resize)
    check_output(output)
    began = time.monotonic()
    from dissensus.inputs import are_pictures
    from dissensus.memory import parse_memory
    from dissensus.posterior import claimed_checkpoint

    if memory is not None:
        parse_memory(memory)  # what is no amount is refused before anything is read

    gate = chosen_detector(
        context,
        model,
        {"variant": variant, "latent_size": latent_size, "observation": observation},
        posterior=posterior,
        statistic=chosen_score(statistic),
        false_alarm_rate=false_alarm_rate,
        effort=effort.value,
        chains=chains,
        draws=draws,
        epochs=epochs,
        **chosen_steps(context, posterior, step_size, adaptation),
        samples=samples,
        resize=size,
        neighbours=neighbours,
        embed=chosen_embedder(embed),
        device=device,
        random_state=seed,
    )
    real = Path(os.path.realpath(output))
    kept = checkpoint or real.with_name(f".{real.name}.partial")
    with claim_output(output):
        with claimed_checkpoint(kept):
            with warnings_as_messages(data):
                inputs = _open(
                    data,
                    size,
                    id_column,
                    drop or [],
                    skip=skip_unreadable,
                    quiet=quiet,
                    mapped=memory is not None,
                )
            rows = gate.embed is not None or not are_pictures(inputs)
            # Outliers among pictures are told by a first fit, those among rows without one.
            twice = bool(contamination) and not rows
            work = fit_work(gate, len(inputs), rows=rows, twice=twice)
            with StageProgress(work, quiet=quiet) as progress:
                try:
                    with speaking_of(data), warnings_as_messages(data):
                        how: dict[str, Any] = {
                            "contamination": contamination,
                            "memory": memory,
                            "checkpoint": kept,
                            "on_progress": progress,
                        }
                        if chain_offset is None:
                            gate.fit(inputs, **how).save(output)
                        else:
                            part = gate.fit_chains(inputs, first_chain=chain_offset, **how)
                            part.save(output)
                except KeyboardInterrupt:
                    raise Interrupted(how_to_go_on(progress)) from None
        if checkpoint is None:
            shutil.rmtree(kept, ignore_errors=True)
    skipped = getattr(inputs, "skipped", [])
    if chain_offset is not None:
        _say_chains(part, output, json=json, quiet=quiet)
        return
    summary = summary_of(gate, output, len(inputs) - len(skipped), time.monotonic() - began)
    if json:
        print_json(summary | {"unreadable": len(skipped)})
    elif not quiet:
        print_summary(summary, output)
    if skipped and not quiet:
        messages().print(
            f"left out {len(skipped)} unreadable, first {skipped[0][1]}", style="yellow", markup=False
        )


def check_output(folder: Path) -> None:
    """Refuses a place that a gate could not be saved in, before any work is done."""
    from dissensus.persistence import is_replaceable

    if str(folder) == STDOUT:
        raise SettingsError("a gate is a folder, which cannot go to stdout: name a folder")
    real = Path(os.path.realpath(folder))
    if real.is_symlink():
        raise ArtifactError(f"{folder} is a link that leads back to itself: choose another name")
    if real.exists() and not is_replaceable(real):
        raise ArtifactError(f"{folder} exists and is no saved detector: choose another name")
    check_folder(real.parent)


def claim_output(folder: Path) -> Claim:
    """The gate's folder is ours until the command ends; refused if another process is writing to it."""
    from dissensus.persistence import claim_folder

    return claim_folder(folder)


def _say_chains(part: Chains, output: Path, *, json: bool, quiet: bool) -> None:
    draws = len(part.sampled.draws)
    if json:
        print_json(
            {"chains": part.numbers, "draws": draws, "fitted_rows": dict(part.rows), "part": str(output)}
        )
    elif not quiet:
        chains = f"chain{'s'[: len(part.numbers) > 1]} {', '.join(map(str, part.numbers))}"
        results().print(
            f"{output}  {chains} of a fit, {draws} draws, from {part.rows['train']} training inputs\n"
            f"next, when all parts are there: dissensus join {output} OTHERS -o GATE",
            markup=False,
            soft_wrap=True,
        )


def summary_of(gate: Detector, output: Path, inputs: int, seconds: float) -> dict[str, Any]:
    """What there is to say about a fitted gate, as JSON values."""
    from math import isfinite

    from dissensus.detector.describing import about_left_out, about_model, about_sampler
    from dissensus.detector.posterior import posterior_in_words

    return {
        "gate": str(output),
        "model": about_model(gate)["model"],
        "inputs": inputs,
        "left_out": about_left_out(gate),
        "input_shape": list(gate.preprocessor_.shape),
        "draws": len(gate.draws_),
        "chains": gate.sampler_.chains,
        "posterior": posterior_in_words(gate.sampler_.posterior),
        "statistic": gate.statistic_,
        "false_alarm_rate": gate.false_alarm_rate,
        "threshold": gate.threshold_ if isfinite(gate.threshold_) else None,
        "calibration_inputs": len(gate.calibration_scores_),
        "noise_floor": gate.noise_floor_,
        "health": about_sampler(gate),
        "seconds": round(seconds, 1),
    }


def _open(
    data: str,
    size: tuple[int, int] | None,
    id_column: str | None,
    drop: list[str],
    *,
    skip: bool,
    quiet: bool,
    mapped: bool = False,
) -> Any:
    """An array, or a table or folder that is read when it is fitted on; ``mapped`` leaves arrays on disk."""
    from dissensus.inputs import is_table, open_source, read_array

    if mapped and data.lower().endswith(".npy") and Path(data).is_file():
        return read_array(data, mapped=True)
    if (id_column is not None or drop) and not is_table(data):
        raise SettingsError(
            f"--id and --drop are for tables with named columns, and {data} is no such table: leave them out"
        )
    with Downloads(quiet=quiet) as downloads:
        return open_source(
            data,
            name=data,
            resize=size,
            id_column=id_column,
            drop=drop,
            on_error="skip" if skip else "raise",
            progress=downloads,
        )


def how_to_go_on(progress: StageProgress) -> str:
    """What to tell a person who pressed Ctrl-C."""
    if progress.last is None:
        return "interrupted before an epoch was done: give the same command again"
    stage, done, total = progress.last
    fits = {SAMPLING: "", AGAIN: " of the second fit"}
    where = f"after epoch {done} of {total}{fits[stage]}" if stage in fits else f"while {stage}"
    return f"interrupted {where}: give the same command again to go on from there"


def print_summary(summary: dict[str, Any], output: Path) -> None:
    """Say what was fitted, in words."""
    from rich.markup import escape

    from dissensus.report import describe_health

    out = results()
    out.print(
        f"[bold]{escape(str(output))}[/bold]  {summary['draws']} draws of {summary['chains']} chains, "
        f"from {summary['inputs']} inputs in {summary['seconds']:.0f} s"
    )
    for said in what_was_left_out(summary):
        out.print(said)
    out.print(
        f"flags {what_is_flagged(summary)}, at a false-alarm rate of "
        f"{summary['false_alarm_rate']:g} ({summary['calibration_inputs']} calibration inputs)"
    )
    print_bullets(out, describe_health(summary["health"], summary["noise_floor"], warned=True))
    out.print(f"next: dissensus score {output} DATA", markup=False)
