"""The file of a release: JSON that people can read, exact to the last bit, checked line by line when it comes back."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict
from pathlib import Path

import numpy as np

from dppca_nb.core.guarantee import Guarantee
from dppca_nb.core.ledger_entry import LedgerEntry
from dppca_nb.core.release_check import checked_parts
from dppca_nb.core.release_json import COPY, ReleaseFileError, found, parsed
from dppca_nb.core.whole_file import write_whole

_FORMAT, _VERSION = "dppca_nb release", 1


def release_text(
    noisy: np.ndarray,
    *,
    names,
    guarantee: Guarantee,
    scale: tuple[float, ...] | None = None,
    entries: tuple[LedgerEntry, ...] = (),
) -> str:
    """Write the plain parts of a release as JSON.

    Parameters
    ----------
    noisy : ndarray, shape (p, p)
        The noisy matrix, from which all else follows.
    names : sequence of str, length p
        The variables.
    guarantee : Guarantee
        With all its reasons and caveats.
    scale : tuple of float, length p, optional
        The public scales.
    entries : tuple of LedgerEntry
        What it cost.

    Returns
    -------
    str
        One line per number, name, reason and caveat, and one per row of the matrix, which comes last.

    Raises
    ------
    ReleaseFileError
        If :func:`release_parts` would not give the same parts back.

    Examples
    --------
    >>> from dppca_nb.core.privacy import Budget, make_guarantee
    >>> made = make_guarantee(Budget(1, 1e-6), 100, "analytic")
    >>> print(release_text(np.diag([0.2, 0.8]), names=["a", "é"], guarantee=made).splitlines()[1])
      "format": "dppca_nb release",
    """
    content = _content(np.asarray(noisy, dtype=float), tuple(names), guarantee, scale, entries)
    rows = content["noisy_kendall"]
    record = {
        "format": _FORMAT,
        "version": _VERSION,
        "holds": guarantee.holds,
        "checksum": _checksum(content),
    } | content
    text = json.dumps(record | {"noisy_kendall": []}, indent=2, ensure_ascii=False).removesuffix("[]\n}")
    text += "[\n    " + ",\n    ".join(map(json.dumps, rows)) + "\n  ]\n}\n"
    # Half of a surrogate pair has no place in a file of text, but its number has.
    text = re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", text)
    try:
        back = release_parts(text)
    except ReleaseFileError as error:
        raise ReleaseFileError(f"This release cannot be saved, since it could not be loaded: {error}") from error
    if back["names"] != tuple(names) or back["guarantee"] != guarantee:
        raise ReleaseFileError(
            "This release cannot be saved: a text of it has two halves of one character side by side, which a file "
            "would join. Rename that variable."
        )
    return text


def release_parts(text: str) -> dict:
    """Read the plain parts of a release back, and check each of them and that they agree.

    Parameters
    ----------
    text : str
        What :func:`release_text` wrote. Other white space, another order of the keys and 1 for 1.0 do no harm.

    Returns
    -------
    dict
        The arguments of :func:`release_text`: noisy, names, guarantee, scale, entries.

    Raises
    ------
    ReleaseFileError
        Saying what was found where. The checksum at the end finds what is possible but was not written; it protects
        from accidents, not from somebody who computes a new one.

    Examples
    --------
    >>> release_parts('{"format": "dppca_nb release", "version": 2}')
    Traceback (most recent call last):
    ...
    dppca_nb.core.release_json.ReleaseFileError: version must be 1; got 2. A newer dppca_nb wrote it: update yours.
    """
    record = parsed(text)
    if not isinstance(record, dict) or record.get("format") != _FORMAT:
        raise ReleaseFileError('It is no release: its format is not "dppca_nb release". Give a file that save() wrote.')
    version = record.get("version")
    if type(version) is not int or version != _VERSION:
        raise ReleaseFileError(
            f"version must be {_VERSION}; got {found(version)}. A newer dppca_nb wrote it: update yours."
        )
    parts = checked_parts(record)
    made = _checksum(_content(**parts))
    if made != record["checksum"]:
        raise ReleaseFileError(
            f"Something was changed after it was saved: its checksum is {made}; got {found(record['checksum'])}. {COPY}"
        )
    return parts


def write_release(path, text: str, *, overwrite: bool = False) -> None:
    """Bring a text to disk, whole or not at all.

    Parameters
    ----------
    path : str or Path
        In a folder that exists.
    text : str
        Of :func:`release_text`.
    overwrite : bool
        Whether a file that is there may be replaced.

    Raises
    ------
    ReleaseFileError
        If it cannot be written, or a file is there.

    Examples
    --------
    >>> write_release("no such folder/release.json", "{}")
    Traceback (most recent call last):
    ...
    dppca_nb.core.release_json.ReleaseFileError: The release file "release.json" cannot be written: there is no folder
    "no such folder". Make it first.
    """
    path = Path(path).expanduser()
    if path.exists() and not overwrite:
        raise ReleaseFileError(
            f'There is a file "{path.name}" already, and it was kept. Give another name, or overwrite=True.'
        )
    if not path.parent.is_dir():
        raise ReleaseFileError(
            f'The release file "{path.name}" cannot be written: there is no folder "{path.parent.name}". Make it first.'
        )
    try:
        write_whole(path, text.encode("utf-8"))
    except OSError as error:
        raise ReleaseFileError(
            f'The release file "{path.name}" cannot be written ({error.strerror or error}). Give a path that you may '
            "write to, on a disk with room."
        ) from error


def read_release(path) -> dict:
    """Read a file and return the parts of its release.

    Parameters
    ----------
    path : str or Path
        Of a file that :func:`write_release` wrote.

    Returns
    -------
    dict
        As of :func:`release_parts`.

    Raises
    ------
    ReleaseFileError
        Naming the file.

    Examples
    --------
    >>> read_release("no such release.json")
    Traceback (most recent call last):
    ...
    dppca_nb.core.release_json.ReleaseFileError: The release file "no such release.json" cannot be read (No such file
    or directory). Check the path.
    """
    path = Path(path).expanduser()
    try:
        return release_parts(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise ReleaseFileError(
            f'The release file "{path.name}" cannot be read ({error.strerror or error}). Check the path.'
        ) from error
    except UnicodeDecodeError as error:
        raise ReleaseFileError(f'The release file "{path.name}" is not text in UTF-8. {COPY}') from error
    except ReleaseFileError as error:
        raise ReleaseFileError(f'The release file "{path.name}" cannot be used. {error}') from error


def _content(noisy, names, guarantee, scale, entries) -> dict:
    """Return what a file holds, but for its head; the matrix comes last."""
    return {
        "names": list(names),
        "scale": None if scale is None else list(scale),
        "guarantee": asdict(guarantee),
        "entries": [asdict(entry) for entry in entries],
        "noisy_kendall": noisy.tolist(),
    }


def _checksum(content: dict) -> str:
    """Return the SHA-256 of what a file holds, whatever its white space and the order of its keys."""
    return "sha256 " + hashlib.sha256(json.dumps(content, sort_keys=True).encode("ascii")).hexdigest()
