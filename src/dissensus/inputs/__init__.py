"""Read inputs and prepare them: files, folders, tables, streams, named datasets, splits, made-up outliers.

Everything here is NumPy, but for embedders that are torch modules: images are uint8 arrays (N, H, W) if grey
and (N, H, W, 3) if RGB.
"""

from dissensus.inputs.arrays import read_array
from dissensus.inputs.cell import Cell
from dissensus.inputs.chunks import ArrayStream, Chunk, InputStream, PictureStream
from dissensus.inputs.cifar10 import read_cifar10
from dissensus.inputs.columns import Column
from dissensus.inputs.complexity import code_length
from dissensus.inputs.dataset import Dataset
from dissensus.inputs.download import Progress, download_file, download_members
from dissensus.inputs.embedded import EmbeddedPreprocessor, embed_inputs, fit_embedded
from dissensus.inputs.embedders import (
    DIVISIONS,
    EMBEDDERS,
    Embedder,
    OwnEmbedders,
    Vocabulary,
    check_embedder,
    embedder_from_config,
)
from dissensus.inputs.folders import ImageFolder, is_pattern
from dissensus.inputs.frames import Frame
from dissensus.inputs.idx import read_idx
from dissensus.inputs.image_file import image_suffixes, read_image
from dissensus.inputs.json_lines import JsonLines
from dissensus.inputs.listings import listing_digest
from dissensus.inputs.named import DATASET_NAMES, dataset_places, load_dataset
from dissensus.inputs.outliers import (
    MADE_UP,
    blurred,
    constant,
    every_kind,
    flipped,
    gaussian_noise,
    inverted,
    make_up,
    mixture,
    rotated,
    shuffled_patches,
    uniform_noise,
)
from dissensus.inputs.preprocessing import fit_preprocessor, restore_preprocessor
from dissensus.inputs.preprocessor import Prepared, Preprocessor
from dissensus.inputs.remote import remoteness
from dissensus.inputs.sample import digits, load_sample
from dissensus.inputs.shards import Shard, ShardStream
from dissensus.inputs.sources import open_inputs
from dissensus.inputs.spectra import SPECTRUM, spectrum, spectrum_names
from dissensus.inputs.splits import FRACTIONS, hold_out_classes, split
from dissensus.inputs.stored import Stored, StoredFile
from dissensus.inputs.storing import store_inputs, stored_preprocessor
from dissensus.inputs.streams import (
    are_pictures,
    in_memory,
    is_picture_file,
    open_source,
    open_stream,
    training_inputs,
)
from dissensus.inputs.surroundings import SURROUNDINGS
from dissensus.inputs.svhn import read_svhn
from dissensus.inputs.table_encoder import TableEncoder
from dissensus.inputs.tables import TABLE_SUFFIXES, Table, TableFile, TableStream, is_table
from dissensus.inputs.text_lines import read_lines
from dissensus.inputs.texts import TextPreprocessor
from dissensus.inputs.validation import MINIMAL_SIDE, check_images
from dissensus.inputs.without_model import as_bytes, image_statistic_names, image_statistics

__all__ = [
    "DATASET_NAMES",
    "DIVISIONS",
    "EMBEDDERS",
    "FRACTIONS",
    "MADE_UP",
    "MINIMAL_SIDE",
    "SPECTRUM",
    "SURROUNDINGS",
    "TABLE_SUFFIXES",
    "ArrayStream",
    "Cell",
    "Chunk",
    "Column",
    "Dataset",
    "EmbeddedPreprocessor",
    "Embedder",
    "Frame",
    "ImageFolder",
    "InputStream",
    "JsonLines",
    "OwnEmbedders",
    "PictureStream",
    "Prepared",
    "Preprocessor",
    "Progress",
    "Shard",
    "ShardStream",
    "Stored",
    "StoredFile",
    "Table",
    "TableEncoder",
    "TableFile",
    "TableStream",
    "TextPreprocessor",
    "Vocabulary",
    "are_pictures",
    "as_bytes",
    "blurred",
    "check_embedder",
    "check_images",
    "code_length",
    "constant",
    "dataset_places",
    "digits",
    "download_file",
    "download_members",
    "embed_inputs",
    "embedder_from_config",
    "every_kind",
    "fit_embedded",
    "fit_preprocessor",
    "flipped",
    "gaussian_noise",
    "hold_out_classes",
    "image_statistic_names",
    "image_statistics",
    "image_suffixes",
    "in_memory",
    "inverted",
    "is_pattern",
    "is_picture_file",
    "is_table",
    "listing_digest",
    "load_dataset",
    "load_sample",
    "make_up",
    "mixture",
    "open_inputs",
    "open_source",
    "open_stream",
    "read_array",
    "read_cifar10",
    "read_idx",
    "read_image",
    "read_lines",
    "read_svhn",
    "remoteness",
    "restore_preprocessor",
    "rotated",
    "shuffled_patches",
    "spectrum",
    "spectrum_names",
    "split",
    "store_inputs",
    "stored_preprocessor",
    "training_inputs",
    "uniform_noise",
]
