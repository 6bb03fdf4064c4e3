# The interface of an installed package as a table, with the arguments of its functions.
#
#   Rscript tools/peers/interface.R pjrt tests/testthat/data/pjrt-0.5.csv
#   Rscript tools/peers/interface.R anvl tests/testthat/data/anvl-0.2.csv
#
# Of pjrt all exports and S3 methods; of anvl, and of stablehlo on which it is built, the exports that this package
# calls.
args <- commandArgs(trailingOnly = TRUE)
source(file.path("tests", "testthat", "helper-anvl.R"))
if (args[[1]] == "pjrt") {
  namespace <- asNamespace("pjrt")
  exports <- sort(getNamespaceExports("pjrt"), method = "radix")
  methods <- namespace[[".__NAMESPACE__."]][["S3methods"]]
  names <- sort(paste(methods[, 1], methods[, 2], sep = "."), method = "radix")
  rows <- data.frame(
    name = c(exports, names), kind = rep(c("export", "method"), c(length(exports), length(names))),
    arguments = vapply(c(exports, names), function(name) arguments_text(get(name, namespace)), "")
  )
} else {
  called <- strsplit(called_of_anvl(), "::", fixed = TRUE)
  rows <- do.call(rbind, lapply(called, function(call) {
    f <- getExportedValue(call[[1]], call[[2]])
    data.frame(package = call[[1]], name = call[[2]], arguments = arguments_text(f))
  }))
}
write.csv(rows, args[[2]], row.names = FALSE)
