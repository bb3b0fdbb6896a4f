"""The command line: one file per verb, and what the verbs share.

    main.py      words of the user -> a verb, and errors -> one line
    verb.py      a function with option groups -> a verb
    options.py   every shared option, declared once
    screen.py    what a verb says -> stdout, stderr, JSON (progress.py)
    sources.py   DATA -> a table (a file or a data set by name)
    problems.py  a table and the column options -> attributes, goal and task
    models.py    the model options -> estimators by name
    views.py     models, rules and scores -> what a terminal shows (wording.py, helptext.py)
    decisions.py pieces of a table -> decisions, as CSV or JSON lines

Nothing here imports NumPy or scikit-learn before a verb needs it, so that ``--help`` is quick.
"""
