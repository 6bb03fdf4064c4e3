library(testthat)
library(xlaffi)

# CRAN wants a whole check in ten minutes, and most tests wait for XLA's compiler. There these files run, one or more of
# each layer of R/, a minute and a half in all; where NOT_CRAN is "true", all of them.
quick <- c(
  "arguments", "condition", "generics", "names", "buffer-read", "buffer-print", "compatibility", "targets", "program",
  "mesh", "hlo-literal", "hlo-token", "written-errors", "stop-gradient", "jacobian", "rules-kepler", "primitives",
  "hlo-bits", "hlo-while", "hlo-gather", "jit", "linalg", "linalg-chol", "lu", "sparse-derivatives", "kepler",
  "dist-simplex", "hlo-random-vectors", "refine", "words-logic", "words-match", "words-groups", "words-triangular",
  "xla-objective", "fit", "sample-tree", "own-signature", "ffi-type", "xla-graph", "safetensors"
)
everything <- identical(Sys.getenv("NOT_CRAN"), "true")
test_check("xlaffi", filter = if (!everything) sprintf("^(%s)$", paste(quick, collapse = "|")))
