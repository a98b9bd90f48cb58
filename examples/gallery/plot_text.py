"""
Texts, and the words that make a cluster
========================================

Short made-up reports about three topics. Locally adaptive clustering gives every cluster weights
for the words, and WSBPA keeps them: the consensus says which words make each cluster.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from coterie import WSBPA, LACEnsemble
from coterie.metrics import ari

topics = {
    "space": "orbit rocket launch satellite moon engine crew station fuel signal".split(),
    "garden": "soil seed water leaf root flower sun compost bed harvest".split(),
    "kitchen": "oven salt water butter flour pan heat onion plate recipe".split(),
}
common = "report today new work team time good small long part".split()
rng = np.random.default_rng(0)
topic = rng.integers(0, 3, size=300)
names = list(topics)
texts = [
    " ".join([*rng.choice(topics[names[t]], size=12), *rng.choice(common, size=8)]) for t in topic
]
print(texts[0])

# %%
# Counts of words, scaled to shares of the text; many runs of LAC with different strengths of the
# weights; one consensus.

vectorizer = CountVectorizer()
counts = vectorizer.fit_transform(texts).toarray()
X = counts / counts.sum(axis=1, keepdims=True)
words = vectorizer.get_feature_names_out()
maker = LACEnsemble(n_clusters=3, inv_h=range(50, 550, 50), n_init=3, random_state=0)
wsbpa = WSBPA(n_clusters=3, random_state=0).fit(maker.fit_transform(X))
print(f"ARI with the topics: {ari(topic, wsbpa.labels_):.2f}")

# %%
# Which words make a cluster? A large weight means that its texts agree on a word, and texts
# agree most on words that none of them has. So take words by how often they occur, and draw the
# weight beside it.

_, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
for cluster, ax in enumerate(axes):
    centre, weight = wsbpa.cluster_centers_[cluster], wsbpa.feature_weights_[cluster]
    top = np.argsort(centre * weight)[::-1][:8][::-1]
    ax.barh(words[top], centre[top], color=f"C{cluster}")
    meant = names[np.bincount(topic[wsbpa.labels_ == cluster]).argmax()]
    ax.set_title(f"cluster {cluster}: about {meant}", fontsize=10)
    ax.set_xlabel("share of the text")
