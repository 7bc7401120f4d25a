"""What the loading explorer says in every mode. Sentences are made of numbers, free of layout."""

from __future__ import annotations

from dppca_nb.charts import theme
from dppca_nb.charts.picture import LoadingPicture
from dppca_nb.core.privacy import Guarantee


def readout(guarantee: Guarantee) -> str:
    """What the noise really gives, under the large epsilon."""
    if guarantee.calibration == "analytic":
        return f"exact · σ {theme.significant(guarantee.sigma)}"
    return f"exact {theme.exact_epsilon(guarantee.exact_epsilon)} · σ {theme.significant(guarantee.sigma)}"


def separated(picture: LoadingPicture) -> tuple[str, bool]:
    """Whether the two axes mean anything; True where to beware."""
    sep, sentences = picture.subject.separation(picture.components), []
    a, b = (f"PC{c}" for c in picture.components)
    noise = f"3√2 σ = {sep.threshold:.3f}"
    if not sep.separated:
        sentences.append(f"{a} and {b} are not separated: their gap {sep.gap:.3f} is under the noise ({noise}).")
    if not sep.next_separated:
        inner, outer = (f"PC{c}" for c in sep.next_pair)
        sentences.append(
            f"{inner} is not separated from {outer} (gap {sep.next_gap:.3f}, {noise}): "
            "another draw may show another plane."
        )
    elif not sep.separated:
        sentences.append("Read the plane, not the axes.")
    if sep.separated and sep.next_separated:
        sentences.append(f"{a} and {b} are well separated (gap {sep.gap:.3f}, {noise}).")
    return " ".join(sentences), not (sep.separated and sep.next_separated)


def description(picture: LoadingPicture) -> str:
    """Put the picture into words, for those who do not see it."""
    longest = sorted(zip(picture.lengths, picture.names, picture.private, strict=True), key=lambda row: -row[0])[:3]
    said = "; ".join(f"{name} {', '.join(theme.number(v) for v in values)}" for _, name, values in longest)
    return f"{picture.title()}. {' '.join(picture.subtitle(1000))}. Longest: {said}."
