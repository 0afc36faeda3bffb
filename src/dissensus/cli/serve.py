"""``dissensus serve``: gates that programs and people can ask over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dissensus.cli.console import messages
from dissensus.errors import SettingsError

__all__ = ["serve"]


def serve(
    gate: Annotated[
        Path | None,
        typer.Argument(
            metavar="GATE", help="A folder that `dissensus fit` saved, or a folder of such folders."
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Where to listen; beyond this machine it takes --keys.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 is any free one.")] = 8000,
    keys: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Hashes of the API keys that are let in.")
    ] = None,
    new_key: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Make a key, add its hash to --keys, print it once, leave."),
    ] = None,
    operator: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A key that may load and unload gates; may be given again."),
    ] = None,
    reviewer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A key that may confirm inputs as normal or as outliers, which is saved in the gate; "
            "'*': whoever may ask; may be given again.",
        ),
    ] = None,
    quota: Annotated[
        int | None,
        typer.Option(min=1, help="Inputs a minute of each key; with --new-key, of the new one."),
    ] = None,
    no_keys_ok: Annotated[
        bool, typer.Option("--no-keys-ok", help="Let other machines ask without a key.")
    ] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A name browsers may know this service by; may be given again."),
    ] = None,
    default: Annotated[
        str | None, typer.Option(metavar="GATE", help="Which gate answers where none is named.")
    ] = None,
    pin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GATE=VERSION",
            help="Which of its versions answers where none is named; may be given again.",
        ),
    ] = None,
    tls_cert: Annotated[Path | None, typer.Option(metavar="FILE", help="Certificate chain in PEM.")] = None,
    tls_key: Annotated[Path | None, typer.Option(metavar="FILE", help="Its private key in PEM.")] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Batches scored at once. Default: one a core.")
    ] = None,
    max_batch: Annotated[int, typer.Option(min=1, help="Inputs scored in one call.")] = 32,
    max_delay_ms: Annotated[
        float, typer.Option(min=0, help="How long an input waits for others to be scored with it.")
    ] = 5.0,
    queue: Annotated[
        int, typer.Option(min=1, help="Inputs of a gate that may wait; then it answers 429.")
    ] = 512,
    connections: Annotated[
        int, typer.Option(min=1, help="Open at once; beyond that, the one idle longest is closed.")
    ] = 1000,
    max_body_mb: Annotated[float, typer.Option(help="MiB of one request.")] = 32.0,
    max_inputs: Annotated[int, typer.Option(min=1, help="Files or rows in one request.")] = 256,
    decoders: Annotated[
        int, typer.Option(min=1, help="Processes that decode pictures; small pictures need none.")
    ] = 2,
    decode_timeout: Annotated[
        float, typer.Option(help="Seconds for one picture; then its decoder is ended and replaced.")
    ] = 5.0,
    timeout: Annotated[float, typer.Option(help="Seconds for one request.")] = 30.0,
    poll: Annotated[float, typer.Option(help="Seconds between looks for replaced gates and keys.")] = 2.0,
    drain: Annotated[
        float,
        typer.Option(min=0, help="When told to end: seconds to go on answering while saying 'not ready'."),
    ] = 0.0,
    webhook: Annotated[str | None, typer.Option(metavar="URL", help="Where drift alarms are posted.")] = None,
    drift_confidence: Annotated[
        float,
        typer.Option(
            help="How sure to be that a false drift alarm has at most 1% probability with the gate's own "
            "calibration inputs. 0: so on average over such sets of inputs. 0.95: nearly sure, but drift is "
            "seen about 1.7 times as late."
        ),
    ] = 0.0,
    score: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PACKAGE:CLASS",
            help="A score of your own that gates were fitted with; may be given again.",
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="PACKAGE:CLASS", help="The same for a model; may be given again."),
    ] = None,
    observation: Annotated[
        list[str] | None,
        typer.Option(metavar="PACKAGE:CLASS", help="The same for an observation model; may be given again."),
    ] = None,
    embed: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PACKAGE:NAME|FILE.onnx",
            help="What gates embed their inputs by, as in fit; may be given again.",
        ),
    ] = None,
    traces: Annotated[
        bool,
        typer.Option("--traces", help="Trace requests with OpenTelemetry, as its OTEL_ variables say."),
    ] = False,
    log_format: Annotated[str, typer.Option(help="json or text.")] = "json",
    device: Annotated[str, typer.Option(help="cpu, or cuda.")] = "cpu",
) -> None:
    """Serve a GATE, or a folder of gates, over HTTP: an API, metrics, and a page for people."""
    if new_key is not None:
        _make_key(keys, new_key, quota)
        return
    if gate is None:
        raise SettingsError("name the folder of a gate, or a folder of gates, to serve")
    _require_extra()
    from dissensus.serve.settings import ServeSettings

    settings = ServeSettings(
        host=host,
        port=port,
        allowed_hosts=tuple(allow_host or ()),
        default=default,
        pinned=tuple(map(_pinned, pin or ())),
        workers=workers,
        device=device,
        max_batch=max_batch,
        max_delay_ms=max_delay_ms,
        queue=queue,
        connections=connections,
        max_body_mb=max_body_mb,
        max_inputs=max_inputs,
        decoders=decoders,
        decode_timeout=decode_timeout,
        timeout=timeout,
        poll=poll,
        drain=drain,
        keys=keys,
        operators=tuple(operator or ()),
        reviewers=tuple(reviewer or ()),
        quota=quota,
        no_keys_ok=no_keys_ok,
        tls_cert=tls_cert,
        tls_key=tls_key,
        webhook=webhook,
        drift_confidence=drift_confidence,
        scores=tuple(score or ()),
        models=tuple(model or ()),
        observations=tuple(observation or ()),
        embedders=tuple(embed or ()),
        traces=traces,
        log_format=log_format,
    )
    from dissensus.serve.server import serve as serve_gates
    from dissensus.serve.service import Service

    def announce(address: str) -> None:
        typer.echo(address)
        messages().print(f"open {address}/ in a browser; Ctrl-C ends it", markup=False, soft_wrap=True)

    serve_gates(Service(gate, settings), announce)


def _pinned(text: str) -> tuple[str, str]:
    gate, equals, version = text.partition("=")
    if not (gate and equals and version):
        raise SettingsError(f"--pin takes GATE=VERSION, as in clothes=v17, and not {text!r}")
    return gate, version


def _make_key(path: Path | None, name: str, quota: int | None) -> None:
    if path is None:
        raise SettingsError("--new-key needs --keys FILE, the file that its hash is added to")
    _require_extra()
    from dissensus.serve.keys import new_key

    key = new_key(path, name, quota)
    messages().print(
        f"the key of {name}, shown this once; its hash is in {path}:", markup=False, soft_wrap=True
    )
    typer.echo(key)


def _require_extra() -> None:
    try:
        import fastapi  # noqa: F401
        import httptools  # noqa: F401
        import prometheus_client  # noqa: F401
        import python_multipart  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise SettingsError(f"dissensus serve needs {error.name}: pip install 'dissensus[serve]'") from error
