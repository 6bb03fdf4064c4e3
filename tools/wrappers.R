# Rscript tools/wrappers.R [write|check]: R/extendr-wrappers.R, as the installed package's
# Rust code describes its own functions.
file <- "R/extendr-wrappers.R"
made <- getNamespace("xlaffi") |>
  environmentName() |>
  (\(package) .Call("wrap__make_xlaffi_wrappers", TRUE, package, PACKAGE = package))()
made <- strsplit(made, "\n", fixed = TRUE)[[1]]

if (identical(commandArgs(trailingOnly = TRUE), "check")) {
  quit(save = "no", status = as.integer(!identical(made, readLines(file))))
}
writeLines(made, file)
