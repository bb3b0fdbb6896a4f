"""Nodes that end are started again, later and later."""

from solah.site.supervisor import Supervisor, why_ended


class Nodes:
    """Stands for processes: those in ``dead`` have ended."""

    def __init__(self, *names):
        self.names, self.dead, self.started = names, set(), []

    def ids(self):
        return dict.fromkeys(self.names, 1)

    def ended(self):
        return dict.fromkeys(sorted(self.dead), 2)

    def log(self, name):
        return f"solah: error: {name} has a problem\n"

    def start(self, name):
        self.started.append(name)
        self.dead.discard(name)


def starts(nodes, supervisor, seconds, *, dies):
    """Look every second; return when a node that dies at once was started."""
    found = []
    for now in range(seconds):
        if dies:
            nodes.dead.add("a")
        before = len(nodes.started)
        supervisor.look(float(now))
        found += [now] if len(nodes.started) > before else []
    return found


def test_a_node_that_dies_again_and_again_is_given_more_time():
    nodes, told = Nodes("a", "b"), []
    supervisor = Supervisor(nodes, 0.0, told.append)
    assert starts(nodes, supervisor, 300, dies=True) == [1, 4, 9, 18, 35, 68, 129, 190, 251]
    assert set(nodes.started) == {"a"}
    assert supervisor.restarts == {"a": 9}
    assert told[0] == (
        "node a ended with code 2: solah: error: a has a problem; it starts again in 1 s"
    )


def test_a_node_that_ran_well_is_started_soon():
    nodes, told = Nodes("a"), []
    supervisor = Supervisor(nodes, 0.0, told.append)
    for died in (5.0, 6.5, 500.0):
        nodes.dead.add("a")
        supervisor.look(died)
        supervisor.look(died + 1.0)
        supervisor.look(died + 2.0)
        supervisor.look(died + 4.0)
    assert len(nodes.started) == 3
    assert "in 1 s" in told[-1]


def test_the_cause_of_an_end_is_an_error_and_not_the_last_line():
    assert why_ended(0, "solah: note: node a is connected\n") == "ended with code 0"
    assert why_ended(1, "solah: note: node a is connected\n") == "ended with code 1"
    assert why_ended(-15, "solah: error: x\n") == "was killed by SIGTERM"
