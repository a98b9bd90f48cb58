# Consensus matrices by ConsensusClusterPlus: Rscript peer.R DATA N_FEATURES N_OBJECTS MAX_K REPS ALGORITHM DISTANCE SEED OUT
suppressMessages(library(ConsensusClusterPlus))
given <- commandArgs(trailingOnly = TRUE)
n_features <- as.integer(given[2]); n_objects <- as.integer(given[3]); max_k <- as.integer(given[4])
d <- matrix(readBin(given[1], "double", n_features * n_objects), n_features, n_objects)
colnames(d) <- paste0("s", seq_len(n_objects))
pdf(NULL) # it draws heat maps in any case
before <- proc.time()
found <- suppressMessages(ConsensusClusterPlus(
  d, maxK = max_k, reps = as.integer(given[5]), pItem = 0.8, pFeature = 1, clusterAlg = given[6],
  distance = given[7], seed = as.integer(given[8]), title = "none"))
took <- proc.time() - before
out <- file(given[9], "wb")
writeBin(c(took[["user.self"]] + took[["sys.self"]], took[["elapsed"]]), out)
for (k in 2:max_k) {
  writeBin(as.vector(found[[k]]$consensusMatrix), out)
  writeBin(as.double(found[[k]]$consensusClass - 1), out)
}
close(out)
