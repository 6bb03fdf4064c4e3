# The examples of all help pages and the code of all vignettes of the sources in the folder `xlaffi`, each in a process
# of its own: names those that fail. See tools/places/cran.sh.

# As R CMD check has it: then nothing is kept in the user's cache.
Sys.setenv(`_R_CHECK_PACKAGE_NAME_` = "xlaffi")

rscript <- function(lines) {
  script <- tempfile(fileext = ".R")
  writeLines(c("library(xlaffi)", lines), script)
  output <- suppressWarnings(system2(file.path(R.home("bin"), "Rscript"), script, stdout = TRUE, stderr = TRUE))
  if (!is.null(attr(output, "status"))) output
}
code_of_page <- function(page) {
  code <- tempfile(fileext = ".R")
  tools::Rd2ex(page, code)
  if (file.exists(code)) readLines(code) else character()
}
knit <- function(file) sprintf("knitr::knit('%s', tempfile(), quiet = TRUE)", normalizePath(file))
pages <- list.files(file.path("xlaffi", "man"), "[.]Rd$", full.names = TRUE)
vignettes <- list.files(file.path("xlaffi", "vignettes"), "[.]Rmd$", full.names = TRUE)
codes <- c(lapply(stats::setNames(nm = pages), code_of_page), lapply(stats::setNames(nm = vignettes), knit))
failed <- Filter(Negate(is.null), lapply(codes, rscript))
for (name in names(failed)) {
  cat(name, ":\n", paste0("  ", utils::tail(failed[[name]], 10L), "\n"), sep = "")
}
cat(length(pages), "help pages,", length(vignettes), "vignettes,", length(failed), "failed\n")
quit(save = "no", status = as.integer(length(failed) > 0L))
