# %% [markdown]
# # First steps with a table
#
# Train a classifier, choose the number of its rules, read them, and predict with and without
# missing values. The data come with scikit-learn: chemical measurements of 178 wines of three
# growers.

# %%
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score, train_test_split

from solah import RuleClassifier, load_model

wine = load_wine(as_frame=True)
X, y = wine.data, wine.target.map(lambda k: wine.target_names[k]).rename("grower")
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
X_train.shape, X_test.shape

# %% [markdown]
# ## Train
#
# `fit` is scikit-learn's. With `verbose=True` it shows its progress: a bar in a terminal, lines
# in a notebook.

# %%
model = RuleClassifier(interactions=0, verbose=True).fit(X_train, y_train)
print(f"{model.n_rules_} rules, accuracy on the test rows {model.score(X_test, y_test):.3f}")

# %% [markdown]
# ## How many rules are enough?
#
# `fit` compared numbers of rules by cross-validation. It selected the fewest rules whose log-loss
# is close to the best. `path_` has the comparison. If you want to read every rule, fewer may do:

# %%
model.path_

# %%
small = RuleClassifier(max_rules=10, interactions=0).fit(X_train, y_train)
print(f"{small.n_rules_} rules, accuracy on the test rows {small.score(X_test, y_test):.3f}")

# %% [markdown]
# One split is one draw. Five folds over all rows give:

# %%
scores = cross_val_score(RuleClassifier(max_rules=10, interactions=0), X, y, cv=5)
print(f"accuracy {scores.mean():.3f} ± {scores.std():.3f}")

# %% [markdown]
# ## Read
#
# Left of the bar is the weight that a rule adds to each class, in log-odds. Right of it are
# counts from the training rows. A prediction is the sum of the weights. Below the table are the
# ranges of the words.

# %%
small.rules()

# %% [markdown]
# ## Missing values
#
# With missing values the model predicts from the others, and is less certain:

# %%
row = X_test.iloc[[0]]
unknown = row.assign(flavanoids=float("nan"), hue=float("nan"))
for name, values in {"all values": row, "two missing": unknown}.items():
    found = zip(small.classes_, small.predict_proba(values)[0], strict=True)
    print(f"{name}:", ", ".join(f"{grower} {probability:.3f}" for grower, probability in found))

# %% [markdown]
# ## Save and load
#
# A model file is JSON. Loading it executes no code and needs no scikit-learn.

# %%
small.save("wine.json")
loaded = load_model("wine.json")
print((loaded.predict(X_test) == small.predict(X_test)).all())
loaded
