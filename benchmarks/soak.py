"""A network that runs for a while: whether it keeps deciding, and whether its memory stays flat.

    python benchmarks/soak.py [--minutes 30] [--rate 100]

The network of benchmarks/nodes.py (five processes, mosquitto), rows at a rate. Every half minute:
the rows decided, and the resident memory of every node. In the middle the broker is restarted once.
At the end: the growth of each node's memory from a fifth of the time on, and whether every row was
decided as by the model.
"""

from __future__ import annotations

import argparse
import time

from nodes import Site, check, made, resident

EVERY = 30.0
WORDS = ["--deadline", "30"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--rate", type=float, default=100.0)
    options = parser.parse_args()
    n_rows = int(60 * options.minutes * options.rate)
    bundle, rows, _ = made(n_rows)
    site = Site(bundle, rows, WORDS)
    site.nodes.start(replay=site.table, rate=options.rate)
    memory = watch(site, n_rows, 60 * options.minutes)
    found = [row for _, row in site.listener.rows.values()]
    print(f"\n{len(found):,} of {n_rows:,} rows decided,", end=" ")
    print(f"{sum(bool(row.missing) for row in found):,} with something missing")
    check(bundle, rows, site.listener)
    first = len(memory) // 5
    for name in memory[0]:
        grown = memory[-1][name] - memory[first][name]
        print(f"  {name:<8} {memory[-1][name]:6.1f} MB, grown by {grown:+.1f} MB")
    site.stop()


def watch(site: Site, n_rows: int, seconds: float) -> list[dict[str, float]]:
    """Print how it goes until all rows are decided; return the memory of nodes over time."""
    begun, memory, is_restarted = time.monotonic(), [], False
    while len(site.listener.rows) < n_rows and time.monotonic() < begun + 1.2 * seconds + 60:
        time.sleep(min(EVERY, seconds / 10))
        passed = time.monotonic() - begun
        memory.append({name: resident(number) for name, number in site.nodes.ids().items()})
        told = "  ".join(f"{name} {size:.0f}" for name, size in memory[-1].items())
        print(f"{passed:7.0f} s  {len(site.listener.rows):9,} rows  MB: {told}", flush=True)
        if passed > seconds / 2 and not is_restarted:
            is_restarted = True
            site.restart_broker()
            print("           the broker was restarted", flush=True)
    return memory


if __name__ == "__main__":
    main()
