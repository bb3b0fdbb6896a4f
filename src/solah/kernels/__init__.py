"""The inner loops on arrays: in C where it was compiled, in NumPy everywhere."""
