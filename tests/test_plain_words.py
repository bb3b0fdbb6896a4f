"""Plain words: prose in src, docs, benchmarks and native code has no words to decode.

Each pattern below is a word or a phrase that a newcomer would have to decode, with the words to use
in its place. Comments, docstrings, messages, help texts (which are docstrings and strings in src),
Markdown and templates are searched; names in code and words in backquotes are not.
"""

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]

INSTEAD = {
    r"(?<!here\s)(is|are|was|were|be) (no (?!longer|more|less|worse|better)\w+|none)": "is not",
    r"(tell|tells|telling|told|untold)": "show, report, detect, distinguish",
    r"(say|says|said|saying)": "show, report, state",
    r"(stand|stands|standing|stood)(?!-)": "be, lie, appear",
    r"(un)?settl(e|es|ed|ing)": "choose, select, infer, debounce",
    r"goals?": "target",
    r"truths?|truly": "target, true class",
    r"belie(f|fs|ve|ves|ved|ving)": "probability (belief is for linguistic trees)",
    r"evidence": "weight, score, contribution",
    r"(dis)?certainty": "probability",
    r"so (many|long)": "N, this long",
    r"dear(er|est)?": "expensive",
    r"by hand": "custom, user-defined",
    r"(un)?learnt": "learned",
    r"(leave|leaves|left|leaving)( \w+)? out": "drop",
    r"spell(s|ed|ing|ings)?|spelt": "format, write",
    r"pictures?": "figure",
    r"verdicts?|judge?ments?|judg(e|es|ed|ing)": "decision, decide",
    r"twins?": "simulator",
    r"model documents?": "model file",
    r"verbs?": "command",
    r"leeways?": "safe range",
    r"ignorance|not known|unknown (value|reading|cell)s?|as unknown": "missing",
    r"strangers?|strange": "unseen category, unmapped topic",
    r"(fully|partly) (up to|from)": "up to 0.5, fading out by 2.65",
    r"shares of the classes": "overall shares",
    r"voices?|loudness|loudly|speaks?|spoken|hears?|heard|vouch(es)?|promises?": "weight, receive",
    r"(hold|holds|held|holding) back|doubts?|doubtful|leans?": "abstain, reason",
    r"dwells?": "minimum hold",
    r"out[- ]of[- ]fold": "cross-validated",
    r"not learned from": "held-out",
    r"fusions?|trees above trees": "stacked trees",
    r"rules that add up": "additive model",
    r"n_labels": "n_words",
    r"in earnest|under chaos": "in production, fault injection",
    r"choirs?|surpris\w+|credits?|wish\w*|shelf|workshops?|anew": "say it plainly",
}
FORBIDDEN = re.compile(
    r"\b(?:"
    + "|".join(rf"(?P<p{i}>(?:{pattern})\b)" for i, pattern in enumerate(INSTEAD)).replace(
        " ", r"\s+"
    )
    + ")"
)
# What may stay: a pattern of the phrase, the paths where it may, and the reason.
TREES = "branches of linguistic trees have beliefs"
EXCEPTIONS = [
    (r"belie\w+", "(src/solah/(kernels|learn|model|estimators|explain|edit)|native)/.*", TREES),
    (
        r"belie\w+",
        "docs/(trees|hierarchies|concepts|explain|glossary|model-format|rules-file|tutorial-paper).md",
        TREES,
    ),
    ("beliefs?", "(CHANGELOG|docs/decisions).md", TREES),
    ("by hand", "README.md|src/solah/cli/main.py", "a person does it"),
    ("by hand", "(reproduction/.*|docs/reproduction.md)", "stored results have this name"),
    ("certainty|belief", "src/solah/site/pages/watch.js", "keys of a snapshot"),
    ("beliefs|is none", "src/solah/site/home_assistant.py", "Jinja in a string"),
    ("judge", "src/solah/export/(templates/model.py.j2|py_runtime/blob.py.txt)", "a function"),
]

FOLDERS = ("src", "docs", "benchmarks", "examples", "native", "reproduction")
SUFFIXES = (".py", ".md", ".c", ".h", ".js", ".j2", ".txt", ".cfg", ".service")


def paths():
    """List the files with prose, by their path in the repository."""
    found = [*ROOT.glob("*.md"), *(path for name in FOLDERS for path in (ROOT / name).rglob("*"))]
    return sorted(
        path.relative_to(ROOT).as_posix()
        for path in found
        if path.suffix in SUFFIXES and "__pycache__" not in path.parts
    )


PYTHON = re.compile(
    r'"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|#[^\n]*', re.DOTALL
)


# In strings: fields of f-strings, lines of code, and names of parameters and attributes.
NAMES = re.compile(
    r"\{[^{}]*\}|\w+\.(?:py|c|h|js)\b|^\s*(?:>>>|\.\.\.) .*$|^\s*\w+(?:, \w+)* : (?:\w+$)?",
    re.MULTILINE,
)


def python_prose(text):
    """Yield (position, prose) of the comments and strings of a program; one word is a name."""
    for found in PYTHON.finditer(text):
        if " " in found[0]:
            yield found.start(), NAMES.sub(blank, found[0])


def c_prose(text):
    """Yield (position, prose) of the comments and strings of C and JavaScript."""
    for found in re.finditer(r'/\*.*?\*/|//[^\n]*|"[^"\n]* [^"\n]*"|`[^`]*`', text, re.DOTALL):
        prose = re.sub(r'"[#.][^"]*"', blank, found[0])  # the selectors of elements
        while (without := re.sub(r"\$?\{[^{}]*\}", blank, prose)) != prose:
            prose = without
        yield found.start(), prose


def markup_prose(text):
    """Yield (position, prose) of Markdown and templates, without programs, tags and expressions."""
    code = r"^```(?:python|json)\n.*?^```$|<[^>]*>|\]\([^)]*\)"
    yield 0, re.sub(code, blank, text, flags=re.MULTILINE | re.DOTALL)


def blank(found):
    """Replace a match by spaces, and keep its lines."""
    return re.sub(r"[^\n]", " ", found[0])


READERS = {
    r".*\.(c|h|js|mjs|ino)(\.j2)?": c_prose,
    r".*\.py(\.txt|\.j2)?": python_prose,
    ".*": markup_prose,
}


@cache
def findings():
    """List (path, line, phrase, words to use instead) of all files."""
    advice = list(INSTEAD.values())
    found = []
    for path in paths():
        text = (ROOT / path).read_text(encoding="utf-8")
        reader = next(reader for name, reader in READERS.items() if re.fullmatch(name, path))
        if path.endswith(".j2"):
            text = re.sub(r"\{\{.*?\}\}|\{%.*?%\}", blank, text, flags=re.DOTALL)
        for start, prose in reader(text):
            prose = re.sub(r"(`+)[^`\n]+\1|\bNone\b|\bPromise\b", blank, prose).lower()
            for match in FORBIDDEN.finditer(prose):
                line = text[:start].count("\n") + prose[: match.start()].count("\n") + 1
                phrase = " ".join(match[0].split())
                found.append((path, line, phrase, advice[int(match.lastgroup[1:])]))
    return found


def exceptions_of(path, phrase):
    """Return the indices of the exceptions that allow a phrase in a file."""
    return {
        number
        for number, (pattern, where, _) in enumerate(EXCEPTIONS)
        if re.fullmatch(pattern, phrase) and re.fullmatch(where, path)
    }


def test_prose_follows_the_glossary():
    wrong = [
        f"{path}:{line}: {phrase!r}; instead: {instead}"
        for path, line, phrase, instead in findings()
        if not exceptions_of(path, phrase)
    ]
    assert not wrong, "\n".join([f"{len(wrong)} phrases:", *wrong])


def test_every_exception_is_used():
    used = set().union(*(exceptions_of(path, phrase) for path, _, phrase, _ in findings()))
    assert [EXCEPTIONS[number] for number in range(len(EXCEPTIONS)) if number not in used] == []
