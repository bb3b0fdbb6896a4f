"""``solah datasets``: list the data sets that can be used by name."""

from dataclasses import asdict

from solah.cli.screen import Screen


def datasets(screen: Screen) -> None:
    """List the data sets that fit, predict and evaluate take by name.

    Data sets that are not installed are downloaded on first use, or read as CSV files from the
    folder that the environment variable SOLAH_DATA points at.

    Example: solah datasets, then: solah evaluate wine
    """
    from rich.text import Text

    from solah.cli.views import heading
    from solah.datasets import available

    known = available()
    if screen.json:
        screen.document([asdict(each) for each in known])
    licences = list(dict.fromkeys(each.licence for each in known))
    screen.say(heading(f"{'name':<26}{'rows':>7}{'features':>12}{'classes':>9}   from"))
    for each in known:
        line = f"{each.name:<26}{each.rows:>7,}{each.features:>12}{each.classes:>9}   {each.where}"
        origin = f"    {each.source} [{licences.index(each.licence) + 1}]"
        screen.result(Text(line, "bold" if each.at_hand else ""), Text(origin, "dim"))
    screen.say("", *(f"[{number}] {text}" for number, text in enumerate(licences, start=1)))
