"""Check a site file against its model: sensors for features, nodes, categories and alerts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solah.data.spelling import spell
from solah.exceptions import ParameterError, did_you_mean, shorten
from solah.site.alerts import check_alerts
from solah.site.payloads import as_text
from solah.site.sensor_mapping import (
    InputSpec,
    all_specs,
    category_of,
    n_wildcards,
    placeholders,
)

if TYPE_CHECKING:
    from solah.site.bundle import Bundle
    from solah.site.settings import Site


def check_site(site: Site, bundle: Bundle) -> None:
    """Refuse a site file that does not fit its plan.

    Raises
    ------
    ParameterError
        The error names the line, and the feature, class or node.
    """
    try:
        _check_sensors(site, bundle)
        if site.alerts is not None:
            check_alerts(site.alerts, bundle)
    except ParameterError as error:
        raise site.error(str(error)) from None


def _check_sensors(site: Site, bundle: Bundle) -> None:
    names, every = all_specs(bundle.model), site.deciding.every
    known = {*names, *unused(site, bundle)}
    for sensor in site.sensors:
        if not n_wildcards(sensor.topic) and sensor.feature not in known:
            raise ParameterError(
                f"{sensor.place}: the model does not use {shorten(sensor.feature)}"
                f"{did_you_mean(sensor.feature, names)}"
            )
        if sensor.max_age is not None and sensor.max_age < every:
            raise ParameterError(
                f"{sensor.place}: 'max_age' must be at least 'decide.every', {every:g} s, or the "
                f"reading is missing between two messages. Got {sensor.max_age:g} s instead."
            )
    for node in site.sensor_brokers:
        if node not in {one.name for one in bundle.plan.nodes}:
            raise ParameterError(f"site.sensor_brokers.{node}: there is no such node")
    if site.deciding.on_change and len(bundle.plan.nodes) > 1:
        reading = ", ".join(node.name for node in bundle.plan.nodes if node.reads)
        raise ParameterError(
            "site.decide: 'when: changed' is for a site with one node, since rows of several nodes "
            f"are joined by their number; this one has {len(bundle.plan.nodes)}, of which "
            f"{reading} measure. Drop it"
        )


def unseen_categories(site: Site, bundle: Bundle) -> dict[str, list[str]]:
    """List the categories that sensors are mapped to and the model lacks, by feature."""
    specs, found = all_specs(bundle.model), dict[str, list[str]]()
    for sensor in site.sensors:
        spec = specs.get(sensor.feature, InputSpec())
        for value in sensor.states.values() if spec.states is not None else ():
            if category_of(value, as_text(value), spec.states or {})[1] is None:
                found.setdefault(sensor.feature, []).append(spell(value))
    return found


def unfed(site: Site, bundle: Bundle) -> list[str]:
    """Name the features that no sensor can feed."""
    fed = {one.feature for one in site.sensors}
    if any(placeholders(one) for one in fed):
        return []  # the topics name them
    return [name for name in all_specs(bundle.model) if name not in fed]


def unused(site: Site, bundle: Bundle) -> list[str]:
    """Name what is measured and not used by the model, as after a new fit.

    A name that is at no node is taken for a misspelt one, unless each feature has a sensor.
    """
    used = all_specs(bundle.model)
    placed = {name for names in site.nodes.values() for name in names}
    others = dict.fromkeys(one.feature for one in site.sensors)
    has_all = not unfed(site, bundle)
    return [name for name in others if name not in used and (name in placed or has_all)]
