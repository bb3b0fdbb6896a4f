"""The hierarchy that organises itself as in the paper: trees that hear trees, nothing chosen."""

from solah import SelfOrganisedHierarchyClassifier

TREES = {"n_words": 3, "min_support": 0.01}


def organised(n_clusters="auto", **parameters):
    made = SelfOrganisedHierarchyClassifier.with_settings
    return made({}, n_clusters=n_clusters, **TREES | parameters)
