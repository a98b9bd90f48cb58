"""Coterie beside other packages: features in or labels in, quality and time."""
