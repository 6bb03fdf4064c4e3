# The README's figures, from the tables beside this script: each with its goal, what it is measured beside, and whether
# the goal is met. Prints them all, and writes the README's table between its two marks.
#
#   Rscript readme.R [--check]     --check only compares: status 1 where the README's table is another one

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
root <- file.path(here, "..", "..")

# `goal`: the most of the peer's time, or the least of its rate (`rate = TRUE`); or a time of its own, in us.
figure <- function(label, beside, file, row, there, here, goal = 1, most_us = NULL, rate = FALSE, section = NULL) {
  as.list(environment())
}
figures <- list(
  figure("value and gradient, logistic regression, 100,000 x 10", "R, gradient by hand", "objective",
    "logistic regression, 100,000 x 10", "R, gradient by hand", "xlaffi"
  ),
  figure("the same, 111 x 3", "TMB", "objective", "logistic regression, 111 x 3", "TMB", "xlaffi", most_us = 20),
  figure("the same, counts on a grid with 2,025 random effects", "TMB", "random", "counts on a grid of 2,025", "TMB",
    "xlaffi", goal = 0.3
  ),
  figure("eight schools by the no-U-turn sampler, compilation included: effective draws a second", "rstan", "sample",
    "schools", "rstan", "xlaffi", rate = TRUE,
    section = "## Effective draws a second of time on the clock, compilation included"
  ),
  figure("singular values, 10,000 matrices of 4 x 4", "base R", "linalg-r", "svd, 10,000 x 4 x 4", "base R",
    "xlaffi, R arrays"
  ),
  figure("Robertson's stiff reaction to 1e-8, value", "deSolve, model in C", "ode", "Robertson, to 10^6, 9 times",
    "deSolve", "value"
  )
)

# The cells of a table in a file of results: of the row whose first cell begins with `row`, by the columns' names
cells <- function(figure) {
  lines <- readLines(file.path(here, sprintf("results-%s.md", figure$file)))
  if (!is.null(figure$section)) lines <- lines[-seq_len(match(figure$section, lines))]
  parts <- lapply(strsplit(lines[startsWith(lines, "|")], "|", fixed = TRUE), function(x) trimws(x[-1L]))
  first <- vapply(parts, `[[`, "", 1L)
  at <- which(startsWith(first, figure$row))[[1L]]
  header <- max(which(grepl("^-+$", first) & seq_along(first) < at)) - 1L
  stats::setNames(parts[[at]], parts[[header]][seq_along(parts[[at]])])
}

plain <- function(cell) sub(" *\\(.*", "", cell)

number <- function(cell) as.numeric(gsub(",|(ms|us|s)$", "", plain(cell)))

# A time in microseconds
microseconds <- function(cell) {
  unit <- sub(".* ", "", plain(cell))
  number(cell) * c(us = 1, ms = 1e3, s = 1e6)[[unit]]
}

measured <- function(figure) {
  found <- cells(figure)
  there <- found[[figure$there]]
  ours <- found[[figure$here]]
  value <- if (figure$rate) number else microseconds
  ratio <- value(ours) / value(there)
  met <- if (figure$rate) {
    ratio >= figure$goal
  } else if (is.null(figure$most_us)) {
    ratio <= figure$goal
  } else {
    value(ours) <= figure$most_us
  }
  goal <- if (is.null(figure$most_us)) sprintf("%.2g x", figure$goal) else sprintf("%g us", figure$most_us)
  # 1e+03 ms and the like are seconds.
  shown <- function(cell) {
    us <- if (figure$rate) 0 else microseconds(cell)
    if (us >= 1e6) sprintf("%.3g s", us / 1e6) else plain(cell)
  }
  list(
    label = figure$label, beside = figure$beside, there = shown(there), here = shown(ours),
    ratio = sprintf("%.2g x", ratio), goal = paste(if (figure$rate) "at least" else "at most", goal),
    met = if (met) "met" else "missed"
  )
}

rows <- lapply(figures, measured)
column <- function(name) vapply(rows, `[[`, "", name)
print(data.frame(
  figure = column("label"), beside = column("beside"), there = column("there"), here = column("here"),
  ratio = column("ratio"), goal = column("goal"), met = column("met")
), right = FALSE)

table <- c(
  "| | beside | there | here |", "|---|---|---|---|",
  sprintf("| %s | %s | %s | %s |", column("label"), column("beside"), column("there"), column("here"))
)
readme <- file.path(root, "README.md")
lines <- readLines(readme)
marks <- match(c("<!-- tools/bench/readme.R -->", "<!-- end -->"), lines)
stopifnot(!anyNA(marks), marks[[1L]] < marks[[2L]])
before <- lines[seq(marks[[1L]] + 1L, length.out = marks[[2L]] - marks[[1L]] - 1L)]
if ("--check" %in% commandArgs(TRUE)) {
  quit("no", status = as.integer(!identical(before, table)))
}
writeLines(c(lines[seq_len(marks[[1L]])], table, lines[marks[[2L]]:length(lines)]), readme)
