"""What the loading explorer says: every sentence in one place, made of numbers, free of layout."""

from __future__ import annotations

from dppca_nb.charts import theme
from dppca_nb.charts.picture import LoadingPicture
from dppca_nb.core.privacy import Guarantee
from dppca_nb.core.teaching import TEACHING, TeachingDraws
from dppca_nb.widgets.words import UNEVEN, code, left_out_note

BANNER = (
    "**Teaching.** These data are treated as public. Nothing shown here is private: two budgets over one noise draw "
    "give the exact matrix back."
)


def readout(guarantee: Guarantee) -> str:
    """What the noise really gives, under the large epsilon."""
    if guarantee.calibration == "analytic":
        return f"exact · σ {theme.significant(guarantee.sigma)}"
    return f"exact {theme.exact_epsilon(guarantee.exact_epsilon)} · σ {theme.significant(guarantee.sigma)}"


def status(picture: LoadingPicture, exact: float | None) -> tuple[str, bool]:
    """How far the plane lies from the reference and whether its axes mean anything; True where to beware.

    ``exact`` is the angle of the plane without noise to the reference's, in degrees.
    """
    sep, sentences = picture.subject.separation(picture.components), []
    if exact is not None:
        sentences.append(
            f"Plane {picture.plane_angle:.1f}° from the reference ({exact:.1f}° without noise: the methods differ)."
        )
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


def guarantee(made: Guarantee) -> dict:
    """What is claimed, or every reason why nothing is."""
    given = f"ε {theme.exact_epsilon(made.exact_epsilon)} at δ {theme.delta(made.delta)}"
    asked = f"({theme.epsilon(made.epsilon)} was asked)" if made.calibration == "classical" else "as asked"
    text = f"None is claimed while teaching. Released, this noise would give {given} {asked}."
    if made.calibration == "analytic":
        text = f"None is claimed while teaching. Released, this noise would give {given}, {asked}."
    elif made.epsilon >= 1:
        text += " The classical formula is proved below ε = 1 only; the exact value says what holds here."
    reasons = [reason.text for reason in made.reasons if reason != TEACHING]
    if reasons:
        text = "**Void.** This result must not be published as private:"
    return {"name": "Guarantee", "text": text, "reasons": reasons}


def notes(draws: TeachingDraws, left_out: tuple) -> list[str]:
    """What a reader should know about the table: what was left out, what coincides, what dominates."""
    found = left_out_note(left_out)
    pairs = draws.kendall.coincident_pairs
    if pairs:
        found.append(
            f"{theme.count(pairs)} pairs of rows ({theme.significant(100 * draws.coincident_share)} %) coincide "
            "and count as zero."
        )
    if draws.spread**2 > UNEVEN:
        found.append(
            f"The variances of the columns differ by a factor of {theme.significant(draws.spread**2)}, so the "
            f"directions mostly follow {code(draws.widest)}. Nothing is scaled unasked; "
            "give public scales with `LoadingExplorer(data, scale=…)`."
        )
    return found


def description(picture: LoadingPicture) -> str:
    """Put the picture into words, for those who do not see it."""
    longest = sorted(zip(picture.lengths, picture.names, picture.private, strict=True), key=lambda row: -row[0])[:3]
    said = "; ".join(f"{name} {', '.join(theme.number(v) for v in values)}" for _, name, values in longest)
    return f"{picture.title()}. {' '.join(picture.subtitle(1000))}. Longest: {said}."
