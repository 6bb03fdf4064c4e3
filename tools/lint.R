# lintr over every R file of ours; .lintr holds the rules. Ends with status 1 on any lint.
folders <- c("R", "tests", "tools")
files <- list.files(folders, pattern = "\\.[Rr]$", recursive = TRUE, full.names = TRUE)
files <- setdiff(files, "R/extendr-wrappers.R")
lints <- lapply(files, lintr::lint)
for (found in lints) {
  if (length(found) > 0) print(found)
}
quit(save = "no", status = as.integer(sum(lengths(lints)) > 0))
