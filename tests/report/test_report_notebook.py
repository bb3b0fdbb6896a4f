"""The report page in a notebook: whole, in a frame of its own."""

from html.parser import HTMLParser

from page_models import make

from solah.model.predictor import Predictor
from solah.report import render_page, summarise_page


class Frame(HTMLParser):
    """Keeps what the frame of a page says about itself."""

    def handle_starttag(self, tag, attributes):
        assert tag == "iframe"
        self.attributes = dict(attributes)


def test_a_notebook_shows_the_page_in_a_frame_that_cannot_touch_it(tmp_path):
    model, table, target = make("wine, few rules")
    shown = Predictor(model).show(table, target)
    assert shown.html == render_page(summarise_page(model, table, target))
    assert Predictor(model).show().html == render_page(summarise_page(model))
    frame = Frame()
    frame.feed(shown._repr_html_())
    assert frame.attributes["srcdoc"] == shown.html
    assert "allow-same-origin" not in frame.attributes["sandbox"]
    shown.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == shown.html
    assert "kB" in repr(shown)
