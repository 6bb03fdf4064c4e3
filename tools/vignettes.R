# Knits vignettes into a folder as an installed package has them in `doc`: the page, its source and
# its code. Each in a session of its own, with the installed package and whatever plugin it finds; an
# error in a chunk that does not expect one stops it. Ends with status 1 if one does not knit.
#
#   Rscript tools/vignettes.R [FOLDER [NAME...]]      inst/doc and all of them by default
args <- commandArgs(trailingOnly = TRUE)
folder <- if (length(args)) args[[1]] else "inst/doc"
files <- if (length(args) > 1) file.path("vignettes", paste0(args[-1], ".Rmd")) else Sys.glob("vignettes/*.Rmd")
stopifnot(length(files) > 0, file.exists(files))
dir.create(folder, showWarnings = FALSE, recursive = TRUE)

knit <- "
  args <- commandArgs(TRUE)
  rmarkdown::render(args[[1]], output_dir = args[[2]], intermediates_dir = tempdir(), quiet = TRUE)
  code <- sub('Rmd$', 'R', basename(args[[1]]))
  invisible(knitr::purl(args[[1]], file.path(args[[2]], code), quiet = TRUE))
"
failed <- character()
for (file in files) {
  status <- system2(file.path(R.home("bin"), "Rscript"), shQuote(c("-e", knit, file, folder)))
  page <- file.path(folder, sub("Rmd$", "html", basename(file)))
  if (status == 0 && file.exists(page)) {
    file.copy(file, folder, overwrite = TRUE)
    cat(page, "\n", sep = "")
  } else {
    failed <- c(failed, file)
  }
}
if (length(failed)) {
  cat("not knitted:", failed, "\n", file = stderr())
  quit(save = "no", status = 1)
}
