import json
import pickle
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah.exceptions import ParameterError
from solah.model.structure import Hierarchy, HierarchyNode, node_names

GENERAL = "z1 <- x1, x2; z2 <- x3, x4; y <- z1, z2, x5"
SMS_339 = """
    z14 <- x6, x11
    z15 <- z14, x9, x4, x8, x10
    z16 <- z15, x5, x0, x1, x2, x3, x7, x12, x13
"""
SMS_154 = """
    z14 <- x6, x11
    z15 <- x2, x1, x4, x7, x8
    z16 <- z15, z14, x5, x0, x3, x13
    z17 <- z16, x9, x10, x12
"""


@st.composite
def hierarchies(draw):
    """Draw a hierarchy of up to eight trees, with names of any characters."""
    n_nodes = draw(st.integers(1, 8))
    names = draw(
        st.lists(st.text(min_size=1, max_size=6), min_size=n_nodes * 3, max_size=30, unique=True)
    )
    inputs = [[name] for name in names[n_nodes : 2 * n_nodes]]
    for number in range(n_nodes - 1):
        inputs[draw(st.integers(number + 1, n_nodes - 1))].append(names[number])
    for name in names[2 * n_nodes :]:
        inputs[draw(st.integers(0, n_nodes - 1))].append(name)
    nodes = [HierarchyNode(*pair) for pair in zip(names, inputs, strict=False)]
    return Hierarchy(tuple(draw(st.permutations(nodes))))


class TestValue:
    def test_names_levels_and_children(self):
        hierarchy = Hierarchy.parse(GENERAL)
        assert hierarchy.root == "y"
        assert hierarchy.features == ("x1", "x2", "x3", "x4", "x5")
        assert hierarchy.node("z2") == HierarchyNode("z2", ("x3", "x4"))
        assert hierarchy.children("y") == ("z1", "z2")
        assert hierarchy.children("z1") == ()
        assert hierarchy.levels == (("z1", "z2"), ("y",))
        assert hierarchy.n_levels == 3

    def test_the_hierarchies_of_the_paper_on_sms_14(self):
        first, second = Hierarchy.parse(SMS_339), Hierarchy.parse(SMS_154)
        assert first.levels == (("z14",), ("z15",), ("z16",))
        assert second.levels == (("z14", "z15"), ("z16",), ("z17",))
        for hierarchy in (first, second):
            assert hierarchy.n_levels == 4
            assert sorted(hierarchy.features) == sorted(f"x{i}" for i in range(14))

    def test_a_level_is_one_above_the_highest_child(self):
        hierarchy = Hierarchy.parse("a <- x1; b <- a, x2; c <- x3; y <- c, b")
        assert hierarchy.levels == (("a", "c"), ("b",), ("y",))

    def test_an_order_that_is_bottom_up_is_kept(self):
        text = "a <- x1; c <- x3; d <- x4; b <- a, x2; y <- d, c, b"
        assert str(Hierarchy.parse(text)) == text

    def test_any_other_order_becomes_bottom_up(self):
        hierarchy = Hierarchy.parse("y <- z2, z1, x5; z1 <- x1, z3; z2 <- x2; z3 <- x3")
        assert [node.name for node in hierarchy.nodes] == ["z3", "z1", "z2", "y"]

    def test_equal_ones_have_one_hash(self):
        first, second = Hierarchy.parse(GENERAL), Hierarchy.parse(GENERAL)
        assert first.levels  # what is computed and kept is no part of the value
        assert first == second
        assert len({first, second}) == 1
        assert first != Hierarchy.parse(GENERAL.replace("x5", "x6"))

    def test_nothing_can_be_changed(self):
        with pytest.raises(AttributeError):
            Hierarchy.parse(GENERAL).nodes = ()

    def test_an_unknown_tree_is_named(self):
        with pytest.raises(ParameterError, match="no node 'Z1'; did you mean 'z1'?"):
            Hierarchy.parse(GENERAL).node("Z1")

    @given(hierarchies())
    def test_children_come_before_parents(self, hierarchy):
        seen = set()
        for node in hierarchy.nodes:
            assert seen >= set(hierarchy.children(node.name))
            seen.add(node.name)

    @given(hierarchies())
    def test_levels_and_features_name_everything_once(self, hierarchy):
        trees = [name for level in hierarchy.levels for name in level]
        everything = [name for node in hierarchy.nodes for name in node.inputs]
        assert sorted([*trees, *hierarchy.features]) == sorted([*everything, hierarchy.root])

    @given(hierarchies())
    def test_it_survives_pickling(self, hierarchy):
        assert pickle.loads(pickle.dumps(hierarchy)) == hierarchy


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "at least one HierarchyNode"),
        ("a <- b; b <- a", "in a cycle: a <- b <- a"),
        ("y <- y", "in a cycle: y <- y"),
        ("y <- x; a <- c; b <- a; c <- b, x2", "in a cycle: a <- c <- b <- a"),
        ("a <- x1; b <- x2", "2 nodes feed no other: 'a', 'b'"),
        ("a <- x1; a <- x2", "two nodes are called 'a'"),
        ("a <- x; b <- x; y <- a, b", "'x' feeds both 'a' and 'b'"),
        ("a <- x; b <- a; y <- a, b", "'a' feeds both 'b' and 'y'"),
        ("y <- x1, x2, x1", "'y' names its input 'x1' twice"),
    ],
)
def test_what_is_no_hierarchy_is_refused(text, problem):
    with pytest.raises(ParameterError, match=problem):
        Hierarchy.parse(text)


@pytest.mark.parametrize(
    ("inputs", "problem"),
    [
        ({"y": []}, "'y' has no inputs"),
        ({"y": "x1, x2"}, "inputs of 'y' must be a list of names. Got a value of type str"),
        ({"y": {"z": ["x"]}}, "inputs of 'y' must be a list of names. Got a value of type dict"),
        ({"y": 3}, "inputs of 'y' must be a list of names. Got a value of type int"),
        ({"y": [14]}, "a name must be text.* Got 14"),
        ({14: ["x"]}, "a name must be text.* Got 14"),
        ({"y": [["x"]]}, "a name must be text.* Got a value of type list"),
        ({"y": ["\ud800"]}, "half a character"),
        (
            [("y", ["x"])],
            "maps each node's name to the list of its inputs. Got a value of type list",
        ),
    ],
)
def test_what_is_no_mapping_of_names_is_refused(inputs, problem):
    with pytest.raises(ParameterError, match=problem):
        Hierarchy.from_dict(inputs)


def chain(n_trees):
    """Return trees of which each but the first takes the one before and one more feature."""
    nodes = [HierarchyNode("z0", ("x0",))]
    for number in range(1, n_trees):
        nodes.append(HierarchyNode(f"z{number}", (f"z{number - 1}", f"x{number}")))
    return Hierarchy(tuple(nodes))


def test_no_depth_is_too_deep():
    hierarchy = chain(3000)
    assert Hierarchy(hierarchy.nodes[::-1]) == hierarchy
    assert hierarchy.n_levels == 3001
    assert len(hierarchy.draw().splitlines()) >= 3000


def test_trees_are_named_around_the_features():
    assert node_names(1, ["x"], "y") == ("y",)
    assert node_names(3, ["z2", "y", "y_"], "y") == ("z1", "z2_", "y__")
    assert node_names(2, [], "z1") == ("z1_", "z1")


class TestShortText:
    def test_lines_semicolons_comments_and_arrows(self):
        text = """
        # the paper's Figure 1b
        z1 <- x1, x2;   # with a comment; and <- this
        z2 ← x3 ,
              x4

        y<-z1,z2,x5"""
        assert str(Hierarchy.parse(text)) == GENERAL
        assert str(Hierarchy.parse(text.replace("\n", "\r\n"))) == GENERAL

    def test_quoted_names_hold_anything(self):
        hierarchy = Hierarchy.parse(r'"y; z" <- "a, b", "c <- d", "e # f", "\"g\"", "h\n", "ü"')
        assert hierarchy.root == "y; z"
        assert hierarchy.features == ("a, b", "c <- d", "e # f", '"g"', "h\n", "ü")

    def test_bare_names_hold_what_cannot_be_mistaken(self):
        names = ["x-1", "a<b", "od280/od315", "größe", "温度", "x.y(z)", "<", "-"]
        hierarchy = Hierarchy.from_dict({"y": names})
        assert str(hierarchy) == "y <- " + ", ".join(names)

    @given(hierarchies())
    def test_what_is_written_is_read_back(self, hierarchy):
        assert Hierarchy.parse(str(hierarchy)) == hierarchy
        assert str(hierarchy).isprintable()

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("z1", "line 1, column 3: expected '<-', found the end"),
            ("z1 x1", "line 1, column 4: expected '<-', found 'x1'; a name with spaces needs"),
            ("<- x1", "line 1, column 1: expected the name of a node, found '<-'"),
            ("z1 <- ;", "line 1, column 7: expected the name of an input, found ';'"),
            ("z1 <- x1,", "line 1, column 10: expected the name of an input, found the end"),
            ("z1 <- x1\nz2\n <- x2", "line 2, column 3: expected '<-', found the end of the line"),
            ("a <- b\ny <- x1 x2", "line 2, column 9: expected a comma, a semicolon .* found 'x2'"),
            ("y <- x1 <- x2", "line 1, column 9: expected a comma"),
            ('y <- x1, "x2', "line 1, column 10: a double quote is not closed"),
            ('y <- "a\nb"', "line 1, column 6: a double quote is not closed"),
            (r'y <- "\q"', "line 1, column 6: .* has an escape that JSON does not know"),
        ],
    )
    def test_an_error_names_the_place(self, text, problem):
        with pytest.raises(ParameterError, match=problem):
            Hierarchy.parse(text)

    @given(st.text(st.sampled_from('xyz<-,;"\\#\n \u2190'), max_size=30))
    def test_any_text_is_read_or_refused(self, text):
        try:
            hierarchy = Hierarchy.parse(text)
        except ParameterError:
            return
        assert Hierarchy.parse(str(hierarchy)) == hierarchy


class TestFiles:
    @given(hierarchies())
    def test_a_mapping_survives_the_round_trip(self, hierarchy):
        assert Hierarchy.from_dict(hierarchy.to_dict()) == hierarchy

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
    def test_each_format_is_read(self, tmp_path, encoding):
        hierarchy = Hierarchy.parse(GENERAL)
        as_json = json.dumps(hierarchy.to_dict())
        for name, text in {"h.json": as_json, "h.JSON": as_json, "h.txt": GENERAL}.items():
            (tmp_path / name).write_text(text, encoding=encoding)
            assert Hierarchy.load(tmp_path / name) == hierarchy
            assert Hierarchy.load(str(tmp_path / name)) == hierarchy

    def test_a_broken_file_is_named(self, tmp_path):
        for name, content, problem in [
            ("h.json", '{"y": ["x"', "h.json: .*not valid JSON|h.json: .*JSON"),
            ("h.json", "[]", "h.json: a hierarchy maps .* Got a value of type list"),
            ("h.json", "[" * 100_000, "h.json: the hierarchy .*(deep|nest)"),
            ("h.json", '{"a": ["x"], "a": ["w"]}', "h.json: .*'a'"),
            ("h.json", '{"y": [1]}', "h.json: a name must be text"),
            ("h.json", '{"y": ["\\ud800"]}', "h.json: .*surrogate"),
            ("h.json", '{"y": [%s]}' % ("9" * 5000), "h.json: "),
            ("h.txt", "y <- ", "h.txt: line 1, column 6: expected the name of an input"),
            ("h.txt", b"y <- \xff", "h.txt: this is not UTF-8 text"),
            ("h.yaml", "y: [x]", "h.yaml: a hierarchy is read from .txt or .json"),
        ]:
            is_text = isinstance(content, str)
            (tmp_path / name).write_bytes(content.encode() if is_text else content)
            with pytest.raises(ParameterError, match=problem):
                Hierarchy.load(tmp_path / name)
        with pytest.raises(FileNotFoundError, match="absent.json"):
            Hierarchy.load(tmp_path / "absent.json")


def drawn(text):
    """Take a drawing as it stands in a test."""
    lines = text.strip("\n").split("\n")
    return "\n".join(line.removeprefix("        ").rstrip() for line in lines).rstrip()


class TestDrawing:
    def test_children_stand_below_their_parent(self):
        assert Hierarchy.parse(SMS_154).draw() == drawn("""
        z17 ← x9, x10, x12
        └─ z16 ← x5, x0, x3, x13
           ├─ z15 ← x2, x1, x4, x7, x8
           └─ z14 ← x6, x11
        """)
        assert Hierarchy.parse(SMS_339).draw() == drawn("""
        z16 ← x5, x0, x1, x2, x3, x7, x12, x13
        └─ z15 ← x9, x4, x8, x10
           └─ z14 ← x6, x11
        """)

    def test_annotations_stand_beside_names(self):
        hierarchy = Hierarchy.parse("z1 <- x1; z2 <- x2; y <- z1, z2")
        assert hierarchy.draw({"y": "3 rules", "z2": "2 rules", "x1": "0.4"}) == drawn("""
        y (3 rules)
        ├─ z1 ← x1 (0.4)
        └─ z2 (2 rules) ← x2
        """)

    def test_an_unknown_name_cannot_be_annotated(self):
        with pytest.raises(ParameterError, match="no 'z3' to annotate"):
            Hierarchy.parse(GENERAL).draw({"z3": "9 rules"})

    def test_long_lists_are_wrapped_beside_the_lines_of_the_tree(self):
        names = [f"sensor {i}" for i in range(12)]
        hierarchy = Hierarchy.from_dict({"z1": names[:5], "z2": names[5:7], "y": ["z1", "z2"]})
        assert hierarchy.draw(width=40) == drawn("""
        y
        ├─ z1 ← sensor 0, sensor 1, sensor 2,
        │       sensor 3, sensor 4
        └─ z2 ← sensor 5, sensor 6
        """)
        hierarchy = Hierarchy.from_dict({"z1": names[:2], "y": ["z1", *names[2:]]})
        assert hierarchy.draw(width=40) == drawn("""
        y ← sensor 2, sensor 3, sensor 4,
        │   sensor 5, sensor 6, sensor 7,
        │   sensor 8, sensor 9, sensor 10,
        │   sensor 11
        └─ z1 ← sensor 0, sensor 1
        """)

    def test_the_comma_at_the_end_of_a_line_fits_as_well(self):
        names = ["a" * 12, "b" * 12, "c" * 12]
        lines = Hierarchy.from_dict({"y": names}).draw(width=30).split("\n")
        assert max(map(len, lines)) <= 30

    def test_a_long_name_has_its_features_below(self):
        hierarchy = Hierarchy.parse("a_name_that_is_quite_long <- z, humidity, pressure; z <- x3")
        assert hierarchy.draw(width=40) == drawn("""
        a_name_that_is_quite_long ←
        │   humidity, pressure
        └─ z ← x3
        """)

    def test_names_that_could_be_mistaken_are_quoted(self):
        hierarchy = Hierarchy.from_dict({"y": ["a, b", "c d", " e", "f\ng", "h ← i"]})
        assert hierarchy.draw() == r'y ← "a, b", c d, " e", "f\ng", "h ← i"'

    @pytest.mark.parametrize("n_features", [60, 600])
    def test_many_features_stay_within_the_width(self, n_features):
        names = [f"feature_{i}" for i in range(n_features)]
        clusters = {f"z{i}": names[i::10] for i in range(10)}
        hierarchy = Hierarchy.from_dict({**clusters, "y": list(clusters)})
        lines = hierarchy.draw(dict.fromkeys(clusters, "12 rules")).splitlines()
        assert max(map(len, lines)) <= 80

    @given(hierarchies(), st.integers(1, 100))
    def test_everything_is_drawn(self, hierarchy, width):
        text = hierarchy.draw(width=width)
        assert all(line.isprintable() for line in text.split("\n"))
        assert len(text.split("\n")) >= len(hierarchy.nodes)


@pytest.mark.parametrize("value", [None, [("y", ["hue"])], [], ["y"]])
def test_a_hierarchy_is_made_of_nodes(value):
    with pytest.raises(ParameterError, match="made of at least one HierarchyNode"):
        Hierarchy(value)


def test_a_set_has_no_order_and_an_empty_name_says_nothing():
    with pytest.raises(ParameterError, match="must be a list of names"):
        Hierarchy.from_dict({"y": {"a", "b"}})
    with pytest.raises(ParameterError, match="a name must be text"):
        Hierarchy.from_dict({"y": [""]})


class Element(HTMLParser):
    """Reads a single element: its tag, its features and its text."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.features, self.text = [], {}, ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.features |= dict(attrs)

    def handle_data(self, data):
        self.text += data


class TestNotebook:
    @given(hierarchies())
    def test_the_drawing_and_what_is_read_aloud_have_every_name(self, hierarchy):
        shown = Element(hierarchy._repr_html_())
        assert shown.tags == ["pre"]
        assert shown.text == hierarchy.draw()
        assert shown.features["role"] == "img"
        assert shown.features["aria-label"] == f"Hierarchy: {hierarchy}"


def test_terms_of_a_model_may_share_what_feeds_them_but_not_nodes_of_a_wiring():
    nodes = (HierarchyNode("a", ("x",)), HierarchyNode("b", ("x", "z")))
    shared = Hierarchy((*nodes, HierarchyNode("y", ("a", "b"))))
    assert shared.features == ("x", "z")
    twice = Hierarchy((nodes[0], HierarchyNode("c", ("a",)), HierarchyNode("y", ("a", "c"))))
    assert twice.levels == (("a",), ("c",), ("y",))
    assert twice.draw().splitlines() == ["y", "├─ a ← x", "└─ c", "   └─ a …"]
    for hierarchy, name in ((shared, "x"), (twice, "a")):
        for write, read in (
            (str, Hierarchy.parse),
            (Hierarchy.to_dict, Hierarchy.from_dict),
        ):
            with pytest.raises(ParameterError, match=f"'{name}' feeds both"):
                read(write(hierarchy))
