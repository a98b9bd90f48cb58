# The consensus of clusterings made in R, through CSV files and the command line.
#
#   pipx install coterie
#   Rscript command_line.R

coterie <- function(...) {
  status <- system2(Sys.getenv("COTERIE", "coterie"), c(...))
  if (status != 0) stop("coterie failed: see its message above")
}

set.seed(1)
runs <- data.frame(row.names = paste0("iris-", 1:150))
for (k in 3:8) runs[[paste0("kmeans_", k)]] <- kmeans(iris[, 1:4], k)$cluster
runs$average <- cutree(hclust(dist(iris[, 1:4]), "average"), 4)
runs$average[c(1, 75, 150)] <- NA

folder <- tempfile("coterie")
dir.create(folder)
labels <- file.path(folder, "labels.csv")
result <- file.path(folder, "consensus.csv")

# Every column is a clustering. Row names are taken for the names of the objects.
write.csv(runs, labels)
coterie("consense", labels, "--clusters", "3", "--output", result, "--quiet")
found <- read.csv(result)

print(table(cluster = found$cluster, species = iris$Species))
print(head(found[order(found$confidence), ], 5))
