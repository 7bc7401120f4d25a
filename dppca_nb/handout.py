"""`handout`: one interactive page for a class, from a USB stick, without a network and without a kernel."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from pathlib import Path

from dppca_nb import _handout_frames as frames
from dppca_nb import _handout_page as made
from dppca_nb._handout_text import blocks, escaped, isolated
from dppca_nb.charts.choices import REFERENCES, UNCERTAINTIES, check_choice, check_truth
from dppca_nb.core.ledger import Ledger
from dppca_nb.core.release import LoadingRelease
from dppca_nb.widgets.frame import EPSILONS
from dppca_nb.widgets.gini import GiniExplorer
from dppca_nb.widgets.view import LiveView

MOST_COMPONENTS = 6  # 15 pairs
MANY_RELEASES = (
    "A handout shows many noise levels at once. For private data each of them would be a release, and all of them "
    "would have to be paid for: what is laid out here would not be private. Release once with dp_loading(data, …, "
    'ledger=ledger), keep it with release.save("release.json"), and make the handout of that file: its slider only '
    "adds noise, which is free."
)


def handout(
    data: object,
    path: str | Path,
    *,
    title: str | None = None,
    components: int = 4,
    levels: int = 25,
    variables: object = 12,
    exercises: str | None = None,
    gini: bool = False,
    scale: object = None,
    reference: str | Iterable[str] = "beside",
    uncertainty: str | Iterable[str] = ("off", "ellipses"),
    source: str | None = None,
    seed: int = 0,
    overwrite: bool = False,
    progress: Callable[[int, int], None] | None = None,
    ledger: None = None,
) -> Path:
    r"""Write an explorer as one HTML file that opens from disk: a slider, pictures, exercises; for print, too.

    **Data are treated as public,** as `LoadingExplorer` without a ledger does, and the page says so: the noise at
    several levels gives the exact matrix away. Of private data, hand over ONE release: its slider only adds noise.

    Parameters
    ----------
    data : DataFrame, array_like or anything `as_table` takes; or LoadingRelease
        Public data; or one release, from `dp_loading` or ``LoadingRelease.load``. A release whose guarantee is void is
        shown, and marked as void everywhere.
    path : str or Path
        Of the page, in a folder that exists.
    title : str, optional
        Of the page; by default made from ``data.attrs["title"]``.
    components : int, 2 to 6
        Pairs are made of that many of the first components, or of as many as there are.
    levels : int, 2 to 25
        Steps of the slider, evenly chosen from those of the explorer.
    variables : int, "all", or list of str and int
        Which are drawn, as for `loading_chart`.
    exercises : str, optional
        Text in the small syntax below.
    gini : bool
        Whether `GiniExplorer` follows on the page, with the aversion parameter on its slider. Public data only.
    scale : None, array_like, mapping or "sample"
        As for `LoadingExplorer`.
    reference : {"beside", "off", "underneath"}, or several
        Where ordinary components stand; if several, readers choose, and the first comes first. Not for a release.
    uncertainty : {"off", "ellipses", "cloud"}, or several
        What is shown of other noise draws, in the same way.
    source : str, optional
        Where the data come from, for the last line; by default ``data.attrs["source"]`` and ``data.attrs["licence"]``.
    seed : int
        Names the noise draw of public data: same data and settings, same file. Noise that lowers a release is fresh.
    overwrite : bool
        Whether a file that is there may be replaced.
    progress : callable, optional
        Is told after each picture how many there are so far, and how many there will be.
    ledger : None
        Refused, with the way to go for private data.

    Returns
    -------
    Path
        Of the file. It is written whole or not at all.

    Raises
    ------
    DataError
        If there is nothing to draw; a ``ValueError``.
    ValueError, TypeError
        For an argument that is none of the above, an explorer, a ledger, a release with a reference, a file that is
        there, exercises with an answer that does not end.

    Notes
    -----
    Exercises: paragraphs are divided by blank lines; ``#`` begins a heading, ``-`` or ``*`` an item of a list, ``1.``
    one of a numbered list; three backquotes fence code; within a line there are ``**strong**``, ``*emphasis*`` and code
    in backquotes; a backslash keeps a sign as it is. Lines ``<details>``, ``<summary>Answer</summary>`` and
    ``</details>`` of their own make an answer that folds. It is not printed. Everything else is text.

    The page has a policy that lets nothing run but its own two scripts and fetches nothing. It needs a browser of 2023
    or later; older ones, and those without JavaScript, show its still pictures.

    Examples
    --------
    >>> import tempfile
    >>> from dppca_nb import datasets, handout
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = handout(datasets.iris(), f"{folder}/iris.html", components=2, levels=2, uncertainty="off")
    ...     page = path.read_text(encoding="utf-8")
    >>> page.count('class="still"'), "Iris" in page, "http://" in page.split("<body>")[0]
    (3, True, False)
    """
    if ledger is not None or isinstance(data, Ledger):
        raise ValueError(MANY_RELEASES)
    if isinstance(data, LiveView):
        raise TypeError(f"data must be data or one release; got a {type(data).__name__}. Give what it was made from.")
    components, levels = _whole("components", components, MOST_COMPONENTS), _whole("levels", levels, len(EPSILONS))
    gini, overwrite = check_truth("gini", gini), check_truth("overwrite", overwrite)
    released = isinstance(data, LoadingRelease)
    shown = {
        "show_reference": _several("reference", reference, REFERENCES),
        "uncertainty": _several("uncertainty", uncertainty, UNCERTAINTIES),
    }
    if released:
        shown["show_reference"] = ("off",)
        _check_release(data, gini)
    task = "" if exercises is None else blocks(exercises)
    target = made.check_target(path, overwrite)
    parts = _parts(data, title, components, levels, variables, gini, scale, shown, seed, progress)
    name = parts[0][1].name
    text = made.page(
        title=title or (name if released else f"{name}: principal components under privacy noise"),
        lead=_lead(data, name, gini),
        parts=parts,
        exercises=task,
        source=_source(data, source),
    )
    made.write(target, text, overwrite)
    return target


def _parts(data, title, components, levels, variables, gini, scale, shown, seed, progress) -> list:
    """Lay out the explorers of the page, each with its heading."""
    attrs = getattr(data, "attrs", {})
    name = attrs.get("title") or title or ("A private release" if isinstance(data, LoadingRelease) else "Your data")
    explorers = [("", frames.explorer_of(data, title=name, scale=scale, variables=variables, seed=seed))]
    try:
        if gini:
            explorers.append(("Gini components of the same data", GiniExplorer(data, title=name)))
        for _, explorer in explorers:
            frames.refuse_empty(explorer)
        axes = [frames.loading_axes(explorers[0][1], levels, components, shown)]
        if gini:
            axes.append(frames.gini_axes(explorers[1][1], levels, components, shown["show_reference"]))
        total, done = sum(map(frames.size, axes)), 0

        def said() -> None:
            nonlocal done
            done += 1
            if progress is not None:
                progress(done, total)

        return [
            (heading, frames.lay_out(explorer, own, said))
            for (heading, explorer), own in zip(explorers, axes, strict=True)
        ]
    finally:
        for _, explorer in explorers:
            explorer.close()


def _check_release(release: LoadingRelease, gini: bool) -> None:
    """Refuse what would put rows, or what was computed from them, beside a release."""
    if release.reference is not None:
        raise ValueError(
            "A release with a reference is not handed out: its reference was computed without noise. Leave it out with "
            "dataclasses.replace(release, reference=None)."
        )
    if gini:
        raise ValueError("Gini components need the rows, and a release has none. Leave gini out, or give public data.")


def _whole(argument: str, value: object, most: int) -> int:
    """Check a whole number from 2."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or not 2 <= number <= most:
        raise ValueError(f"{argument} must be a whole number from 2 to {most}; got {value!r}.")
    return number


def _several(argument: str, value: object, choices: tuple[str, ...]) -> tuple[str, ...]:
    """Check one word or several different ones."""
    words = (value,) if isinstance(value, str) or not isinstance(value, Iterable) else tuple(value)
    for word in words:
        check_choice(argument, word, choices)
    if not words or len(set(words)) < len(words):
        raise ValueError(f"{argument} must be one word or several different ones of {choices}; got {value!r}.")
    return words


def _lead(data: object, name: str, gini: bool) -> str:
    """Say in a sentence what the page is."""
    if isinstance(data, LoadingRelease):
        return (
            f"One private release of {data.n:,} rows and {data.p} variables. The slider puts more noise on top of it, "
            "which is free; nothing can take noise away."
        )
    more = " Below, the aversion parameter ν turns the Gini components of the same data." if gini else ""
    return (
        f"Move the privacy budget ε and see what the noise that protects one row does to the principal directions of "
        f"{isolated(name)}.{more}"
    )


def _source(data: object, source: str | None) -> str:
    """Say where the data come from, and what made the page."""
    attrs = getattr(data, "attrs", {})
    licence = attrs.get("licence") or attrs.get("license")
    said = [source] if source else [str(attrs[key]) for key in ("source",) if attrs.get(key)]
    if licence and not source:
        said.append(f"Licence: {licence}")
    data_line = "".join(f"{isolated(text.rstrip('.'))}. " for text in said)
    return f"{'Data: ' if data_line else ''}{data_line}{escaped('Made with dppca_nb.')}"
