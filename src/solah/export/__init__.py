"""Export a model as something that a device, a browser or a database runs.

What the device computes is in ``device/``, what it learns in ``export/online.py``.

c_writer.py      tables  -> C99 (templates/), beside the hand-written runtime (c_runtime/), or a
                 module for MicroPython (py_runtime/)
c_export.py      a model -> all of it
agreement.py     a model and its export -> how far they decide alike, on rows
blob.py          a model -> bytes that a runtime checks and runs, so that models can be swapped
self_test.py     a model and its export -> rows and what comes out, for a test on the board
signing.py       a blob  -> one that a device opens only if the right key signed it
javascript.py    a model -> a module (js_tables.py, js_runtime/, which report pages share)
sql.py           a model -> one SELECT (sql_parts.py)
onnx.py          a model -> an ONNX graph
programs.py      what these three have in common: they are run to be compared with the model
packaging.py     C       -> a library for Arduino or PlatformIO, a module for Zephyr or ESP-IDF
footprint.py     C       -> its flash, RAM, stack and instructions on a platform
max_flash.py     a rule estimator -> the most rules that fit into a given flash
platforms/         C       -> built, run and measured on a platform
"""

from solah.export.agreement import Agreement, agreement, require_agreement
from solah.export.blob import Blob, export_blob
from solah.export.c_export import Export, export_c, export_micropython
from solah.export.footprint import FlashSize, flash_size
from solah.export.javascript import export_javascript
from solah.export.onnx import export_onnx
from solah.export.packaging import package_c
from solah.export.programs import Program
from solah.export.self_test import self_test
from solah.export.signing import SignatureError, open_signed, sign_blob
from solah.export.sql import export_sql

__all__ = [
    "Agreement",
    "Blob",
    "Export",
    "FlashSize",
    "Program",
    "SignatureError",
    "agreement",
    "export_blob",
    "export_c",
    "export_javascript",
    "export_micropython",
    "export_onnx",
    "export_sql",
    "flash_size",
    "open_signed",
    "package_c",
    "require_agreement",
    "self_test",
    "sign_blob",
]
