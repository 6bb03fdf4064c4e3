# Gradient and Hessian of all words: the tables of words and of points have the same names.

has_derivative <- function(entry) entry$derivative != "none"

is_mathematical <- function(names) {
  vapply(names, function(name) xlaffi:::overloads[[name]]$topic == "Mathematical functions", NA)
}

test_that("every word that has a derivative has points, and no other name has", {
  words <- as.list(xlaffi:::overloads, all.names = TRUE)
  distributions <- names(Filter(function(word) {
    word$topic == "Distributions" && word$package == "stats" && has_derivative(word)
  }, words))
  of_families <- c("dmultinom", outer(c("d", "p", "q"), sub("_.*", "", names(distribution_points)), paste0))
  expect_identical(setdiff(distributions, of_families), character())
  here <- c(names(element_points), names(whole_words), names(implicit_words), unlist(derived_elsewhere))
  here <- unname(here)
  expect_false(anyDuplicated(here) > 0L)
  known <- c(here, setdiff(distributions, "dmultinom"))
  expect_identical(setdiff(names(Filter(has_derivative, words)), known), character())
  expect_identical(setdiff(known, names(Filter(has_derivative, words))), character())
})

# Complex numbers are compiled in another way, which takes several times as long for the whole of a program.
of_complex <- c(
  "Re", "Im", "Mod", "Arg", "Conj", "complex", "as.complex", "hlo_complex", "hlo_real", "hlo_imag", "hlo_conj",
  "hlo_convert", "fft", "mvfft", "convolve", "hlo_rfft", "hlo_irfft"
)

test_that("words of elements have first and second derivatives", {
  skip_without_plugin()
  apart <- names(element_points) %in% of_complex
  cases <- lapply(names(element_points), element_case)
  expect_derivatives_right(one_in(8L, cases[!apart]), 30L)
  expect_derivatives_right(one_in(8L, cases[apart]), 30L)
  expect_equal(xla_grad(function(y) xla_grad(function(x) Re((x + 1i)^y))(2))(0), 0.4)
})

test_that("words of arrays have first and second derivatives", {
  skip_without_plugin()
  # So is what has loops or random numbers.
  apart <- names(whole_words) %in% of_complex
  slow <- !apart & grepl("^(cum|prod|filter|hlo_(pad|fori|scan|while|sample|r))", names(whole_words))
  cases <- Map(whole_case, names(whole_words), whole_words)
  for (some in list(cases[!apart & !slow], cases[slow], cases[apart])) expect_derivatives_right(one_in(9L, some), 25L)
})

test_that("gamma numbers have the derivatives of the quantiles that they are", {
  skip_without_plugin()
  skip_unless_all()
  cases <- unname(Map(whole_case, names(implicit_words), implicit_words))
  plans <- lapply(cases, derivative_plan)
  data <- Map(plan_data, cases, plans, FALSE)
  derivatives <- function() {
    program <- xla_jit(function(data) {
      Map(function(case, d) each_point(case, forward_over_reverse(case))(d$x, d$t, list()), cases, data)
    })
    unlist(lapply(program(data), function(r) lapply(r, unlist)))
  }
  found <- derivatives()
  number <- xlaffi:::log_gamma_number
  constant <- xla_stop_gradient
  withr::defer(assignInNamespace("log_gamma_number", number, "xlaffi"))
  by_quantiles <- function(draw, shape, part = 0L) {
    p <- xlaffi:::overload_pgamma(exp(constant(number(draw, shape, part))), constant(shape))
    log(xlaffi:::overload_qgamma(p, shape))
  }
  assignInNamespace("log_gamma_number", by_quantiles, "xlaffi")
  expect_equal(found, derivatives(), tolerance = 1e-8)
})

test_that("second derivatives of words are the same in all modes", {
  skip_without_plugin()
  skip_unless_all()
  mathematical <- is_mathematical(names(element_points))
  cases <- lapply(names(element_points), element_case)
  apart <- names(element_points) %in% of_complex
  expect_modes_agree(cases[mathematical & !apart], 40L)
  expect_modes_agree(cases[!mathematical & !apart], 20L)
  expect_modes_agree(cases[apart], 10L)
  cases <- Map(whole_case, names(whole_words), whole_words)
  apart <- names(whole_words) %in% of_complex
  expect_modes_agree(unname(cases[!apart]), 20L)
  expect_modes_agree(unname(cases[apart]), 10L)
})
