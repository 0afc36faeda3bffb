"""The HTTP service: saved gates that programs and people can ask.

The way of a request: ``server`` (sockets, TLS, graceful end) → ``observing`` and ``guards`` (ids, logs, keys,
headers) → ``plain`` or ``v2`` (its endpoint) → ``batching`` (together with others) → ``workers`` (threads
that share the weights). ``gates`` loads and replaces what is asked. Nothing heavy is imported here.
"""

__all__: list[str] = []
