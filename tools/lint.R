# lintr over every R file of ours; .lintr holds the rules. Ends with status 1 on any lint. That no two files of the
# package define one name is a test: tests/packaging/test-layers.R.
folders <- c("R", "tests", "tools")
files <- list.files(folders, pattern = "\\.[Rr]$", recursive = TRUE, full.names = TRUE)
files <- setdiff(files, "R/extendr-wrappers.R")
lints <- lapply(files, lintr::lint)
for (found in lints) {
  if (length(found) > 0) print(found)
}

# What lintr's object_usage_linter looks for, names that nothing defines and local variables that nothing uses, but in
# the tree as it is: the linter asks an installed package. Functions see base R and what NAMESPACE imports.
imports <- new.env(parent = baseenv())
for (from in parseNamespaceFile(basename(getwd()), dirname(getwd()))$imports) {
  if (is.list(from)) list2env(mget(from[[2L]], asNamespace(from[[1L]]), inherits = TRUE), imports)
}
code <- new.env(parent = imports)
code$.packageName <- ".GlobalEnv"
for (file in scan(text = read.dcf("DESCRIPTION", "Collate"), what = "", quiet = TRUE)) {
  sys.source(file.path("R", file), code, keep.source = TRUE, toplevel.env = code)
}
# The glue's routines, and what R gives methods of groups
known <- c(".Generic", unique(grep("^wrap__", all.names(parse("R/extendr-wrappers.R")), value = TRUE)))
invisible(list2env(stats::setNames(vector("list", length(known)), known), imports))
# Templates of cli name variables in strings, and a compiled function is asked for the variable `uses` of its frame.
meant <- "[(]R/interop-sitrep-report[.]R:|^own_function: local variable .uses."
unused <- character()
codetools::checkUsageEnv(code, report = function(text) if (!grepl(meant, text)) unused <<- c(unused, text))
cat(unused, sep = "")
quit(save = "no", status = as.integer(sum(lengths(lints)) > 0 || length(unused) > 0))
