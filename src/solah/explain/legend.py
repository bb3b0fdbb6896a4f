"""Explains lists of rules, policies, constraints and edits in sentences; rules as Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from solah.data.spelling import count, spell, spell_mean
from solah.explain.importance import feature_importances, importance_intervals
from solah.explain.rule_text import named_class, signed, spell_class
from solah.explain.rules import part_rules
from solah.model.document import Task
from solah.safe_text import harmless

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from solah.data import State
    from solah.explain.rule_text import Rule
    from solah.explain.rules import Rules
    from solah.model.document import Model

ABOUT_WORDS = "The range where each word fits fully, and where it fades in and out."
_MOST_NAMED = 3
_MOST_IMPORTANCES = 5


def count_rules(model: Model) -> int:
    """Count the rules that are listed, those for missing values among them."""
    return sum(len(part.active()) for part in part_rules(model))


def count_parts(model: Model) -> str:
    """Return the numbers of terms and trees of a model as text."""
    sizes = {"term": len(model.terms), "tree": len(model.trees)}
    return " and ".join(count(n, kind) for kind, n in sizes.items() if n) or "no terms"


def explain_number(rules: Rules) -> str:
    """Write the numbers of rules, terms and trees of the model, and of the rules shown."""
    n_rules = count_rules(rules.model)
    where = "" if rules.are_of_one_tree else f" in {count_parts(rules.model)}"
    shown = "" if len(rules) == n_rules else f", {len(rules):,} shown"
    return f"{count(n_rules, 'rule')}{where}{shown}"


def explain_rules(rules: Rules) -> list[str]:
    """Explain how rules make a prediction, and what their figures mean."""
    model, target = rules.model, rules.model.target
    told = []
    if model.is_additive and not target.classes:
        to = "logarithm of the estimate" if target.link == "log" else "estimate"
        told.append(f"Each rule adds its weight to the {to}, scaled by how well its words fit.")
    elif model.is_additive:
        fit = "Each rule adds its weights (log-odds) to the class scores, scaled by how well its "
        if target.thresholds:
            pairs = zip(target.classes, target.thresholds, strict=True)
            limits = ", ".join(
                f"{spell_class(one, target.name)} {limit:.3g}" for one, limit in pairs
            )
            wins = f"The class with the largest ratio of probability to threshold wins: {limits}."
        elif (named := named_class(target)) is not None:
            wins = f"A score above 0 predicts {spell_class(named, target.name)}."
        else:
            wins = "The highest score wins."
        told.append(f"{fit}words fit. {wins}")
    if trees := rules.trees_used:
        shown = ", ".join(trees[:_MOST_NAMED]) + (", …" if len(trees) > _MOST_NAMED else "")
        told.append(f"A condition on {shown} is on the prediction of the tree of that name.")
    if any(rule.ramp for rule in rules):
        told.append("Between the ends of a straight line weights change evenly, beyond not at all.")
    if any(rule.errors for rule in rules):
        told.append("A weight is within its band (±) with a probability of 90%.")
    if importances := spell_importances(model):
        told.append(f"Importance (in nine of ten resamples): {importances}.")
    return [*told, "Counts are training rows."]


def words_used(rules: Rules) -> Iterator[tuple[str, str, str]]:
    """Yield feature, word and range of the words that rules name; categories have no range."""
    named = {one.feature for rule in rules if not rule.ramp for one in rule.conditions}
    for feature in rules.features:
        for word, one in zip(feature.shown_words, feature.word_ranges(), strict=False):
            if feature.name in named:
                yield feature.name, word, one.text


# --- what people asked of a model, and changed ---------------------------------------------------


def spell_constraints(model: Model) -> list[str]:
    """Write the constraints that a model meets whatever the other values are."""
    states = model.target.classes
    return [
        f"a higher {one.feature} never {'lowers' if one.direction > 0 else 'raises'} "
        f"{f'the probability of {spell(states[one.state])}' if states else model.target.name}"
        for one in model.monotonic
    ]


def spell_policy(model: Model) -> list[str]:
    """Write when a model abstains, and how its decisions are debounced."""
    policy = model.policy
    if policy is None:
        return []
    least = sorted(set(policy.min_probability))
    if len(least) > 1:
        pairs = zip(map(spell, model.target.classes), policy.min_probability, strict=True)
        limits = [f"the probability of {name} must be at least {one:.4g}" for name, one in pairs]
    else:
        limits = [f"the probability must be at least {one:.4g}" for one in least if one]
    pairs_seen = f"all but {count(policy.max_unseen, 'pair')}" if policy.max_unseen else "each pair"
    told = {
        f"completeness must be at least {policy.min_completeness:.4g}": policy.min_completeness > 0,
        "values must be within the training range": policy.stays_in_range,
        f"{pairs_seen} of values must have occurred together in training": (
            policy.max_unseen is not None
        ),
        f"scores are averaged over {policy.smoothing} decisions": policy.smoothing > 1,
        f"another class must lead the stable decision by {policy.hysteresis:.4g}": (
            policy.hysteresis > 0
        ),
        f"{policy.votes} of the last {policy.window} decisions must agree": policy.window > 1,
        f"a stable decision stays for at least {policy.min_hold}": policy.min_hold > 1,
    }
    return [*limits, *(text for text, holds in told.items() if holds)]


def spell_importances(model: Model) -> str:
    """Write the importances of the first features with intervals, if uncertainty was estimated."""
    intervals = importance_intervals(model)
    shares = zip((one.name for one in model.features), feature_importances(model), strict=True)
    ranked = sorted((one for one in shares if one[0] in intervals), key=lambda one: -one[1])
    texts = [
        f"{name} {share:.0%} ({intervals[name][0]:.0%} to {intervals[name][1]:.0%})"
        for name, share in ranked[:_MOST_IMPORTANCES]
    ]
    return ", ".join(texts) + ", …" * (len(ranked) > _MOST_IMPORTANCES)


def spell_recurrences(model: Model) -> list[str]:
    """Write how often features, pairs and words come back in resamples, the rarest first."""
    if model.uncertainty is None:
        return []
    lines = []
    for one in sorted(model.uncertainty.recurrences, key=lambda one: (one.share, one.features)):
        what = " and ".join(one.features) + (f" is {one.word}" if one.word else "")
        line = f"{what}: in {one.share:.0%} of {model.uncertainty.resamples} resamples"
        is_feature = not one.word and len(one.features) == 1
        lines.append(line + f", importance {one.low:.0%} to {one.high:.0%}" * is_feature)
    return lines


def pinned_parts(model: Model) -> list[str]:
    """Name the terms and trees with pinned rules, and the number of these."""
    pinned = {
        part.name: sum(r.is_pinned for r in part.rules.values()) for part in part_rules(model)
    }
    return [f"{name} ({number})" for name, number in pinned.items() if number]


# --- Markdown ------------------------------------------------------------------------------------

_SPECIAL = re.compile(r"([\\`*{}\[\]<>#|~&$!]|(?<![^\W_])_|_(?![^\W_]))")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]+")


def escape(text: object) -> str:
    """Write text so that Markdown shows it as it is, on one line.

    An underscore within a word means nothing to Markdown, so it stays readable.
    """
    return _SPECIAL.sub(r"\\\1", harmless(_UNPRINTABLE.sub(" ", str(text))))


def rules_page(rules: Rules) -> str:
    """Write rules as a Markdown page: of terms a line for each word, from low to high."""
    about = f"{explain_number(rules)}. {escape(' '.join(explain_rules(rules)))}"
    lines = [f"# Rules for “{escape(rules.model.target.name)}”", "", about, ""]
    for line in rules.baseline.splitlines():
        lines += [f"{escape(line[0].upper() + line[1:])}.", ""]
    if adding := [rule for rule in rules if rule.adds]:
        lines += [*_table_of_terms(rules, adding), ""]
    if branches := [rule for rule in rules if not rule.adds]:
        first = 1 if rules.are_of_one_tree else 0
        rows = ((rule.part, rule.sentence, rule.counts)[first:] for rule in branches)
        lines += [*_table(("part", "rule", "training rows")[first:], rows), ""]
    if words := list(words_used(rules)) if branches else []:
        lines += ["## Words", "", ABOUT_WORDS, "", *_table(("feature", "word", "range"), words)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _weight(rule: Rule, state: State) -> str:
    """Write a weight and, if it is known, half of the band around it."""
    decimals = None if rule.task is Task.REGRESSION else 2
    text = signed(rule.weights[state], decimals)
    if not rule.errors:
        return text
    low, high = rule.bands[state]
    return f"{text} ± {signed((high - low) / 2, decimals)[1:]}"


def _table_of_terms(rules: Rules, adding: Sequence[Rule]) -> Iterator[str]:
    target = rules.model.target
    named = named_class(target)
    classes = [named] if named else list(target.classes) or [target.score_name]
    places = {part.name: place for place, part in enumerate(rules.model.parts)}
    rows = []
    for rule in sorted(adding, key=lambda one: (places[one.part], one.number)):
        asked = rule.conditions
        rows.append(
            (
                " and ".join(one.feature for one in asked) or rule.part,
                "straight line" if rule.ramp else " and ".join(one.word for one in asked),
                " and ".join(one.range for one in asked if one.range),
                *(_weight(rule, one) for one in classes),
                spell_mean(rule.support),
                rule.share_text.removeprefix("mean ").replace(" overall)", ")")
                if rule.support
                else "",
            )
        )
    share = "share (overall)" if target.classes else "mean (overall)"
    names = [spell_class(one, target.name) if target.classes else str(one) for one in classes]
    return _table(("feature", "word", "range", *map(escape, names), "rows", share), rows)


def _table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(names)} |"
    yield f"|{'---|' * len(names)}"
    for row in rows:
        yield f"| {' | '.join(map(escape, row))} |"
