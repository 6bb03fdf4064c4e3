# The fuzz of programs (tools/fuzz), for a moment: so that it runs, finds what is wrong and makes it small.

fuzz_home <- function() {
  home <- new.env(parent = globalenv())
  sys.source(source_file("tools/fuzz/programs/run.R"), home)
  home$load_programs(source_file("tools/fuzz/programs"), home)
  home
}

test_that("random programs and derivatives of a seed are right", {
  skip_unless_all()
  skip_if_not(plugins_downloaded())
  home <- fuzz_home()
  printed <- character()
  say <- function(...) printed <<- c(printed, paste0(...))
  expect_identical(home$run_programs(0, 1L, 40, say), 0L, info = printed)
  expect_identical(home$run_functions(0, 1L, 4, say), 0L, info = printed)
  # Of large arrays
  expect_identical(home$run_programs(0, 1L, 12, say, first = 2L), 0L, info = printed)
  expect_identical(home$run_functions(0, 1L, 3, say, first = 2L), 0L, info = printed)
  # With loops of R's
  expect_identical(home$run_loops(0, 1L, 4, say), 0L, info = printed)
  expect_match(printed[length(printed)], "^4 functions, [1-4] of them with loops")
})

test_that("a seed's programs are the same again, and well-typed", {
  home <- fuzz_home()
  programs <- function() {
    set.seed(3)
    home$random_programs(60L, home$random_data(), home$differences)
  }
  first <- programs()
  expect_identical(lapply(first, function(x) x$code), lapply(programs(), function(x) x$code))
  types <- vapply(first, function(x) typeof(x$found$value), "")
  expect_setequal(types, c("logical", "integer", "double", "complex"))
})

test_that("one batch in eight is of arrays that XLA computes in other ways, with divisors that are zeros of a sign", {
  home <- fuzz_home()
  expect_identical(which(vapply(1:16, home$is_large_batch, NA)), c(2L, 10L))
  set.seed(1)
  data <- home$large_data()
  programs <- home$random_programs(40L, data, home$differences, home$large_grammar, home$large_weights)
  expect_true(all(lengths(data[c("x", "u", "m", "o", "i")]) >= 4095))
  expect_true(any(vapply(programs, function(x) length(x$found$value) == 1L && x$found$most > 0, NA)))
  for (code in expression(sum(1 / -o), 1 / tanh(-o))) expect_false(home$has_unsure_divisors(code))
  for (code in expression(1 / (x - y), sum(x)^-1, local({
    r <- x
    1 / r
  }))) {
    expect_true(home$has_unsure_divisors(code))
  }
  # Sums of many numbers are known to what is left of their sizes, a few to the largest one.
  many <- rep(c(1, -1), 3000)
  expect_identical(home$size_of_sums(0, "sum", list(many)), 6000)
  expect_false(home$is_many(list(many[1:6])))
})

test_that("a function that computes something else is found and the program made small", {
  home <- fuzz_home()
  # In the place of programs: R, with a cumsum() that forgets the last element, and a round() of another type.
  home$batch_outcomes <- function(codes, data, dtype) {
    wrong <- list(
      cumsum = function(x) replace(cumsum(x), length(x), 0), round = function(x, ...) as.integer(base::round(x, ...))
    )
    frame <- list2env(data, parent = list2env(c(wrong, home$sparse_words), parent = globalenv()))
    lapply(codes, function(code) {
      value <- tryCatch(suppressWarnings(eval(code, new.env(parent = frame))), error = identity)
      if (is.atomic(value)) attributes(value) <- attributes(value)["dim"]
      if (length(dim(value)) == 1L) dim(value) <- NULL
      value
    })
  }
  printed <- character()
  count <- home$run_programs(0, 9L, 250, function(...) printed <<- c(printed, paste0(...)))
  functions <- sub("^.*\\) (.*)$", "\\1", grep("^  f <- ", printed, value = TRUE))
  expect_true(any(grepl("^cumsum\\([a-z0-9]+\\)$", functions)), info = printed)
  expect_true(any(grepl("^round\\([a-z0-9]+\\)$", functions)), info = printed)
  expect_true(all(grepl("cumsum|round", functions)), info = printed)
  expect_lt(count, 12)
})

test_that("a loop that computes something else is found and the function made small", {
  skip_unless_all()
  home <- fuzz_home()
  # In the place of programs: R, which is wrong where something is carried by tanh().
  home$looped_results <- function(f, q, along, kind) f(q) + (kind == "value" && "tanh" %in% all.names(body(f)))
  home$batch_data <- function(data, dtype) data
  home$has_loop <- function(code, data) TRUE
  home$loop_numbers <- Filter(function(code) !"tanh" %in% all.names(code), home$loop_numbers)
  # A number would stay in the place of the 0.
  home$loop_atoms <- Filter(Negate(is.numeric), home$loop_atoms)
  home$loop_statements <- alist(a <- tanh(.x), b <- sin(.x), s <- s + .x, x[i] <- sin(.x), v <- rev(v))
  printed <- character()
  count <- home$run_loops(0, 4L, 3, function(...) printed <<- c(printed, paste0(...)))
  expect_identical(count, 1L)
  expect_match(grep("^FOUND", printed, value = TRUE), "^FOUND value \\(seed 4, batch 1, ")
  small <- grep("^  f <- ", printed, value = TRUE)
  expect_match(small, "tanh(0)", fixed = TRUE)
  expect_lt(nchar(small), 200)
})

test_that("what is compared is the value, its type, dimensions, NaN, infinities and signs of zeros", {
  home <- fuzz_home()
  problem <- function(outcome, expected, code = quote(rev(x))) {
    home$outcome_problem(outcome, list(value = expected, spread = numeric(length(expected))), "f64", code)
  }
  expect_null(problem(c(1, NaN, Inf, -0), c(1, NA, Inf, -0)))
  expect_identical(problem(c(1, 2), c(1, 2 + 1e-7)), "value")
  expect_identical(problem(c(1, NaN), c(1, 2)), "NaN")
  expect_identical(problem(c(1, -Inf), c(1, Inf)), "infinite")
  expect_identical(problem(0, -0), "sign of zero")
  expect_null(problem(0, -0, quote(x + 0)))
  expect_identical(problem(1L, 1), "type")
  expect_identical(problem(c(1, 2), matrix(c(1, 2))), "dims")
  expect_identical(problem(c(a = 1), 1), "names")
  expect_identical(problem(c(1 + 1i, 2), c(1 + 1i, 2 - 1e-6i)), "value")
  expect_match(problem(simpleError("of others"), 1), "of others")
  refused <- structure(class = c("xlaffi_error", "error", "condition"), list(message = "nobody's", call = NULL))
  expect_match(problem(refused, 1), "refusal")
})
