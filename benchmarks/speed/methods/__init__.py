"""One file per way to do the work; a function per case, `(labels, n_clusters) -> result`.

A file may have `prepare(labels)`, whose result is passed in place of the labels and is not
timed: for packages that want the labels in an object of their own. Nothing here takes times,
repeats or checks anything. A file imports at its top what it measures, and the runner never
imports these files: they may belong to another interpreter.
"""
