"""Export a model as something that a device runs.

lowering.py      a model -> what has to be computed: broken lines, tables of states, trees
float_tables.py  that    -> tables of float32          float_twin.py  tables, rows -> decisions
fixed_tables.py  that    -> tables of integers         fixed_twin.py  tables, rows -> decisions
places.py        what both kinds of tables share       twin.py        what both twins share
c_writer.py      tables  -> C99 (templates/), beside the hand-written runtime (c_runtime/), or a
                 module for MicroPython (py_runtime/)
units.py         words   -> the unit in which integers read an attribute
exporting.py     a model -> all of it
agreement.py     a model and its export -> how far they decide alike, on rows
blob.py          a model -> bytes that a runtime checks and runs, so that models can be swapped
learning.py      a model and labelled rows -> the model that learnt, as a device does
packaging.py     C       -> a library for Arduino, a module for Zephyr
costs.py         tables  -> about what they cost a Cortex-M0+ (prices.py), without compiling
shrinking.py     a model -> one that fits into less flash (reassembly.py puts it together)
targets/         C       -> built, run and measured on a target
"""

from solah.export.agreement import Agreement, agreement, require_agreement
from solah.export.blob import Blob, export_blob
from solah.export.exporting import Export, export_c, export_micropython
from solah.export.packaging import package_c

__all__ = [
    "Agreement",
    "Blob",
    "Export",
    "agreement",
    "export_blob",
    "export_c",
    "export_micropython",
    "package_c",
    "require_agreement",
]
