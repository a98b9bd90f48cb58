"""What pictures need, computed: shared by plots, the report page and notebooks.

No module here knows matplotlib or HTML.

_order       order of objects in a row, and the tree of a fitted method
_blocks      co-association matrix as means of blocks
_projection  two coordinates per object
_trees       trees reduced to what can be drawn
_cuts        consensus labels at other numbers of clusters
_curves      criteria over the number of clusters, calibration, progress of a fit
_feature_map features x objects, the features that make the clusters
_clusters    confidence, memberships, features and diversity in numbers
_profiles    mean features of the clusters
_palette     colours and marks
_png         PNG files without a plotting library
_fitted      the fitted consensus of a model
"""
