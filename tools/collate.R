# Writes the field Collate of DESCRIPTION: the files of R/ layer by layer, see tests/packaging/test-layers.R. Within a
# layer they are in the order of their names, but for those that other files of the layer use as they are loaded.
#
#   Rscript tools/collate.R
layers <- c(
  "base", "host", "shard", "trace", "ad", "batch", "prim", "jit", "linalg", "sparse", "special", "dist", "random",
  "solve", "overload", "fit", "sample", "op", "interop"
)
files <- list.files("R", "[.]R$")
layer <- sub("-.*", "", files)
first <- c("xlaffi-package.R", "extendr-wrappers.R")
last <- c("overload-methods.R", "zzz.R")
early <- c(
  "base-classes.R", "base-hooks.R", "base-session.R", "trace-primitive.R", "trace-supported.R", "prim-batching.R",
  "prim-shape.R", "prim-elementwise.R", "prim-collective.R", "special-functions.R", "dist-common.R",
  "overload-types.R", "overload-reads-environments.R"
)
rank <- match(layer, layers, nomatch = 0L)
ordered <- files[order(rank, !files %in% early, files %in% last, files, method = "radix")]
ordered <- c(first, setdiff(ordered, c(first, "zzz.R")), "zzz.R")
lines <- readLines("DESCRIPTION")
at <- grep("^Collate:", lines)
if (length(at)) {
  end <- at
  while (end < length(lines) && grepl("^ ", lines[[end + 1L]])) end <- end + 1L
  lines <- lines[-(at:end)]
}
at <- grep("^Config/rextendr", lines)
field <- c("Collate:", sprintf("    '%s'", ordered))
writeLines(append(lines, field, at - 1L), "DESCRIPTION")
