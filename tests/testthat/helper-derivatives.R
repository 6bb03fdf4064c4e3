# Derivatives that jax-*.py recorded: cases by name, each with its arrays by what they are.

# One array from a line of the file. There the last axis runs fastest.
read_array <- function(line) {
  x <- as.numeric(strsplit(line$elements, " ", fixed = TRUE)[[1]])
  if (line$dtype == "c128") {
    x <- complex(real = x[c(TRUE, FALSE)], imaginary = x[c(FALSE, TRUE)])
  }
  shape <- as.integer(strsplit(line$shape, "x", fixed = TRUE)[[1]])
  if (length(shape)) aperm(array(x, rev(shape))) else pjrt_scalar(x, line$dtype)
}

read_cases <- function(file) {
  lines <- utils::read.csv(file, colClasses = "character")
  lines <- split(lines, factor(lines$case, unique(lines$case)))
  lapply(lines, function(case) {
    lapply(split(case, case$what), function(part) lapply(seq_len(nrow(part)), function(i) read_array(part[i, ])))
  })
}

plain <- function(x) lapply(xlaffi:::tree_leaves(x), function(x) if (inherits(x, "xlaffi_buffer")) as_array(x) else x)

numbers <- function(x) unlist(lapply(plain(x), as.vector))
