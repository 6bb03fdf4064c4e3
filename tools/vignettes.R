# Knits every vignette into inst/doc, with the installed package and whatever plugin it finds.
for (file in list.files("vignettes", "\\.Rmd$", full.names = TRUE)) {
  rmarkdown::render(file, output_dir = "inst/doc", quiet = TRUE)
  cat("inst/doc/", sub("Rmd$", "html", basename(file)), "\n", sep = "")
}
