"""What the tests of streams share: their helpers are a plain module beside them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
