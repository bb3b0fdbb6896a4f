"""Documents and bytes in, broken ones out: for tests of what comes from strangers."""


def with_strange(rng, plain, strange):
    """Replace, add or take away something somewhere in a document."""
    *path, last = rng.choice([place for place in _places(plain) if place])
    holder = plain
    for key in path:
        holder = holder[key]
    action = rng.random()
    if action < 0.7:
        holder[last] = rng.choice(strange)
    elif action < 0.85 and isinstance(holder, dict):
        holder[rng.choice(["v", "seq", "", "readings", "ü"])] = rng.choice(strange)
    else:
        del holder[last]
    return plain


def with_noise(rng, payload):
    """Flip, cut, double or insert some bytes."""
    noisy = bytearray(payload)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(noisy) + 1)
        action = rng.randrange(5)
        if action == 0 and at < len(noisy):
            noisy[at] = rng.randrange(256)
        elif action == 1:
            del noisy[at : at + rng.randint(1, 8)]
        elif action == 2:
            noisy[at:at] = bytes(noisy[at : at + rng.randint(1, 20)])
        elif action == 3:
            noisy[at:at] = rng.randbytes(rng.randint(1, 8))
        elif action == 4 and at < len(noisy):
            noisy[at] ^= 1 << rng.randrange(8)
    return bytes(noisy)


def _places(plain, path=()):
    """List where something stands in a document."""
    yield path
    for key, below in plain.items() if isinstance(plain, dict) else enumerate(plain):
        if isinstance(below, (dict, list)):
            yield from _places(below, (*path, key))
        else:
            yield (*path, key)
