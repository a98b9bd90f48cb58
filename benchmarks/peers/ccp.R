# ConsensusClusterPlus on all data sets: Rscript ccp.R DIRECTORY
# Reads case-*.csv (features; the first line is the number of clusters), writes found-*.csv.
suppressMessages(library(ConsensusClusterPlus))
directory <- commandArgs(trailingOnly = TRUE)[1]
for (path in list.files(directory, "^case-.*[.]csv$", full.names = TRUE)) {
  k <- as.integer(readLines(path, 1))
  x <- t(as.matrix(read.csv(path, skip = 1, header = FALSE)))
  colnames(x) <- seq_len(ncol(x))
  file <- tempfile()
  pdf(file)
  seconds <- system.time(
    found <- suppressMessages(ConsensusClusterPlus(
      x, maxK = max(k, 3), reps = 100, pItem = 0.8, pFeature = 1, clusterAlg = "km",
      distance = "euclidean", innerLinkage = "average", finalLinkage = "average", seed = 1,
      plot = NULL))
  )["elapsed"]
  dev.off()
  out <- sub("case-", "found-", path)
  writeLines(c(as.character(seconds), as.character(found[[k]]$consensusClass)), out)
}
