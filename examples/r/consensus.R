# The consensus of clusterings made in R, through reticulate.
#
#   install.packages("reticulate")            # or Debian's r-cran-reticulate
#   reticulate::py_install("coterie")         # or RETICULATE_PYTHON=/path/to/python
#   Rscript consensus.R

library(reticulate)
coterie <- import("coterie", convert = FALSE)

# Clusterings of the same flowers, as a named list of label vectors. NA: no opinion.
set.seed(1)
flowers <- iris[, 1:4]
runs <- list()
for (k in 3:8) runs[[paste0("kmeans_", k)]] <- kmeans(flowers, k)$cluster
runs$average <- cutree(hclust(dist(flowers), "average"), 4)
runs$average[c(1, 75, 150)] <- NA
runs$petals <- ifelse(flowers$Petal.Length < 2.5, "short", "long")

model <- coterie$LWEA(n_clusters = 3L)$fit(runs)

# Arrays come back as lists, which every version of reticulate and NumPy understands.
iris$cluster <- py_to_r(model$labels_$tolist())
iris$confidence <- py_to_r(model$confidence_$tolist())

print(model$ensemble_)
print(table(cluster = iris$cluster, species = iris$Species))
doubtful <- iris[order(iris$confidence), c("Species", "cluster", "confidence")]
print(head(doubtful, 5))
