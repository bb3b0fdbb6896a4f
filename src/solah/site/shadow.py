"""A shadow: a second model with the same readings, whose decisions are only compared.

Its nodes use topics of their own (``shadow-out``, ``shadow-ask``, ``shadow-decision``), so that
it cannot reach the model in use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from solah.site.bundle import BundleError, read_bundle
from solah.site.core import NodeCore
from solah.site.trust import refuse_older

if TYPE_CHECKING:
    from solah.site.trust import Trust


def next_shadow(
    current: NodeCore | None, payload: bytes, core: NodeCore, trust: Trust | None
) -> NodeCore | None:
    """Return a node's part of the shadow after a message on ``shadow-model``.

    Parameters
    ----------
    current : its part of the shadow until now
    payload : the message; an empty one ends the shadow
    core : its part of the model in use
    trust : whose plans are taken; None for everyone's

    Raises
    ------
    BundleError
        The plan is not trusted, of another site, or not meant as a shadow.
    """
    if not payload:
        return None
    bundle = read_bundle(payload, trust)
    if bundle.plan.site != core.bundle.plan.site:
        raise BundleError(f"the plan is of the site {bundle.plan.site!r}")
    if not bundle.is_shadow:
        raise BundleError("the plan is for use, but was published as a shadow")
    if bundle.plan.sending is not None:
        raise BundleError("a shadow cannot send on change; plan it without")
    if trust is not None and current is not None:
        refuse_older(bundle, current.bundle)
    if current is not None and current.bundle.hash == bundle.hash:
        return current
    is_in_use = bundle.hash in {one.as_shadow().hash for one in core.bundles}
    has_part = any(node.name == core.name for node in bundle.plan.nodes)
    return None if is_in_use or not has_part else NodeCore(bundle, core.name, core.settings)
