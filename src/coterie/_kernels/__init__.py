"""Compiled code only: arrays in, arrays out.

Nothing here knows estimators, options or errors. Importing a module of this
package imports numba, which takes a while, so callers import it when they
first need it.
"""
