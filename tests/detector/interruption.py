"""A callback that stops a fit."""


class Interruption:
    """Ctrl-C after an epoch of one of the fits."""

    def __init__(self, stage, epoch):
        self.at = (stage, epoch)

    def __call__(self, stage, done, _):
        if (stage, done) == self.at:
            raise KeyboardInterrupt
