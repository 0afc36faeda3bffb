"""How the service bears load: measured on a real server process, by clients that cost next to nothing.

``library`` (what it is held against), ``process`` (a server to ask), ``load`` (clients), ``measure`` (what is
done to it), then ``sentences``, which reads the record alone. Nothing is imported here, so that the command
line can describe the command at once.
"""

__all__: list[str] = []
