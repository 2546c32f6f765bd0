"""Which language a text is in, by its letters: py3langid's model in a tenth of the memory, with the same answers.

Its features are sequences of up to six bytes; at each place of a text the longest that ends there counts. py3langid
finds it by 39 MB of transitions between 104,583 states, which each process would unpack for itself. Here the sequences
are numbers in one sorted array, and the arrays are files beside the packed model, mapped into all processes alike.
"""

import shutil
import tempfile
import unicodedata
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from py3langid.langid import MODEL_DIR, MODEL_FILE
from py3langid.modelio import load_model

LONGEST = 6  # bytes of a sequence
ROOT = 1  # the number of the empty sequence; a byte more is 256 times as much, and the byte

_PACKED = MODEL_DIR / MODEL_FILE


class _Model(NamedTuple):
    sequences: NDArray[np.int64]  # sorted
    features: NDArray[np.int32]  # of each sequence; -1 for one that only begins others
    weights: NDArray[np.float16]  # of each feature in each class
    priors: NDArray[np.float32]  # of each class
    classes: NDArray[np.str_]  # languages, some twice


def scores(text: str) -> Mapping[str, float]:
    """The natural logarithm of the likelihood of a text in each language of the model, up to a constant.

    >>> found = scores("Der Bundestag hat gewählt")
    >>> max(found, key=found.__getitem__), len(found)
    ('de', 140)
    """
    model = _model()
    read = unicodedata.normalize("NFC", text.lower() if text.isupper() else text)
    found = _features(model, read.encode("utf-8", "surrogatepass"))
    features, counts = np.unique(found[found >= 0], return_counts=True)
    values = np.log1p(counts.astype(np.float32)) @ model.weights[features] + model.priors
    likeliest: dict[str, float] = {}
    for language, value in zip(model.classes.tolist(), values.tolist(), strict=True):
        likeliest[language] = max(value, likeliest.get(language, value))
    return likeliest


def _features(model: _Model, text: bytes) -> NDArray[np.int32]:
    """The feature of the longest sequence that ends at each byte."""
    letters = np.frombuffer(text, np.uint8).astype(np.int64)
    ending = np.zeros((LONGEST, len(letters)), np.int64)  # those at each byte, by their length
    number = np.full(len(letters) + 1, ROOT)
    for before in range(min(LONGEST, len(letters))):
        number = number[:-1] * 256 + letters[before:]
        ending[before, before:] = number
    places = np.searchsorted(model.sequences, ending)
    is_known = model.sequences.take(places, mode="clip") == ending
    longest: NDArray[np.int64] = np.where(is_known, places, 0).max(axis=0)  # the longer, the larger
    return model.features[longest]


@cache
def _model() -> _Model:
    folder = _PACKED.with_name(f"unpacked-{_PACKED.stat().st_size}")  # another release has another size
    if not folder.exists():
        model = _unpacked()
        try:
            _write(model, folder)
        except OSError:  # the packages are read-only
            return model
    # As plain arrays, of which a part costs less than of `memmap`.
    return _Model(*(np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r")) for name in _Model._fields))


def _write(model: _Model, folder: Path) -> None:
    """Another process may do the same: the folder gets its name last."""
    unfinished = Path(tempfile.mkdtemp(dir=folder.parent))
    try:
        unfinished.chmod(0o755)
        for name, array in model._asdict().items():
            np.save(unfinished / f"{name}.npy", array)
        if not folder.exists():
            unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _unpacked() -> _Model:
    weights, priors, classes, transitions, rows, features = load_model(_PACKED)
    following = np.asarray(transitions).reshape(-1, 256)
    row_of_state = np.asarray(rows)
    sequences = np.zeros(len(row_of_state), np.int64)
    sequences[0] = ROOT
    level = np.zeros(1, np.int64)
    while level.size:  # the states of sequences of one length; the others they lead to are of shorter ones
        targets = following[row_of_state[level]]
        number, byte = np.nonzero(sequences[targets] == 0)
        found = targets[number, byte]
        sequences[found] = sequences[level[number]] * 256 + byte
        level = found
    order = np.argsort(sequences)
    return _Model(sequences[order], np.array(features, np.int32)[order], weights, priors, np.array(classes))
