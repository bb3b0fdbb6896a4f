"""The command line: one file per command (``site_*.py`` for those of ``solah site``).

    main.py        words of the user -> a command, and errors -> one line
    command.py     functions with groups of options -> commands and help pages; files stay whole
    options.py     options that several commands share
    parameters.py  --model and --set -> estimators
    problem.py     DATA and the column options -> features, target and task
    signals.py     recordings of samples -> rows
    screen.py, views.py  results -> stdout, stderr, JSON; models and metrics on a terminal
    stopping.py    signals that ask a command to stop

Nothing here imports NumPy or scikit-learn before a command needs it, so that ``--help`` is quick.
"""
