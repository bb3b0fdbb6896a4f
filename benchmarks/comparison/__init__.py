"""Compare models on data sets: their metrics and their sizes.

sets.py     a name            -> labelled rows, up to a maximum
sizes.py    a learned model    -> how much there is to read
peers.py    columns           -> scikit-learn's models, for numbers and states alike
extras.py   columns           -> models of packages that need not be installed
models.py   a name            -> an estimator, ours or another
scores.py   probabilities     -> a fold's metrics
cells.py    one computation   -> its figures, fold by fold
running.py  a request         -> the figures of all cells, which are stored
pareto.py   sizes and scores  -> the models that nothing smaller beats
bars.py     means             -> what was aimed for, held or missed
speed.py    nothing           -> how long the default takes to learn
summary.py  figures           -> the one dict that everything is shown from
page.py     that dict         -> Markdown, a figure, and the same lines on the terminal

Models, peers, the result cache and statistics are shared with the reproduction of the paper, the
package ``reproduction`` in the folder above. A script has only its own folder on the path.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))
