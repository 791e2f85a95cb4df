"""Which method is best on these tables, and is it more than chance?"""

from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from bayesieve import NaiveBayesSelector, compare

found = compare(
    {
        "sieved": NaiveBayesSelector(search="forward", cv=5),
        "ten best": make_pipeline(SelectKBest(k=10), GaussianNB()),
        "forest": RandomForestClassifier(n_estimators=50),
        "logistic": "logistic",  # by name: any table made numbers, scaled, logistic regression
    },
    "wdbc",
    seeds=2,
)
print(found.verdict)
print(found.by("log_loss").verdict)
