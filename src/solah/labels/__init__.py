"""Words: what a value is called, and to what degree."""
