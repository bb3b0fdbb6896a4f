"""What a node is made of, without a broker: its name there, what waits, and what it complains of."""

from hypothesis import given
from hypothesis import strategies as st

from solah.network.node import client_id
from solah.network.topics import Topics

NAMES = st.text("ab.-_", min_size=1, max_size=6)
ROOTS = st.text("ab.-_:/", min_size=1, max_size=6)


@given(one=st.tuples(ROOTS, NAMES, NAMES), other=st.tuples(ROOTS, NAMES, NAMES))
def test_no_two_nodes_have_one_name_at_the_broker(one, other):
    ids = [client_id(Topics(site, root), node) for root, site, node in (one, other)]
    assert (ids[0] == ids[1]) == (one == other)


def test_nodes_whose_names_run_together_are_told_apart():
    west = client_id(Topics("house-west"), "cellar")
    assert west != client_id(Topics("house"), "west-cellar")
