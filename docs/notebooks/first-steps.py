# %% [markdown]
# # First steps with a table
#
# Learn a classifier, choose how many rules it may have, read them, and decide on rows with and
# without all readings. The data come with scikit-learn: chemical measurements of 178 wines of
# three growers.

# %%
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score, train_test_split

from solah import RuleClassifier, load_model

wine = load_wine(as_frame=True)
X, y = wine.data, wine.target.map(lambda k: wine.target_names[k]).rename("grower")
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
X_train.shape, X_test.shape

# %% [markdown]
# ## Learn
#
# `fit` is scikit-learn's. With `verbose=True` it says what it compares: a bar in a terminal,
# lines in a notebook.

# %%
model = RuleClassifier(interactions=0, verbose=True).fit(X_train, y_train)
print(f"{model.n_rules_} rules, accuracy on the test rows {model.score(X_test, y_test):.3f}")

# %% [markdown]
# ## How many rules are enough?
#
# The model compared numbers of rules on rows that it had not learned from, and took the fewest
# that cannot be told from the best. `path_` has what it found. If you want to read all the
# rules, fewer may do:

# %%
model.path_

# %%
small = RuleClassifier(max_rules=10, interactions=0).fit(X_train, y_train)
print(f"{small.n_rules_} rules, accuracy on the test rows {small.score(X_test, y_test):.3f}")

# %% [markdown]
# One split is one draw. The same over five folds of all rows:

# %%
scores = cross_val_score(RuleClassifier(max_rules=10, interactions=0), X, y, cv=5)
print(f"accuracy {scores.mean():.3f} ± {scores.std():.3f}")

# %% [markdown]
# ## Read
#
# Every rule says what can be counted in the training rows, and what it adds to the log-odds of
# each class. A decision is the sum of what its rules add. The ranges of the words stand below
# the table.

# %%
small.rules()

# %% [markdown]
# ## Readings that are missing
#
# Leave out what you do not have. The model goes by the rest, and is less sure:

# %%
row = X_test.iloc[[0]]
unknown = row.assign(flavanoids=float("nan"), hue=float("nan"))
for name, readings in {"all readings": row, "two missing": unknown}.items():
    beliefs = zip(small.classes_, small.predict_proba(readings)[0], strict=True)
    print(f"{name}:", ", ".join(f"{grower} {belief:.3f}" for grower, belief in beliefs))

# %% [markdown]
# ## Save and load
#
# A model is a JSON document. Loading it runs no code and needs no scikit-learn.

# %%
small.save("wine.json")
loaded = load_model("wine.json")
print((loaded.predict(X_test) == small.predict(X_test)).all())
loaded
