# What a trace depends on has a digest that other sessions come to as well; what changes it, or could, asks for another
# trace.

# The digest of the function `f` that `code` defines in an environment of its own, as in a session
digest_after <- function(code, ..., about = NULL) {
  env <- new.env(parent = globalenv())
  for (part in list(code, ...)) eval(part, env)
  xlaffi:::lasting_digest(list(env$f), about)
}

model <- quote({
  k <- c(a = 2, b = -0)
  group <- factor(c("x", "y"))
  table <- list(shift = 1L, scale = c(1, NA))
  inner <- function(x, by = 3) x * by + length(table$shift)
  apply_inner <- function(x) vapply(1, function(i) 1, 0) * do.call("inner", list(x)) * sum(sapply(list(1), inner))
  f <- function(x, y = 1) sum(dnorm(x, k[1], log = TRUE)) + apply_inner(y) * nlevels(group) + if (FALSE) later(1) else 0
})

test_that("equal functions have one digest, however they were made", {
  first <- digest_after(model)
  expect_match(first, "^[0-9a-f]{64}$")
  expect_identical(digest_after(model), first)
  with_source <- parse(text = deparse(model), keep.source = TRUE)[[1L]]
  expect_identical(digest_after(with_source), digest_after(parse(text = deparse(model), keep.source = FALSE)[[1L]]))
  expect_identical(digest_after(model, quote(f <- compiler::cmpfun(f))), first)
  # What `f` does not read, what is no function under the name of one, and sequences that R keeps by their ends
  expect_identical(digest_after(model, quote(unread <- 1)), first)
  expect_identical(digest_after(model, quote(later <- 1)), first)
  expect_identical(digest_after(model, quote(k <- `names<-`(c(2, -0), c("a", "b")))), first)
  ends <- quote({
    k <- 1:3
    f <- function(x) x + k
  })
  expect_identical(digest_after(ends, quote(k <- c(1L, 2L, 3L))), digest_after(ends))
  # Expressions of a thousand operations do not use up the stack.
  long <- Reduce(function(code, i) call("+", code, quote(x)), 1:3000, quote(x))
  of_x <- as.pairlist(alist(x = )) # nolint
  expect_match(digest_after(call("<-", quote(f), call("function", of_x, long))), "^[0-9a-f]{64}$")
})

test_that("whatever of a function's may matter has another digest", {
  changes <- expression(
    k <- c(a = 3, b = -0), k <- c(a = 2, b = 0), k <- c(c = 2, b = -0), k <- unname(k), k <- 2L, dim(k) <- 2,
    k <- c(a = 2, b = NA), k <- c(a = 2, b = NaN), group <- factor(c("x", "z")),
    group <- factor(c("x", "y"), c("y", "x")), group <- c(1L, 2L),
    table$shift <- 1, table$shift <- c(1L, 2L), table$scale[2] <- NaN, names(table)[2] <- "size",
    inner <- function(x, by = 3) x * by - length(table$shift),
    inner <- function(x, by = 4) x * by + length(table$shift),
    inner <- function(x, size = 3) x * size + length(table$shift),
    inner <- function(x, by = 3L) x * by + length(table$shift),
    apply_inner <- function(x) inner(x), formals(f)$y <- 2, names(formals(f)) <- c("z", "y"), later <- function(x) x,
    # Other functions under the names of R's, and methods
    dnorm <- function(x, ...) x, sum <- function(...) 0, nlevels <- function(x) 5, `+` <- function(e1, e2) e1,
    Ops.factor <- function(e1, e2) 1,
    # The same code elsewhere
    f <- local({
      k <- 7
      eval(call("function", formals(f), body(f)))
    })
  )
  digests <- vapply(as.list(changes), function(change) {
    digest <- digest_after(model, change)
    if (is.null(digest)) "" else digest
  }, "")
  expect_identical(which(digests == ""), integer())
  expect_identical(anyDuplicated(c(digest_after(model), digests)), 0L)
  about <- list(list(x = 1), list(x = 1L), list(y = 1), list(1), list(x = c(1, 2)), list(x = NA_real_), list(x = NaN))
  digests <- vapply(about, function(about) digest_after(model, about = about), "")
  expect_identical(anyDuplicated(digests), 0L)
})

test_that("what of the session and of packages may matter has another digest", {
  first <- digest_after(model)
  differs <- function(code) {
    digest <- force(code)
    expect_match(digest, "^[0-9a-f]{64}$")
    expect_false(identical(digest, first))
  }
  differs(withr::with_options(list(digits = 3), digest_after(model)))
  differs(withr::with_options(list(xlaffi.trial = TRUE), digest_after(model)))
  differs(withr::with_envvar(c(XLA_FLAGS = "--xla_cpu_enable_fast_math=true"), digest_after(model)))
  differs(withr::with_envvar(c(TZ = "Europe/Berlin"), digest_after(model)))
  attach(list(dnorm = function(x, ...) x), name = "others", warn.conflicts = FALSE)
  withr::defer(detach("others"))
  expect_null(digest_after(model))
  detach("others")
  withr::deferred_clear()
  expect_identical(digest_after(model), first)
  # A function of R's that somebody has replaced
  original <- stats::dnorm
  put <- function(f) {
    for (where in list(asNamespace("stats"), as.environment("package:stats"))) {
      get("unlockBinding", baseenv())("dnorm", where)
      assign("dnorm", f, where)
      lockBinding("dnorm", where)
    }
  }
  withr::defer(put(original))
  put(`body<-`(original, value = quote(x)))
  differs(digest_after(model))
  put(original)
  expect_identical(digest_after(model), first)
  # This package, built or loaded otherwise
  state <- xlaffi:::lasting_state
  code <- state$code
  withr::defer(state$code <- code)
  state$code <- "another file"
  differs(digest_after(model))
  state$code <- NULL
  expect_null(digest_after(model))
})

test_that("where it is not certain there is no digest", {
  refused <- expression(
    # What is read anew each time
    {
      rm(k)
      makeActiveBinding("k", function() 1, environment())
    },
    # Effects, and what knows where it is called
    f <- function(x) {
      count <<- 1
      x
    },
    f <- function(x) {
      cat("traced")
      x
    },
    f <- function(x) {
      set.seed(1)
      x
    },
    f <- function(x) print(x), f <- function(x) x * nchar(Sys.getenv("HOME")), f <- function(x) x * interactive(),
    f <- function(x) get("k", environment()), f <- function(x) eval(parse(text = "x")),
    f <- function(x) .Call("foo", x), f <- function(x) lapply(x, cat), f <- function(x) nchar(format(x)),
    # Functions by names that are computed, or that somebody else gives
    f <- function(x) do.call(paste0("in", "ner"), list(x)), f <- function(x, g = "inner") sapply(x, g),
    f <- function(x) sapply(x, names(k)[1]), f <- function(x) Map(do.call, "inner", list(list(x))),
    f <- function(x) integrate("inner", 0, 1), f <- function(x) Reduce(f = paste0("in", "ner"), x),
    f <- function(x, ...) sapply(..., x),
    {
      by_name <- "inner"
      f <- function(x) lapply(x, by_name)
    },
    # Environments, functions of other packages, compiled functions, classes of others
    k <- new.env(), k <- y ~ x, f <- function(x) rlang::hash(x), k <- rlang::hash, inner <- rlang::hash,
    inner <- xla_jit(function(x) x), k <- structure(1, class = "own"), k <- structure(1, f = function() 1),
    k <- c(as.list(1:1001), function(x) x),
    # Arguments of the function that made it
    f <- (function(...) function(x) sum(x, ...))(2), f <- (function(...) function(x) ..1 * x)(2)
  )
  for (change in as.list(refused)) {
    expect_null(digest_after(model, change), label = deparse1(change))
  }
  expect_null(digest_after(model, about = list(new.env())))
  expect_null(digest_after(model, about = list(function(x) x)))
  # Methods of the user's
  registerS3method("nlevels", "trial_of_digest", eval(quote(function(x) 1), globalenv()), envir = baseenv())
  table <- baseenv()[[".__S3MethodsTable__."]]
  withr::defer(rm("nlevels.trial_of_digest", envir = table))
  expect_null(digest_after(model))
  rm("nlevels.trial_of_digest", envir = table)
  withr::deferred_clear()
  assign(".__T__+:base", new.env(), globalenv())
  withr::defer(rm(".__T__+:base", envir = globalenv()))
  expect_null(digest_after(model))
})

counts_model <- quote({
  scale <- 2
  groups <- rep(1:3, each = 2)
  f <- function(p, y, groups) {
    -sum(dnorm(p$u, 0, exp(p$s), log = TRUE)) - sum(dpois(y, exp(p$m + scale * p$u[groups]), log = TRUE))
  }
  par <- list(m = 0, s = 0, u = numeric(3))
  y <- c(1, 4, 0, 2, 7, 3)
})

# The numbers of an objective that is made after `code`, and how often something was traced
traced_times <- function(code, ..., random = "u", hessian = FALSE, evaluate = TRUE) {
  env <- new.env(parent = globalenv())
  for (part in list(code, ...)) eval(part, env)
  times <- 0
  trace <- xlaffi:::trace_program
  assignInNamespace("trace_program", function(...) {
    times <<- times + 1
    trace(...)
  }, "xlaffi")
  on.exit(assignInNamespace("trace_program", trace, "xlaffi"))
  forget_session()
  objective <- xla_objective(env$f, env$par, y = env$y, groups = env$groups, random = random)
  x <- objective$par + 0.1
  numbers <- if (evaluate) list(objective$fn(x), objective$gr(x), if (hessian) objective$he(x))
  list(times = times, numbers = numbers, objective = objective, data = env)
}

test_that("objectives of other sessions are found, with equal numbers, and others are traced", {
  skip_without_plugin()
  skip_unless_all()
  folder <- withr::local_tempdir("programs")
  Sys.chmod(folder, "0700")
  withr::local_options(xlaffi.program_cache = folder)
  first <- traced_times(counts_model, hessian = TRUE)
  expect_gt(first$times, 2)
  again <- traced_times(counts_model, hessian = TRUE)
  expect_identical(again[c("times", "numbers")], list(times = 0, numbers = first$numbers))
  expect_true("trace of objective" %in% xla_cache("saved")$name)
  # What is read is noticed as ever, other parameters are others, and so are groups that the data give.
  changed <- traced_times(counts_model, quote(scale <- 3))
  expect_gt(changed$times, 1)
  x <- first$objective$par + 0.1
  again$data$scale <- 3
  expect_equal(again$objective$fn(x), changed$numbers[[1L]])
  expect_gt(abs(changed$numbers[[1L]] - first$numbers[[1L]]), 1e-3)
  moved <- traced_times(counts_model, quote(groups <- c(1:3, 1:3)))
  expect_gt(moved$times, 1)
  expect_identical(traced_times(counts_model, quote(groups <- c(1:3, 1:3)))[c("times", "numbers")],
    list(times = 0, numbers = moved$numbers)
  )
  # Other data without a part in where the Hessian has entries
  own <- quote({
    f <- function(p, y, groups) {
      -sum(dnorm(p$u, 0, exp(p$s), log = TRUE)) - sum(dpois(y, exp(p$m + rep(p$u, each = 2)), log = TRUE))
    }
  })
  expect_gt(traced_times(counts_model, own)$times, 1)
  expect_identical(traced_times(counts_model, own, quote(y[1] <- 9))$times, 0)
  expect_gt(traced_times(counts_model, own, quote(y <- as.integer(y)))$times, 1)
  # With other data put in, whose numbers are those of an objective that was made with them
  found <- traced_times(counts_model)
  expect_identical(found$times, 0)
  other <- update(found$objective, y = c(9, 4, 0, 2, 7, 3))
  expect_equal(other$fn(x), traced_times(counts_model, quote(y[1] <- 9))$numbers[[1L]])
  expect_equal(update(found$objective, groups = c(1:3, 1:3))$fn(x), moved$numbers[[1L]])
  # ... while what is read has changed: nothing of that is saved as the first one's.
  unlink(xla_cache("saved")$folder, recursive = TRUE)
  found <- traced_times(counts_model, evaluate = FALSE)
  other <- update(found$objective, y = c(9, 4, 0, 2, 7, 3))
  found$data$scale <- 3
  expect_equal(other$fn(x), traced_times(counts_model, quote(y[1] <- 9), quote(scale <- 3))$numbers[[1L]])
  expect_equal(traced_times(counts_model)$numbers[1:2], first$numbers[1:2])
  # Without random effects
  plain <- traced_times(counts_model, random = NULL)
  expect_identical(traced_times(counts_model, random = NULL)[c("times", "numbers")],
    list(times = 0, numbers = plain$numbers)
  )
  # Programs that are gone are made again, and damaged traces too.
  saved <- xla_cache("saved")
  unlink(saved$folder[!grepl("^trace", saved$name)], recursive = TRUE)
  expect_identical(traced_times(counts_model)$numbers[1:2], first$numbers[1:2])
  expect_identical(traced_times(counts_model)$times, 0)
  saved <- xla_cache("saved")
  for (folder in saved$folder[grepl("^trace", saved$name)]) writeBin(raw(10), file.path(folder, "trace"))
  expect_identical(traced_times(counts_model)$numbers[1:2], first$numbers[1:2])
  # In sessions of their own
  out <- withr::local_tempfile()
  session <- c(
    deparse(counts_model), "objective <- xla_objective(f, par, y = y, groups = groups, random = 'u')",
    "x <- objective$par + 0.1",
    sprintf("saveRDS(list(objective$fn(x), objective$gr(x)), %s)", deparse(out))
  )
  expect_session <- function(code) {
    run <- run_r(c(code, session), c(XLAFFI_PROGRAM_CACHE = getOption("xlaffi.program_cache")))
    expect_identical(run, list(output = character(), status = 0L))
    expect_identical(readRDS(out), first$numbers[1:2])
  }
  expect_session(character())
  expect_session("assignInNamespace('trace_program', function(...) stop('traced'), 'xlaffi')")
})

test_that("traces that look at the session, speak or are refused are not saved", {
  skip_without_plugin()
  folder <- withr::local_tempdir("programs")
  Sys.chmod(folder, "0700")
  withr::local_options(xlaffi.program_cache = folder, xlaffi.trial = 1)
  saved <- function(f, y = 1) {
    objective <- xla_objective(f, c(1, 2), y = y)
    objective$gr(c(1, 2))
    sum(grepl("^trace", xla_cache("saved")$name))
  }
  expect_identical(saved(function(x, y) sum(x^2) * getOption("xlaffi.trial")), 0L)
  k <- 2
  expect_identical(saved(function(x, y) sum(x^2) * get("k")), 0L)
  inner <- function(x) x
  expect_identical(saved(function(x, y) sum(x^2) + do.call(paste0("inn", "er"), list(x))[1]), 0L)
  expect_identical(suppressWarnings(saved(function(x, y) sum(x^2) + length(as.integer("one")))), 0L)
  expect_identical(saved(function(x, y) sum(x^2) * k), 2L)
})
