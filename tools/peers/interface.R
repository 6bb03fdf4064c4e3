# The interface of an installed pjrt as a table: its exports and S3 methods, with their arguments.
#
#   Rscript tools/peers/interface.R tests/testthat/data/pjrt-0.5.csv
args <- commandArgs(trailingOnly = TRUE)
namespace <- asNamespace("pjrt")
arguments <- function(f) {
  formals <- as.list(formals(f))
  text <- vapply(formals, function(default) paste(deparse(default, width.cutoff = 500), collapse = " "), "")
  paste0(names(formals), ifelse(nzchar(text), " = ", ""), text, collapse = ", ")
}
exports <- sort(getNamespaceExports("pjrt"), method = "radix")
methods <- namespace[[".__NAMESPACE__."]][["S3methods"]]
names <- sort(paste(methods[, 1], methods[, 2], sep = "."), method = "radix")
rows <- data.frame(
  name = c(exports, names), kind = rep(c("export", "method"), c(length(exports), length(names))),
  arguments = vapply(c(exports, names), function(name) arguments(get(name, namespace)), "")
)
write.csv(rows, args[[1]], row.names = FALSE)
