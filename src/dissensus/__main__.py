"""``python -m dissensus``: the same as the command ``dissensus``."""

from dissensus.cli import main

if __name__ == "__main__":
    main()
