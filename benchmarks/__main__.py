"""The command ``python -m benchmarks``: arguments in, calls out."""

import typer

from benchmarks.checks.command import checks
from benchmarks.densities.command import densities
from benchmarks.everything.command import make_all
from benchmarks.filling.command import fill_in
from benchmarks.frontier.command import frontier
from benchmarks.gallery.command import gallery
from benchmarks.guarantees.command import guarantees
from benchmarks.latent.command import latent
from benchmarks.panel.command import panel
from benchmarks.paper.command import paper
from benchmarks.service.attack_command import attacks
from benchmarks.service.command import service
from benchmarks.speed.command import speed
from benchmarks.standing.command import standing
from benchmarks.tables.command import tables
from dissensus.cli.failures import Commands

__all__ = ["app"]

app = typer.Typer(
    name="python -m benchmarks",
    cls=Commands,
    help="Measure the benchmarks, and make their tables and figures from what was measured.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
app.command("paper")(paper)
app.command("panel")(panel)
app.command("guarantees")(guarantees)
app.command("tables")(tables)
app.command("latent")(latent)
app.command("frontier")(frontier)
app.command("densities")(densities)
app.command("speed")(speed)
app.command("service")(service)
app.command("attacks")(attacks)
app.command("checks")(checks)
app.command("standing")(standing)
app.command("gallery")(gallery)
app.command("all")(make_all)
app.command("fill")(fill_in)

if __name__ == "__main__":
    app()
