"""Slow twins of the library's functions, written from the definitions."""

from __future__ import annotations

import decimal
import functools
import itertools
import math
from fractions import Fraction

import numpy as np

# --- metrics ---


def pairs_together(labels):
    return np.array([a == b for a, b in itertools.combinations(labels, 2)], dtype=bool)


def entropy(labels):
    n = len(labels)
    return -sum(labels.count(name) / n * math.log(labels.count(name) / n) for name in set(labels))


def nmi(truth, found):
    truth, found = list(truth), list(found)
    if len(set(truth)) == 1 and len(set(found)) == 1:
        return 1.0
    if len(set(truth)) == 1 or len(set(found)) == 1:
        return 0.0
    joint = list(zip(truth, found, strict=True))
    h_truth, h_found = entropy(truth), entropy(found)
    most = math.sqrt(h_truth * h_found)
    return (h_truth + h_found - entropy(joint)) / most


def ari(truth, found):
    """Formula (15) of Domeniconi and Al-Razgan; equal partitions give 1."""
    first, second = pairs_together(truth), pairs_together(found)
    if np.array_equal(first, second):
        return 1.0
    t1, t2, both = int(first.sum()), int(second.sum()), int((first & second).sum())
    t3 = t1 * t2 / len(first)
    return (both - t3) / ((t1 + t2) / 2 - t3)


def rand(truth, found):
    same = pairs_together(truth) == pairs_together(found)
    return float(same.mean()) if len(same) else 1.0


def pairwise_scores(truth, found):
    """(f, precision, recall) over pairs."""
    first, second = pairs_together(truth), pairs_together(found)
    right = int((first & second).sum())
    if not first.any() and not second.any():
        return 1.0, 1.0, 1.0
    if right == 0:
        return 0.0, 0.0, 0.0
    precision, recall = right / int(second.sum()), right / int(first.sum())
    return 2 * precision * recall / (precision + recall), precision, recall


def class_f(truth, found):
    total = 0.0
    for name in set(truth):
        members = {i for i, value in enumerate(truth) if value == name}
        best = 0.0
        for other in set(found):
            cluster = {i for i, value in enumerate(found) if value == other}
            common = len(members & cluster)
            if common:
                precision, recall = common / len(cluster), common / len(members)
                best = max(best, 2 * precision * recall / (precision + recall))
        total += len(members) / len(truth) * best
    return total


def consistency_index(truth, found):
    """Try every one-to-one matching."""
    few, many = sorted([list(truth), list(found)], key=lambda labels: len(set(labels)))
    joint = list(zip(few, many, strict=True))
    names = sorted(set(few))
    return max(
        sum(joint.count(pair) for pair in zip(names, chosen, strict=True))
        for chosen in itertools.permutations(sorted(set(many)), len(names))
    ) / len(joint)


def error_rate(truth, found):
    truth, found = list(truth), list(found)
    if len(set(found)) <= len(set(truth)):
        return 1 - consistency_index(truth, found)
    right = 0
    for name in set(found):
        classes = [a for a, b in zip(truth, found, strict=True) if b == name]
        right += max(classes.count(c) for c in set(classes))
    return 1 - right / len(truth)


def common_objects(first, second):
    """The labels of two columns on the objects that both saw."""
    seen = [(a, b) for a, b in zip(first, second, strict=True) if a >= 0 and b >= 0]
    return [a for a, _ in seen], [b for _, b in seen]


def pairwise_scores_of(labels, score):
    """(L, L) of a score on the objects that two columns both saw; NaN if there are none."""
    n_partitions = labels.shape[1]
    scores = np.full((n_partitions, n_partitions), np.nan)
    for e, f in itertools.product(range(n_partitions), repeat=2):
        first, second = common_objects(labels[:, e], labels[:, f])
        if first:
            scores[e, f] = score(first, second)
    return scores


def correlation(first, second):
    """Pearson's, 0 where one of the two is constant."""
    first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if len(first) < 2 or np.ptp(first) <= 1e-12 * np.abs(first).max() or np.ptp(second) == 0:
        return 0.0
    first, second = first - first.mean(), second - second.mean()
    return float((first * second).sum() / math.sqrt((first**2).sum() * (second**2).sum()))


def hubert_gamma(X, labels):
    distances = [math.dist(a, b) for a, b in itertools.combinations(X, 2)]
    return correlation(distances, ~pairs_together(labels))


# --- LACA -------------------------------------------------------------------------------------


def laca_initial(labels, ess=30.0):
    """(10), (11) over unordered pairs that a partition saw."""
    n, n_partitions = labels.shape
    same, both = _pair_tables(labels)
    count, rcount = same.sum(axis=0), (both & ~same).sum(axis=0)
    upper = np.triu(np.ones((n, n), dtype=bool), 1)
    rho, r = np.empty(n_partitions), np.empty(n_partitions)
    for e in range(n_partitions):
        together, seen = same[e] & upper, both[e] & upper
        rho[e] = (count[together].sum() + 0.5 * ess) / (count[seen].sum() + ess)
        r[e] = (rcount[together].sum() + 0.5 * ess) / (rcount[seen].sum() + ess)
    return rho, r


def laca_pair_counts(labels, model):
    """n_11, n_10, n_01, n_00 of (6) for each partition, shape (4, L)."""
    same, both = _pair_tables(labels)
    upper = np.triu(np.ones((len(labels), len(labels)), dtype=bool), 1)
    joined = np.equal.outer(model, model) & upper
    split = ~np.equal.outer(model, model) & upper
    return np.array(
        [
            [(joined & s).sum(), (joined & b & ~s).sum(), (split & s).sum(), (split & b & ~s).sum()]
            for s, b in zip(same, both, strict=True)
        ]
    ).T


def laca_estimate(labels, model, ess=30.0):
    """(21), (22)."""
    n11, n10, n01, n00 = laca_pair_counts(labels, model)
    return (n11 + 0.5 * ess) / (n11 + n10 + ess), (n01 + 0.5 * ess) / (n01 + n00 + ess)


def laca_log_likelihood(labels, model, rho, r):
    """(6) summed over partitions."""
    n11, n10, n01, n00 = laca_pair_counts(labels, model)
    return float(
        (n11 * np.log(rho) + n10 * np.log(1 - rho) + n01 * np.log(r) + n00 * np.log(1 - r)).sum()
    )


def laca_scores(labels, rho, r):
    """(17), (18) as a dense matrix."""
    same, both = _pair_tables(labels)
    scores = np.zeros((len(labels), len(labels)))
    for e in range(labels.shape[1]):
        scores += np.where(same[e], np.log(rho[e] / r[e]), 0.0)
        scores += np.where(both[e] & ~same[e], np.log((1 - rho[e]) / (1 - r[e])), 0.0)
    return scores


def laca_infer(scores, n_clusters=None):
    """The algorithm box of section 3.2, or down to n_clusters."""
    clusters = [[i] for i in range(len(scores))]
    floor = 2 if n_clusters is None else n_clusters
    while len(clusters) > floor:
        best, pair = -np.inf, None
        for a in range(len(clusters)):
            for b in range(a + 1, len(clusters)):
                link = scores[np.ix_(clusters[a], clusters[b])].mean()
                if link > best + 1e-12 * (1 + abs(best)) or pair is None:
                    best, pair = link, (a, b)
        if n_clusters is None and best < 0:
            break
        a, b = pair
        clusters[a] = clusters[a] + clusters[b]
        del clusters[b]
    model = np.empty(len(scores), dtype=int)
    for name, members in enumerate(clusters):
        model[members] = name
    return model


def laca(labels, n_clusters=None, ess=30.0, tol=1e-3, max_iter=100):
    """The whole algorithm. Returns (model, rho, r, log-likelihood, converged, rounds)."""
    rho, r = laca_initial(labels, ess)
    models, likelihoods, converged = [], [], False
    for _ in range(max_iter):
        scores = laca_scores(labels, rho, r)
        model = laca_infer(scores)
        old = rho, r
        rho, r = laca_estimate(labels, model, ess)
        models.append(model)
        likelihoods.append(laca_log_likelihood(labels, model, rho, r))
        if np.abs(rho - old[0]).sum() + np.abs(r - old[1]).sum() < tol:
            converged = True
            break
        first = next(t for t, m in enumerate(models) if np.array_equal(m, model))
        if first < len(models) - 1:
            model = models[first + int(np.argmax(likelihoods[first:]))]
            break
    rounds = len(models)
    if n_clusters is not None:
        model = laca_infer(scores, n_clusters)
    rho, r = laca_estimate(labels, model, ess)
    return model, rho, r, laca_log_likelihood(labels, model, rho, r), converged, rounds


def _pair_tables(labels):
    """For each partition: pairs together, and pairs of which it saw both; shape (L, n, n)."""
    labels = np.asarray(labels)
    seen = labels >= 0
    both = np.array([np.logical_and.outer(s, s) for s in seen.T])
    same = np.array([np.equal.outer(c, c) for c in labels.T]) & both
    return same, both


# --- ensembles ---


def votes(labels, i, j):
    """(partitions that put i and j together, partitions that saw both)."""
    seen = [(a, b) for a, b in zip(labels[i], labels[j], strict=True) if a != -1 and b != -1]
    return sum(a == b for a, b in seen), len(seen)


def share(together, observed):
    """The share of votes for together; 0 where there is no vote."""
    return Fraction(together, observed) if observed else Fraction(0)


def coassociation(labels):
    """Lists of Fraction, the diagonal included."""
    n = len(labels)
    return [[share(*votes(labels, i, j)) for j in range(n)] for i in range(n)]


def weighted_scores(labels, together, apart):
    """Sum over the partitions that saw both objects of what each gives for the pair.

    ``together[e]`` is a number, or a dictionary with a number for each label.
    """
    n, n_partitions = len(labels), len(labels[0])

    def give(e, i, j):
        if labels[i][e] != labels[j][e]:
            return Fraction(apart[e])
        weight = together[e]
        return Fraction(weight[labels[i][e]] if isinstance(weight, dict) else weight)

    return [
        [
            sum(
                give(e, i, j)
                for e in range(n_partitions)
                if labels[i][e] != -1 and labels[j][e] != -1
            )
            for j in range(n)
        ]
        for i in range(n)
    ]


def patterns(labels):
    """(distinct rows by first object, how often each occurs, the row of each object)."""
    rows = [tuple(row) for row in labels]
    distinct = list(dict.fromkeys(rows))
    return distinct, [rows.count(row) for row in distinct], [distinct.index(row) for row in rows]


def codes(column):
    """Labels 0..k-1 in the order of the sorted values, and these values."""
    names = sorted({value for value in column if value != -1})
    return [names.index(value) if value != -1 else -1 for value in column], names


def overlap(labels):
    """(K, K) counts of objects; clusters by partition, then by sorted name."""
    labels = np.asarray(labels)
    clusters = [
        {i for i, value in enumerate(column) if value == name}
        for column in labels.T.tolist()
        for name in codes(column)[1]
    ]
    return [[len(a & b) for b in clusters] for a in clusters]


def clusters_of(labels):
    """The clusters of all partitions as (partition, set of objects), in the order of `overlap`."""
    return [
        (e, {i for i, value in enumerate(column) if value == name})
        for e, column in enumerate(np.asarray(labels).T.tolist())
        for name in codes(column)[1]
    ]


def eci(labels, theta=0.4):
    """Ensemble-driven cluster index: exp(-H / (theta L)), H summed over partitions, in bits."""
    labels = np.asarray(labels)
    weights = []
    for _, members in clusters_of(labels):
        total = 0.0
        for column in labels.T.tolist():
            seen = [column[i] for i in members if column[i] != -1]
            for name in set(seen):
                p = seen.count(name) / len(seen)
                total -= p * math.log2(p)
        weights.append(math.exp(-total / (theta * labels.shape[1])))
    return weights


def ncai(labels):
    """Mean NMI (by the larger entropy) of each partition with the others, over the largest."""
    columns = np.asarray(labels).T.tolist()
    means = []
    for e, one in enumerate(columns):
        total = 0.0
        for f, other in enumerate(columns):
            both = [(x, y) for x, y in zip(one, other, strict=True) if -1 not in (x, y)]
            a, b = [x for x, _ in both], [y for _, y in both]
            if e == f or not both:
                continue
            larger = max(entropy(a), entropy(b))
            joint = entropy(both)
            total += (entropy(a) + entropy(b) - joint) / larger if larger > 0 else 1.0
        means.append(total)
    largest = max(means)
    return [mean / largest if largest > 1e-12 else 1.0 for mean in means]


def order_by_size(labels):
    """Names 0, 1, ... from the largest cluster on; of equal ones, the smallest object first."""
    labels = list(labels)
    names = sorted(set(labels), key=lambda name: (-labels.count(name), labels.index(name)))
    return [names.index(name) for name in labels]


# --- linkage ---


def cluster_link(similarity, rule, first, second):
    values = [similarity[i][j] for i in first for j in second]
    if rule == "average":
        return sum(values) / Fraction(len(values))
    return max(values) if rule == "single" else min(values)


def greedy_merges(similarity, rule="average"):
    """All merges (u, v, link), the best pair first; ties: the smallest (u, v).

    A cluster is known by its smallest object.
    """
    clusters = {i: [i] for i in range(len(similarity))}
    merges = []
    while len(clusters) > 1:
        link, u, v = max(
            (
                (cluster_link(similarity, rule, clusters[u], clusters[v]), -u, -v)
                for u, v in itertools.combinations(sorted(clusters), 2)
            ),
        )
        u, v = -u, -v
        merges.append((u, v, link))
        clusters[u] += clusters.pop(v)
    return merges


def check_merges(similarity, merges, rule="average", tolerance=1e-9):
    """Assert that (u, v, link) are merges of a best pair at each step.

    This is what any algorithm must satisfy, whatever its rule for ties.
    """
    clusters = {i: [i] for i in range(len(similarity))}
    for u, v, link in merges:
        assert u < v
        assert u in clusters
        assert v in clusters
        exact = cluster_link(similarity, rule, clusters[u], clusters[v])
        assert abs(float(exact) - link) < tolerance, (u, v, exact, link)
        best = max(
            cluster_link(similarity, rule, clusters[a], clusters[b])
            for a, b in itertools.combinations(clusters, 2)
        )
        assert float(best - exact) < tolerance, (u, v, exact, best)
        clusters[u] += clusters.pop(v)
    assert len(clusters) == 1


def cut(merges, n_objects, n_clusters):
    """Labels after the first n - k merges, largest cluster first."""
    name = list(range(n_objects))
    for u, v, _ in merges[: n_objects - n_clusters]:
        low, high = name[u], name[v]
        name = [low if x == high else x for x in name]
    return order_by_size(name)


def lifetimes(merges):
    """How long k = 2 .. n - 1 clusters last: h_(n-k+1) - h_(n-k), heights sorted."""
    n = len(merges) + 1
    h = [None, *sorted(1 - link for _, _, link in merges)]  # h[1] is the lowest
    return [h[n - k + 1] - h[n - k] for k in range(2, n)]


def longest_lived(merges):
    """The k of the largest lifetime, the smallest among equal ones."""
    values = lifetimes(merges)
    return 2 + values.index(max(values))


def spanning_tree(distance):
    """Edges (weight, i, j), i < j, by Kruskal in the order of (weight, i, j)."""
    n = len(distance)
    component = list(range(n))
    tree = []
    for weight, i, j in sorted(
        (distance[i][j], i, j) for i, j in itertools.combinations(range(n), 2)
    ):
        if component[i] != component[j]:
            tree.append((weight, i, j))
            gone = component[j]
            component = [component[i] if c == gone else c for c in component]
    return tree


# --- support of a consensus ---


def share_with(row, labels, members):
    """Of the votes cast between one row and the members, the share for together."""
    rows = [row, *(labels[j] for j in members)]
    counts = [votes(rows, 0, j) for j in range(1, len(rows))]
    return share(sum(t for t, _ in counts), sum(o for _, o in counts))


def confidence(labels, consensus):
    """Own support as a share of own and best other; alone: 1 - the best other.

    Support is the share of votes for together with a cluster's members. With one cluster only:
    own support. 0 for an object that no partition saw, or that nothing supports.
    """
    n = len(labels)
    clusters = {c: [i for i in range(n) if consensus[i] == c] for c in set(consensus)}
    found = []
    for i in range(n):
        rest = [j for j in clusters[consensus[i]] if j != i]
        others = [members for c, members in clusters.items() if c != consensus[i]]
        best = max((share_with(labels[i], labels, m) for m in others), default=Fraction(0))
        if all(value == -1 for value in labels[i]):
            found.append(Fraction(0))
        elif not rest:
            found.append(1 - best)
        else:
            own = share_with(labels[i], labels, rest)
            if others:
                own = own / (own + best) if own + best else Fraction(0)
            found.append(own)
    return found


def predict(labels, consensus, row):
    """The cluster with the largest share of votes; ties: the first, which is the largest."""
    clusters = range(max(consensus) + 1)
    shares = [
        share_with(row, labels, [i for i in range(len(labels)) if consensus[i] == c])
        for c in clusters
    ]
    return shares.index(max(shares))


def same_partition(first, second):
    first, second = np.asarray(first), np.asarray(second)
    return np.array_equal(np.equal.outer(first, first), np.equal.outer(second, second))


# --- HNE ---


def threshold_edges(labels, theta):
    """Pairs i < j with together / observed > theta, from one division."""
    n = len(labels)
    edges = set()
    for i, j in itertools.combinations(range(n), 2):
        together, observed = votes(labels, i, j)
        if observed and together / observed > theta:
            edges.add((i, j))
    return edges


@functools.cache
def normalized_edges(n_edges, a, b, theta):
    """(3), with 50 digits."""
    with decimal.localcontext(prec=50):
        theta = decimal.Decimal(theta)
        power = 1 + (1 - theta) / (1 + theta)
        a, b = decimal.Decimal(a), decimal.Decimal(b)
        return n_edges / ((a + b) ** power - a**power - b**power)


def hne_merges(labels, theta):
    """All merges (u, v, edges, normalized edges) until no edge is left.

    The largest normalized edges first; what differs by a share below 1e-12 is equal, and the
    smallest (u, v) is taken, a cluster being known by its smallest object.
    """
    edges = threshold_edges(labels, theta)
    clusters = {i: [i] for i in range(len(labels))}
    merges = []
    while True:
        best = None
        for u, v in itertools.combinations(sorted(clusters), 2):
            between = sum((min(i, j), max(i, j)) in edges for i in clusters[u] for j in clusters[v])
            if between:
                link = normalized_edges(between, len(clusters[u]), len(clusters[v]), theta)
                if best is None or link > best[3] * (1 + decimal.Decimal("1e-12")):
                    best = (u, v, between, link)
        if best is None:
            return merges
        merges.append(best)
        clusters[best[0]] += clusters.pop(best[1])


# --- MSTEClust ---


def separation(labels, i, j, groups, validity, rule):
    """(H(i, j), the chosen group's place among the sorted names, its margin), exact.

    Rule 'margin' or 'printed' chooses one group; (1, None, None) where no run saw both.
    """
    chosen = None
    for place, name in enumerate(sorted(set(groups))):
        runs = [e for e, group in enumerate(groups) if group == name]
        quality = Fraction(sum(Fraction(validity[e]) for e in runs), len(runs))
        runs = [e for e in runs if labels[i][e] != -1 and labels[j][e] != -1]
        if not runs:
            continue
        apart = [e for e in runs if labels[i][e] != labels[j][e]]
        P = Fraction(len(apart), len(runs))
        p = max(P, 1 - P)
        value = quality * (2 * p - 1) if rule == "margin" else quality * p
        if chosen is None or value > chosen[0]:
            H = sum((Fraction(validity[e]) for e in apart), Fraction(0)) / len(runs)
            chosen = value, H, place, quality * (2 * p - 1)
    return chosen[1:] if chosen else (Fraction(1), None, None)


def variance_weights(labels, i, j, groups):
    """PWEC: {group: (alpha, P)} over the groups with a run that saw both; alphas sum to 1."""
    shares = {}
    for name in sorted(set(groups)):
        row = [labels[i][e] for e, group in enumerate(groups) if group == name]
        other = [labels[j][e] for e, group in enumerate(groups) if group == name]
        both = [(a, b) for a, b in zip(row, other, strict=True) if a != -1 and b != -1]
        if both:
            shares[name] = Fraction(sum(a != b for a, b in both), len(both)), len(both)
    sure = {name: n_runs for name, (P, n_runs) in shares.items() if P in (0, 1)}
    raw = sure or {name: n_runs / (P * (1 - P)) for name, (P, n_runs) in shares.items()}
    return {
        name: (Fraction(weight) / sum(raw.values()), shares[name][0])
        for name, weight in raw.items()
    }


def variance_separation(labels, i, j, groups):
    weights = variance_weights(labels, i, j, groups)
    return sum(alpha * P for alpha, P in weights.values()) if weights else Fraction(1)


def fixed_separation(labels, i, j, weights):
    both = [e for e in range(len(weights)) if labels[i][e] != -1 and labels[j][e] != -1]
    total = sum(Fraction(weights[e]) for e in both)
    apart = sum(Fraction(weights[e]) for e in both if labels[i][e] != labels[j][e])
    return apart / total if total else Fraction(1)


def pair_matrix(n, value):
    """(n, n) of value(i, j), rounded to 12 decimals; the diagonal is not used."""
    return [[round(float(value(i, j)), 12) if i != j else 0.0 for j in range(n)] for i in range(n)]


def tree_cut(tree, n_clusters):
    """Labels after removing the last k - 1 edges (weight, i, j)."""
    kept = tree[: len(tree) + 1 - n_clusters]
    return cut([(i, j, None) for _, i, j in kept], len(tree) + 1, n_clusters)


def tree_criterion(tree, n_clusters):
    """The logarithm of (9), computed anew for this number of clusters."""
    labels = tree_cut(tree, n_clusters)
    kept = tree[: len(tree) + 1 - n_clusters]
    total = sum(weight for weight, _, _ in tree)
    value = math.log(n_clusters)
    for c in set(labels):
        inside = sum(weight for weight, i, _ in kept if labels[i] == c)
        if total > 0:
            value += inside / total * math.log(labels.count(c))
    return value


# --- mixture ---


def mixture_step(labels, resp):
    """(weights, shares, responsibilities, log-likelihood) after one step of EM from `resp`.

    `shares[c][e]` is a dict from label to probability. Missing labels are left out.
    """
    n, n_partitions = labels.shape
    k = resp.shape[1]
    weights = [sum(resp[i, c] for i in range(n)) / n for c in range(k)]
    shares = []
    for c in range(k):
        tables = []
        for e in range(n_partitions):
            names = sorted(set(labels[:, e].tolist()) - {-1})
            seen = [i for i in range(n) if labels[i, e] != -1]
            total = sum(resp[i, c] for i in seen)
            tables.append(
                {
                    name: sum(resp[i, c] for i in seen if labels[i, e] == name) / total
                    if total > 0
                    else 1 / len(names)
                    for name in names
                }
            )
        shares.append(tables)
    joint = np.array(
        [
            [
                weights[c]
                * math.prod(
                    shares[c][e][labels[i, e]] for e in range(n_partitions) if labels[i, e] != -1
                )
                for c in range(k)
            ]
            for i in range(n)
        ]
    )
    total = joint.sum(axis=1)
    return weights, shares, joint / total[:, None], float(np.log(total).sum())


# --- PEACE ---


def pair_counts(labels):
    """(c, N): partitions that put two objects together, that saw both; 0 on the diagonal."""
    labels = np.asarray(labels)
    n = len(labels)
    together, both = np.zeros((n, n)), np.zeros((n, n))
    for i, j in itertools.permutations(range(n), 2):
        for a, b in zip(labels[i], labels[j], strict=True):
            if a != -1 and b != -1:
                both[i, j] += 1
                together[i, j] += a == b
    return together, both


def peace_likelihood(c, N, Y):
    """(2) over i < j; Y is (K, n) as in the paper."""
    value = 0.0
    for i, j in itertools.combinations(range(len(c)), 2):
        a = min(float(Y[:, i] @ Y[:, j]), 1.0)
        if c[i, j]:
            value += c[i, j] * (math.log(a) if a > 0 else -math.inf)
        if N[i, j] > c[i, j]:
            value += (N[i, j] - c[i, j]) * (math.log(1 - a) if a < 1 else -math.inf)
    return value


def peace_gradient(c, N, Y):
    n = Y.shape[1]
    g = np.zeros_like(Y)
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            a = Y[:, i] @ Y[:, j]
            if c[i, j]:
                g[:, i] += c[i, j] * Y[:, j] / a
            if N[i, j] > c[i, j]:
                g[:, i] -= (N[i, j] - c[i, j]) * Y[:, j] / (1 - a)
    return g


def peace_direction(g, Y):
    """Proposition 1: (gap, J, U, V)."""
    lowest = np.where(Y > 0, g, np.inf)
    gaps = g.max(axis=0) - lowest.min(axis=0)
    J = int(np.argmax(gaps))
    return float(gaps[J]), J, int(np.argmax(g[:, J])), int(np.argmin(lowest[:, J]))


def peace_rho(c, N, Y, J, U, V, step):
    """Derivative along moving mass from V to U in column J, after `step`."""
    others = np.arange(Y.shape[1]) != J
    d = Y[U, others] - Y[V, others]
    a = Y[:, J] @ Y[:, others] + step * d
    c, rest = c[J, others], N[J, others] - c[J, others]
    if (a[c > 0] <= 0).any() or (a[rest > 0] >= 1).any():
        return -math.inf
    return float(
        np.sum(c[c > 0] * d[c > 0] / a[c > 0])
        - np.sum(rest[rest > 0] * d[rest > 0] / (1 - a[rest > 0]))
    )


def peace_step(c, N, Y, J, U, V):
    """Section 3.2, by bisection to the last representable interval."""
    low, high = 0.0, float(Y[V, J])
    if peace_rho(c, N, Y, J, U, V, high) >= 0:
        return high
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return low
        slope = peace_rho(c, N, Y, J, U, V, middle)
        if slope < 0:
            high = middle
        else:
            low = middle
            if slope == 0:
                return low


def peace(c, N, Y, tol, max_iter):
    """Algorithm 1, everything made afresh in each iteration: (Y, path of (J, U, V, step))."""
    Y = np.array(Y, dtype=float)
    below = tol * N.sum(axis=1).mean()
    rest = N - c
    path = []
    while len(path) < max_iter:
        A = Y.T @ Y
        slopes = np.divide(c, A, out=np.zeros_like(A), where=c > 0)
        slopes -= np.divide(rest, 1 - A, out=np.zeros_like(A), where=rest > 0)
        gap, J, U, V = peace_direction(Y @ slopes, Y)
        if gap < below:
            break
        step = peace_step(c, N, Y, J, U, V)
        whole = step == Y[V, J]
        Y[U, J] += step
        Y[V, J] = 0.0 if whole else Y[V, J] - step
        path.append((J, U, V, step))
    return Y, path


def peace_em(c, N, Y):
    """The exact EM step of all columns at once."""
    n = Y.shape[1]
    g = peace_gradient(c, N, Y)
    new = Y.copy()
    for i in range(n):
        b = sum(
            (N[i, j] - c[i, j]) / (1 - Y[:, i] @ Y[:, j]) for j in range(n) if N[i, j] > c[i, j]
        )
        new[:, i] = Y[:, i] * (g[:, i] + b) / N[i].sum()
    return new


def baum_eagon_error(S, seen, Y):
    return float(((S - Y.T @ Y)[seen] ** 2).sum())


def baum_eagon(S, seen, Y):
    """One growth transform; `seen` says which pairs have a term."""
    force = Y @ np.where(seen, S - Y.T @ Y, 0.0)
    grown = Y * (seen.sum(axis=1) + force)
    return grown / grown.sum(axis=0)


# --- LAC and the weighted ensembles ---


def lac_distances(X, centres, weights):
    """d_il of section 4.1, one by one."""
    return [
        [
            math.sqrt(math.fsum(w * (x - c) ** 2 for w, x, c in zip(ws, row, cs, strict=True)))
            for cs, ws in zip(centres, weights, strict=True)
        ]
        for row in X
    ]


def lac_assign(X, centres, weights):
    return [row.index(min(row)) for row in lac_distances(X, centres, weights)]


def lac_iteration(X, centres, weights, h):
    """One iteration as it is read: assign, weights (4), assign, centres (5)."""
    k, n_features = len(centres), len(centres[0])
    labels = lac_assign(X, centres, weights)
    new_weights = [list(row) for row in weights]
    for j in range(k):
        members = [row for row, label in zip(X, labels, strict=True) if label == j]
        if members:
            dispersion = [
                math.fsum((centres[j][s] - x[s]) ** 2 for x in members) / len(members)
                for s in range(n_features)
            ]
            shares = [decimal.Decimal(-v / h).exp() for v in dispersion]
            new_weights[j] = [float(share / sum(shares)) for share in shares]
    labels = lac_assign(X, centres, new_weights)
    new_centres = [list(row) for row in centres]
    for j in range(k):
        members = [row for row, label in zip(X, labels, strict=True) if label == j]
        if members:
            new_centres[j] = [
                math.fsum(x[s] for x in members) / len(members) for s in range(n_features)
            ]
    return new_centres, new_weights


def lac(X, start, h, n_iter):
    """Centres, weights and labels after some iterations."""
    n_features = len(start[0])
    centres = [list(row) for row in start]
    weights = [[1 / n_features] * n_features for _ in start]
    for _ in range(n_iter):
        centres, weights = lac_iteration(X, centres, weights, h)
    return np.array(centres), np.array(weights), lac_assign(X, centres, weights)


def farthest_first(X, first, k):
    """Objects far apart, by number."""
    chosen = [first]
    while len(chosen) < k:
        gaps = [min(math.dist(row, X[c]) for c in chosen) for row in X]
        chosen.append(gaps.index(max(gaps)))
    return chosen


def lac_posteriors(X, centres, weights):
    """Formula (6) as printed."""
    k = len(centres)
    found = []
    for row in lac_distances(X, centres, weights):
        top = max(row)
        found.append([(top - d + 1) / (k * top + k - sum(row)) for d in row])
    return np.array(found)


def cosine_similarity(P):
    """Formula (8); 0 where an object has no opinion to compare."""
    n = len(P)
    S = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            norms = math.sqrt(sum(P[i] ** 2)) * math.sqrt(sum(P[j] ** 2))
            S[i, j] = 0.0 if norms == 0 else sum(P[i] * P[j]) / norms
    return S


def kl_similarity(P):
    """Formula (9) in base 2, over its largest value; 0 where an object has no opinion."""
    n = len(P)
    seen = [bool(row.sum() > 0) for row in P]
    P = [row / (row.sum() or 1) for row in P]
    d = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if seen[i] and seen[j]:
                d[i, j] = sum(
                    0.5 * p * math.log2(p / q) + 0.5 * q * math.log2(q / p)
                    for p, q in zip(P[i], P[j], strict=True)
                )
    S = np.ones((n, n)) if d.max() == 0 else 1 - d / d.max()
    return S * np.outer(seen, seen)


def weighted_similarity(posteriors, similarity):
    """Formula (10): Psi."""
    return sum(similarity(P) for P in posteriors) / len(posteriors)


def weighted_bipartite(posteriors):
    """Formula (11) and the matrix E below it; clusters come first."""
    A = np.hstack(posteriors)
    n, K = A.shape
    E = np.zeros((K + n, K + n))
    E[K:, :K], E[:K, K:] = A, A.T
    return A, E


def mean_weights(subspaces, parts, k):
    """Formula (12): the mean weight vector of the clusters in each part."""
    vectors = [row for _, weights in subspaces for row in weights]
    n_features = len(vectors[0])
    found = np.full((k, n_features), 1 / n_features)
    for part in range(k):
        own = [v for v, p in zip(vectors, parts, strict=True) if p == part]
        if own:
            found[part] = sum(own) / len(own)
    return found


# --- graphs: CSPA, HGPA, MCLA, HBGF, k-means on co-association -----------------------------------


def incidence(labels):
    """Z, (n, K): clusters by partition, in the order of their sorted names."""
    columns = []
    for column in np.asarray(labels).T:
        columns += [column == name for name in np.unique(column[column != -1])]
    return np.array(columns, dtype=float).T


def bipartite_graph(A):
    """The adjacency of rows and columns, rows first."""
    n, r = A.shape
    return np.block([[np.zeros((n, n)), A], [A.T, np.zeros((r, r))]])


def leading_eigenvectors(matrix, trivial, k):
    """(n, k) eigenvectors of the largest eigenvalues, those up to 1e-10 left out.

    `trivial`, if given, is the first eigenvector, which is skipped. None where the last eigenvalue
    equals the next one, so that the vectors are not determined.
    """
    if trivial is not None:
        trivial = trivial / max(np.linalg.norm(trivial), 1e-300)
        matrix = matrix - np.outer(trivial, trivial)
    values, vectors = np.linalg.eigh(matrix)
    values, vectors = values[::-1], vectors[:, ::-1]
    if k < len(values) and values[k] > 1e-10 and values[k - 1] - values[k] < 1e-6:
        return None
    return vectors[:, :k][:, values[:k] > 1e-10]


def rows_of_length_one(rows):
    """Rows scaled to length 1; 0 where there is nothing but rounding."""
    lengths = np.linalg.norm(rows, axis=1)
    return np.array(
        [row / d if d > 1e-7 else 0 * row for row, d in zip(rows, lengths, strict=True)]
    )


def spectral_rows(similarity, k, *, skip_first=False):
    """The rows that Ng, Jordan and Weiss cluster; None if they are not determined."""
    degrees = similarity.sum(axis=1)
    scale = np.array([1 / math.sqrt(d) if d > 0 else 0.0 for d in degrees])
    trivial = np.sqrt(degrees) if skip_first else None
    found = leading_eigenvectors(np.diag(scale) @ similarity @ np.diag(scale), trivial, k)
    return None if found is None else rows_of_length_one(found)


def transfer_rows(B, k, *, skip_first=False):
    """Objects, then columns, as the transfer cut places them; None if they are not determined."""
    D = np.diag([1 / d if d > 0 else 0.0 for d in B.sum(axis=1)])
    W = B.T @ D @ B
    degrees = W.sum(axis=1)
    scale = np.diag([1 / math.sqrt(d) if d > 0 else 0.0 for d in degrees])
    trivial = np.sqrt(degrees) if skip_first else None
    V = leading_eigenvectors(scale @ W @ scale, trivial, k)
    if V is None:
        return None
    return rows_of_length_one(np.concatenate([D @ B @ scale @ V, scale @ V]))


def jaccard(labels):
    """(K, K) Jaccard indices of clusters as sets of objects."""
    sets = [set(np.flatnonzero(column)) for column in incidence(labels).T]
    return np.array([[len(a & b) / len(a | b) for b in sets] for a in sets])


def meta_vote(labels, parts):
    """MCLA's last step: the part of whose clusters an object is in the largest share."""
    Z = incidence(labels)
    chosen = []
    for row in Z:
        shares = [
            Fraction(int(row[parts == m].sum()), int((parts == m).sum()))
            for m in range(max(parts) + 1)
        ]
        chosen.append(shares.index(max(shares)))
    return chosen


def cut_of(weights, labels):
    """The weight of the edges between parts, each once."""
    return sum(
        weights[i, j]
        for i, j in itertools.combinations(range(len(labels)), 2)
        if labels[i] != labels[j]
    )


# --- orders ---------------------------------------------------------------------------------------


def vat_order(D):
    """VAT from a matrix of dissimilarities: objects as Prim's algorithm meets them."""
    n = len(D)
    order = [int(np.argmax(D.max(axis=1)))]
    while len(order) < n:
        rest = [j for j in range(n) if j not in order]
        distance = [min(D[i, j] for i in order) for j in rest]
        order.append(rest[int(np.argmin(distance))])
    return np.array(order)


# --- choosing ---


def share_histogram(labels, n_bins):
    """Pairs whose co-association is 0, in (0, 1/n_bins), 1/n_bins, in (1/n_bins, 2/n_bins), ..."""
    limits = [Fraction(b, n_bins) for b in range(n_bins + 1)]
    counts = [0] * (2 * n_bins + 1)
    for i in range(len(labels)):
        for j in range(i + 1, len(labels)):
            together, seen = votes(labels, i, j)
            if seen:
                share = Fraction(together, seen)
                below = sum(limit < share for limit in limits)
                counts[2 * below if share in limits else 2 * below - 1] += 1
    return counts


def peak_prominences(distances, core, least):
    """Rise of the joining distance between two peaks and their saddle, by components of graphs."""
    n = len(distances)
    reach = [
        [max(distances[i][j], core[i], core[j]) if i != j else 0 for j in range(n)]
        for i in range(n)
    ]
    levels = sorted({reach[i][j] for i in range(n) for j in range(i)})
    parts = [{i} for i in range(n)]
    found = []
    for level in levels:
        for i in range(n):
            for j in range(i):
                if reach[i][j] == level:
                    a = next(p for p in parts if i in p)
                    b = next(p for p in parts if j in p)
                    if a is b:
                        continue
                    if min(len(a), len(b)) >= least:
                        peaks = [min(core[m] for m in part) for part in (a, b)]
                        found.append(level - max(peaks))
                    parts = [p for p in parts if p is not a and p is not b] + [a | b]
    return sorted(found)


def joint_criterion(similarity, quality, size, alpha):
    """Fern and Lin's greedy choice, the whole objective computed anew for each candidate."""

    def objective(chosen):
        diversity = [1 - similarity[i][j] for i in chosen for j in chosen if i < j]
        mean = sum(diversity) / len(diversity) if diversity else 0
        return alpha * sum(quality[i] for i in chosen) / len(chosen) + (1 - alpha) * mean

    chosen = [max(range(len(quality)), key=lambda i: (quality[i], -i))]
    while len(chosen) < size:
        free = [i for i in range(len(quality)) if i not in chosen]
        chosen.append(max(free, key=lambda i: (round(objective([*chosen, i]), 12), -i)))
    return chosen
