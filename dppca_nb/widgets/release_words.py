"""What the explorer says in release mode: of the preview, of the ledger, and of the promise, in plain words."""

from __future__ import annotations

import math

from dppca_nb.charts import theme
from dppca_nb.core.account import Account, Quote
from dppca_nb.core.desk import ReleaseDesk
from dppca_nb.core.preview import PREVIEW as SIMULATED
from dppca_nb.core.privacy import Guarantee, large_delta
from dppca_nb.core.release import LoadingRelease
from dppca_nb.table import DataError
from dppca_nb.widgets.words import code

PREVIEW = (
    "**Preview on simulated data.** Only the size and the names are those of your table; the pattern is invented, and "
    "no private row takes part."
)
# Instead of what is wrong with the rows: that would tell something about them, and messages are saved with notebooks.
UNUSABLE = (
    "The private table cannot be released as it is. What is wrong with it may tell something about single rows, so it "
    "is not written here. Call `as_table(data)` in a notebook that you do not pass on: it says what and where."
)
SCALES = (
    "The scales cannot be used for a release: they must be public, known without these rows. Why they cannot is not "
    "written here, because that tells something about the rows; `dp_loading` without a ledger says it."
)
BUSY = "Computing. The ledger is charged when the matrix of all pairs of rows is known, and noise is drawn after that."
PATTERNS = {"steep": "steep", "gentle": "gentle", "flat": "flat", "sample": "public sample"}
UNSURE = 12.0  # degrees: from here on redraws say too little
USELESS = 20.0  # degrees: a plane that may lie so far off says little
MOST_SEGMENTS = 40
MANY = 99


def untyped(columns: list[str]) -> str:
    """Say which columns are no numbers by their type, and why they are not simply left out."""
    listed = ", ".join(columns[:5]) + ", …" * (len(columns) > 5)
    return (
        f"With a ledger every column must be numbers by its type; these are not: {listed}. Choose the variables "
        "yourself, `data[[…]]`. If they were left out unasked, one odd cell could decide which variables there are, "
        "and that would tell about its row."
    )


def released(release: LoadingRelease) -> str:
    """State the release in a sentence."""
    g = release.guarantee
    if not g.holds:
        return f"**Void.** Made with ε {_stated(g)}, δ {theme.delta(g.delta)}, and not private: see the reasons below."
    return (
        f"**Released** with ε {_stated(g)}, δ {theme.delta(g.delta)}. Whatever you change under View redraws this one "
        "release and costs nothing."
    )


def kept(desk: ReleaseDesk) -> list[str]:
    """Say when a release was paid for and where it is kept, and before it, what else the ledger has paid for."""
    if desk.released is None:
        others = f"{desk.charges} charge{'s' * (desk.charges > 1)}"
        return [
            f"The ledger has {others}, and no release of this table is kept beside it: of other tables or scales, of "
            "`dp_loading`, or lost in a crash. A release here is paid for anew."
        ] * bool(desk.charges)
    entries = desk.released.entries
    days = " and ".join(dict.fromkeys(f"{entry.time[:10]} {entry.time[11:16]} UTC" for entry in entries))
    if not desk.ledger.path:
        return [
            f"Paid for in the ledger of {code(desk.ledger.name)}, which is kept in memory, as the release is: a cell "
            "that makes the ledger again begins with a new budget and a preview. For real data give the ledger a path."
        ]
    draws = "" if len(entries) == 1 else f"{len(entries)} draws, "
    if not desk.kept:
        return [
            f"**The release is not kept.** It was paid for in the ledger of {code(desk.ledger.name)}, but no file can "
            "be written beside it. Save it now: `explorer.result.save(path)`, or it is lost when the kernel stops."
        ]
    return [
        f"Paid for in the ledger of {code(desk.ledger.name)}: {draws}{days}. The release is kept beside its file: "
        "running the cell again shows it and spends nothing. It is known by its size, names and scales: rows are not "
        "compared. `explorer.result.save(path)` makes a file to hand over."
    ]


def missing(release: LoadingRelease | None, wanted: float | None) -> list[str]:
    """Say that a cell asks for another budget than was released."""
    if release is None or wanted is None or math.isclose(wanted, release.guarantee.epsilon):
        return []
    more = f"`explorer.top_up({wanted:g})` adds what is missing"
    less = f"`explorer.noise_shown = {wanted:g}` shows it with more noise"
    return [
        f"The cell asks for ε {theme.epsilon(wanted)}, and what was released has ε {_stated(release.guarantee)}: "
        f"{more if wanted > release.guarantee.epsilon else less}."
    ]


def failed(error: BaseException) -> str:
    """Say why nothing was released, without a word about single rows."""
    if isinstance(error, DataError):
        return UNUSABLE
    if isinstance(error, ValueError | TypeError | OSError):
        return str(error)
    return f"It stopped with {type(error).__name__}. The ledger says whether it was charged: print `explorer.ledger`."


def expected(angle: float, is_released: bool, guarantee: Guarantee, p: int) -> tuple[str, bool]:
    """How far the plane may be off; True where that makes it useless."""
    if p < 3:
        return "With two variables every plane is the whole of it: read the axes.", False
    # Redraws start from a noisy matrix. Where noise is large they say too little, half of the truth at worst.
    more = " or more" if angle >= UNSURE else ""
    about = f"about {angle:.0f}°{more}" if angle >= 0.95 else f"about {angle:.1f}°"
    if is_released:
        text = f"Expect the true plane {about} away (privacy noise only, not sampling error)."
    else:
        text = f"On data like these the plane would move by {about}."
    if angle < USELESS:
        return text, False
    rows = theme.count(guarantee.n)
    return f"{text} With n = {rows} rows this budget says little: only a larger ε or more rows help.", True


# ----- the promise -----


def statement(made: Guarantee, release: LoadingRelease | None) -> dict:
    """What is claimed for what is shown, and the promise in plain words."""
    given = f"(ε {_stated(made)}, δ {theme.delta(made.delta)}), exactly ε {_cost(made.exact_epsilon)}"
    reasons = [reason.text for reason in made.reasons if reason != SIMULATED]
    if reasons and release is None:
        text = "**A release here would be refused.** Nothing would be drawn or spent:"
    elif reasons:
        text = "**Void.** This result must not be published as private:"
    elif release is None:
        text = f"A release here would hold for {given}. The preview itself shows no private row."
    else:
        text = (
            f"**Holds:** {given}. Neighbours differ in one row; n = {theme.count(made.n)} is public; coincident pairs "
            f"count as zero. Noise from {made.randomness}."
        )
    if made.delta * made.n >= 1:
        text += f" But {large_delta(made, made.n)}"
    points = [] if reasons else promise(made, release)
    return {
        "name": "Guarantee",
        "text": text,
        "reasons": reasons,
        "summary": "What this promises, and what not",
        "points": points,
    }


def lowered_from(made: Guarantee) -> str:
    """Find the caveat of a release that was lowered; empty if it was not."""
    return next((caveat for caveat in made.caveats if caveat.startswith("It was lowered")), "")


def promise(made: Guarantee, release: LoadingRelease | None) -> list[str]:
    """The promise, to whom it is made, and what lies outside it."""
    factor = math.exp(min(made.exact_epsilon, 700.0))
    even = factor / (1 + factor)
    odds = f"{factor:.3g}" if factor < 1e6 else "millions of"
    found = [
        "**The promise.** Put any other row in the place of any one row: every possible result stays as likely as "
        f"before, up to a factor of {odds} (e to the ε), but for a chance of {theme.delta(made.delta)} (δ). So someone "
        f"who holds it for even odds whether a row says one thing or another ends at no more than {100 * even:.3g} % "
        "for either.",
        "**To whom.** To everyone with one row in the table, whatever a reader already knows and whatever is computed "
        "from the release later. If one person has several rows, what is promised to the person is weaker: about that "
        "many times ε.",
        "**Not promised.** That it stays secret how many rows there are, what the columns are called, or who is in the "
        "table at all; nor that nothing can be learned about people from what holds for everyone, in the table or not. "
        "Other releases of the same rows count only if they are in this ledger. Whoever can watch the computer at "
        "work, its memory or its time, is not kept out.",
    ]
    if release is not None and made.mu < release.guarantee.mu * (1 - 1e-9):
        found.append(
            "**Shown with more noise than was released.** Who sees only this has the smaller ε. Whoever sees the "
            f"release itself, or several pictures of it, has what it gives: ε {_cost(release.guarantee.exact_epsilon)}."
        )
    elif lowered_from(made):
        found.append(f"**Lowered.** {lowered_from(made)}")
    elif release is not None and len(release.entries) > 1:
        found.append(
            "**Topped up.** The draws were averaged by their precision, which is the same noise as one "
            f"release at ε {_cost(made.exact_epsilon)}. "
            "Readers who saw an earlier picture learn nothing beyond that."
        )
    if made.exact_epsilon >= 3:
        found.append(
            f"**Weak.** At ε {_cost(made.exact_epsilon)} the factor is large. Say so to the people whose "
            "rows these are."
        )
    return found


# ----- the ledger -----


def release_strip(desk: ReleaseDesk, account: Account, guarantee: Guarantee) -> dict:
    """What a release at the budget of the settings would spend."""
    quote = account.quote(guarantee.mu)
    delta = theme.delta(desk.ledger.budget.delta)
    cost = _cost(quote.epsilon)
    told = f"spends ε {cost}, δ {delta}; then {_more(quote)} like this"
    refusal = None
    if not guarantee.holds:
        refusal = " ".join(reason.text for reason in guarantee.reasons)
    elif not quote.fits:
        refusal = _refusal(quote, "Lower ε.")
    return {
        **_bar(desk, quote, refusal is None, "this release"),
        "button": "Release…",
        "told": refusal or told,
        "enabled": refusal is None,
        "question": "Draw noise on the private data, once?",
        "warning": (
            f"Spends ε {cost} at δ {delta}, leaves ε {_left(quote.leaves)} of {_total(desk)}. It cannot be undone. "
            "The ledger is written before anything is shown."
        ),
        "yes": f"Spend ε {cost} and release",
        "offers": [],
        "goal": None,
    }


def top_up_strip(desk: ReleaseDesk, account: Account, goal: float | None, offers: list[float]) -> dict:
    """What a draw would spend that takes the release to a larger epsilon."""
    if goal is None:
        return {**_bar(desk, account.quote(1e-9), False, ""), "button": None, "told": "", "enabled": False}
    quote = account.quote(desk.top_up_mu(goal))
    cost, wanted = _cost(quote.epsilon), theme.epsilon(goal)
    steps = sorted({*offers, goal})
    return {
        **_bar(desk, quote, quote.fits, "top-up"),
        "button": f"Top up to ε {wanted}…",
        "told": f"spends ε {cost}; then {_more(quote)} like this"
        if quote.fits
        else _refusal(quote, "Choose a smaller step."),
        "enabled": quote.fits,
        "question": "Draw more noise on the private data?",
        "warning": (
            f"Averaged with what you have, it is the same as one release at ε {wanted}, if these are the same rows. "
            f"Spends ε {cost}, leaves ε {_left(quote.leaves)} of {_total(desk)}. It cannot be undone."
        ),
        "yes": f"Spend ε {cost} and top up",
        "offers": [{"value": step, "text": f"ε {theme.epsilon(step)}"} for step in steps],
        "goal": goal,
    }


def broken_strip(error: str) -> dict:
    """The ledger cannot be read: nothing can be spent until it is mended."""
    return {
        "shares": [],
        "share": None,
        "legend": [],
        "spoken": "The ledger cannot be used",
        "button": None,
        "told": error,
        "enabled": False,
    }


def _bar(desk: ReleaseDesk, quote: Quote, fits: bool, name: str) -> dict:
    """The bar, in squares of mu, which add up; its legend, in epsilons, which do not."""
    shares = list(quote.shares)
    if len(shares) > MOST_SEGMENTS:
        shares = [math.fsum(shares[: -MOST_SEGMENTS + 1]), *shares[-MOST_SEGMENTS + 1 :]]
    spent = f"spent ε {_cost(quote.spent)}" if quote.shares else "nothing spent yet"
    total = _total(desk)
    last = f"leaves ε {_left(quote.leaves)} of {total}" if fits else f"left ε {_left(quote.left)} of {total}"
    legend = [{"kind": "spent", "text": spent}]
    if fits:
        legend.append({"kind": "pending", "text": f"{name} ε {_cost(quote.epsilon)}"})
    legend.append({"kind": "left", "text": last})
    if desk.ledger.path is None:
        legend.append({"kind": "", "text": "kept in memory only: a restart forgets it"})
    return {
        "shares": [round(share, 6) for share in shares],
        "share": round(quote.share, 6) if fits else None,
        "legend": legend,
        "spoken": f"Ledger of {desk.ledger.name}: {', '.join(part['text'] for part in legend)}",
    }


def _refusal(quote: Quote, remedy: str) -> str:
    """Say that it does not fit."""
    if not quote.left:
        return "The budget is spent. No further release fits, however small."
    return f"Not enough budget: this needs ε {_cost(quote.epsilon)}, and ε {_left(quote.left)} is left. {remedy}"


def _more(quote: Quote) -> str:
    """How many more would fit."""
    return "no more" if quote.more < 1 else f"{MANY}+ more" if quote.more > MANY else f"{quote.more} more"


def _stated(made: Guarantee) -> str:
    """Write the stated epsilon."""
    return theme.epsilon(made.epsilon)


def _cost(value: float) -> str:
    """Write a computed epsilon; one that only rounding keeps from a round number is that number."""
    return theme.exact_epsilon(float(f"{value:.8g}")) if value else "0"


def _left(value: float) -> str:
    """Write what is left, rounded down, so that it can be had."""
    if not value:
        return "0"
    digits = 1 - math.floor(math.log10(value))
    scale = 10.0**digits
    return theme.exact_epsilon(math.floor(value * scale * (1 + 1e-9)) / scale)


def _total(desk: ReleaseDesk) -> str:
    """Write the whole budget."""
    return theme.epsilon(desk.ledger.budget.epsilon)
