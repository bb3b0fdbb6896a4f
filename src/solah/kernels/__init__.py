"""Arrays in, arrays out: the inner loops, in C where it was compiled and in NumPy everywhere."""
