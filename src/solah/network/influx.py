"""Write a decision as a line for InfluxDB."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from solah.network.messages import Decided

_MEASUREMENT = "solah"
_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
_SPECIAL = re.compile(r"([,= ])")
_MOST_SECONDS = 2**63 / 1e9


def line(decided: Decided, site: str, model: str) -> str:
    r"""Write a decision in Influx' line protocol.

    The tags are the site, the model and the decision; the fields are the belief in each class,
    the share of the model's knowledge that was reached, how many parts were missing, and the row's
    number. A number that is estimated is a field instead of a tag. Of a model with a policy, the
    class that stands is the tag ``settled``, which is left out for "don't know"; the field
    ``held_back`` says whether it is, and ``doubts`` why it could be. A row that has no time gets
    that of the database.

    Parameters
    ----------
    decided : Decided
    site : str
        The name of the network.
    model : str
        The hash of the bundle that decided.

    Returns
    -------
    line : str
        Without a line break.

    Examples
    --------
    >>> from solah.network.messages import Decided
    >>> print(line(Decided(7, 1.5, "too hot", {"too hot": 0.75, "fine": 0.25}), "house", "1f"))
    ... # doctest: +NORMALIZE_WHITESPACE
    solah,decision=too\ hot,model=1f,site=house
    belief_too\ hot=0.75,belief_fine=0.25,known=1.0,missing=0i,seq=7i 1500000000
    """
    is_number = not decided.beliefs
    tags = {
        "decision": "" if is_number else decided.decision,
        "model": model,
        "settled": decided.settled or "",
        "site": site,
    }
    fields = {f"belief_{name}": repr(belief) for name, belief in decided.beliefs.items()}
    if is_number:
        fields["estimate"] = repr(float(decided.decision))
    fields |= {
        "known": repr(decided.known),
        "missing": f"{len(decided.missing)}i",
        "seq": f"{decided.sequence}i",
    }
    if decided.settled != "":
        fields["held_back"] = "true" if decided.settled is None else "false"
    if decided.doubts:
        fields["doubts"] = _quoted(", ".join(decided.doubts))
    # An empty tag is none: the database refuses it.
    named = "".join(f",{key}={spelt}" for key, text in tags.items() if (spelt := _escaped(text)))
    valued = ",".join(f"{_escaped(key)}={value}" for key, value in fields.items())
    return f"{_MEASUREMENT}{named} {valued}{_time(decided.time)}"


def _escaped(text: str) -> str:
    """Escape a name; what cannot be written becomes a blank, and a last backslash goes."""
    return _SPECIAL.sub(r"\\\1", _BREAKS.sub(" ", text).rstrip("\\"))


def _quoted(text: str) -> str:
    """Write a text as a field."""
    escaped = _BREAKS.sub(" ", text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _time(seconds: float) -> str:
    """Spell a time in nanoseconds, of which a float knows the thousands at best."""
    return f" {round(seconds * 1e6) * 1000}" if 0 < seconds < _MOST_SECONDS else ""
