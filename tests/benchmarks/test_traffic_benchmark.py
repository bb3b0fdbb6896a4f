"""What the benchmark of traffic works out on paper, and how it places sensors on devices."""

import pytest
from traffic import SETS, Sent, airtime, gas_boards, print_airtime, quarters


@pytest.mark.parametrize(
    ("payload", "symbols"),
    [(0, 40.25), (10, 50.25), (51, 95.25)],
)
def test_airtime_is_that_of_the_formula(payload, symbols):
    """At SF9 and 125 kHz a symbol takes 4.096 ms; 12.25 are the preamble, the rest by hand."""
    assert airtime(payload) == pytest.approx(0.004096 * symbols)


def test_longer_payloads_take_longer(capsys):
    times = [airtime(size) for size in range(0, 200, 10)]
    assert times == sorted(times)
    print_airtime(Sent([20, 20], [10]), 2)
    assert f"{1000 * airtime(20):.0f} ms" in capsys.readouterr().out


def test_every_column_has_one_device():
    gas = [f"s{sensor:02d}_f{feature}" for sensor in range(1, 17) for feature in range(1, 9)]
    ring = [f"US{i}" for i in range(1, 25)]
    room = ["S1_Temp", "S5_CO2", "S7_PIR"]
    for devices, names in (
        (gas_boards(gas), gas),
        (quarters(ring), ring),
        (SETS["room"][1](room), room),
    ):
        placed = [name for own in devices.values() for name in own]
        assert sorted(placed) == sorted(names)
