# lintr over every R file of ours; .lintr holds the rules. And no two files of the package define one name: the later
# one would take the place of the other without a word. Ends with status 1 on any lint.
folders <- c("R", "tests", "tools")
files <- list.files(folders, pattern = "\\.[Rr]$", recursive = TRUE, full.names = TRUE)
files <- setdiff(files, "R/extendr-wrappers.R")
lints <- lapply(files, lintr::lint)
for (found in lints) {
  if (length(found) > 0) print(found)
}
defined <- unlist(lapply(list.files("R", pattern = "\\.R$", full.names = TRUE), function(file) {
  is_definition <- function(line) is.call(line) && identical(line[[1L]], quote(`<-`)) && is.name(line[[2L]])
  vapply(Filter(is_definition, as.list(parse(file))), function(line) as.character(line[[2L]]), "")
}))
twice <- unique(defined[duplicated(defined)])
if (length(twice) > 0) cat("Defined more than once in R/:", toString(twice), "\n")
quit(save = "no", status = as.integer(sum(lengths(lints)) > 0 || length(twice) > 0))
