# Keys, bits, and the numbers that are those of jax.random: jax-random.py wrote jax-random.csv.

by_rows <- function(x) if (is.matrix(x)) as.vector(t(x)) else as.vector(x)

test_that("keys, bits, uniform and normal numbers are those of JAX, bit by bit", {
  skip_without_plugin()
  lines <- utils::read.csv(test_path("jax-random.csv"), colClasses = "character")
  # Another XLA has another inverse of erf().
  is_version_of_numbers <- identical(plugin_attributes(pjrt_plugin("cpu"))$jaxlib_version, "0.10.2")
  seeds <- list(0, 42, -5, 2^40 + 7)
  if (!all_run()) {
    seeds <- seeds[1L]
    lines <- lines[lines$case == "1", ]
  }
  made <- xla_jit(function() {
    lapply(seeds, function(seed) {
      key <- hlo_key(seed)
      list(
        key = key, split = hlo_split(key, 3), "split matrix" = hlo_reshape(hlo_split(key, c(2, 2)), c(4, 2)),
        fold_in = hlo_fold_in(key, 2^32 - 3),
        ui8 = hlo_random_bits(key, c(2, 3), "ui8"), ui16 = hlo_random_bits(key, c(2, 3), "ui16"),
        ui32 = hlo_random_bits(key, c(2, 3)), ui64 = hlo_random_bits(key, c(2, 3), "ui64"),
        "uniform f32" = hlo_runif(key, c(2, 20), dtype = "f32"), "uniform f64" = hlo_runif(key, c(2, 20)),
        "normal f32" = hlo_rnorm(key, c(2, 20), dtype = "f32"), "normal f64" = hlo_rnorm(key, c(2, 20))
      )
    })
  })()
  for (i in seq_len(nrow(lines))) {
    found <- made[[as.integer(lines$case[[i]])]][[lines$what[[i]]]]
    words <- strsplit(lines$elements[[i]], " ", fixed = TRUE)[[1]]
    if (inherits(found, "integer64")) {
      text <- array(as.character(found), if (is.null(dim(found))) length(found) else dim(found))
      expect_identical(by_rows(text), words, label = lines$what[[i]])
    } else if (startsWith(lines$what[[i]], "normal") && !is_version_of_numbers) {
      expect_lt(max(abs(by_rows(found) / as.numeric(words) - 1)), if (grepl("f64", lines$what[[i]])) 1e-14 else 1e-6)
    } else {
      expect_identical(as.double(by_rows(found)), as.numeric(words), label = lines$what[[i]])
    }
  }
})

test_that("seeds that are values give the keys of the same numbers", {
  skip_without_plugin()
  key <- xla_jit(hlo_key)
  number <- function(seed) xla_jit(function() hlo_key(seed))()
  expect_identical(key(42L), number(42))
  expect_identical(key(bit64::as.integer64(2^40 + 7)), number(2^40 + 7))
  expect_identical(key(bit64::as.integer64(-5)), number(-5))
  expect_identical(key(-5L), number(-5))
  fold <- xla_jit(function(data) hlo_fold_in(hlo_key(1), data))
  expect_identical(fold(7L), xla_jit(function() hlo_fold_in(hlo_key(1), 7))())
  # What a program gave is a key for the next.
  expect_identical(
    xla_jit(function(key) hlo_runif(key, 3))(key(42L)), xla_jit(function() hlo_runif(hlo_key(42), 3))()
  )
})

test_that("a batch of keys gives what a loop over keys gives", {
  skip_without_plugin()
  skip_unless_all()
  numbers <- function(key) {
    list(
      hlo_runif(key, 5), hlo_rnorm(key, c(2, 2)), hlo_rexp(key, 3, 2), hlo_rcauchy(key, 3), hlo_rlogis(key, 3),
      hlo_rweibull(key, 3, 2, 3), hlo_rlnorm(key, 3), hlo_split(key, 2), hlo_random_bits(key, integer(), "ui8")
    )
  }
  out <- xla_jit(function(seed) {
    keys <- hlo_split(hlo_key(seed), 3)
    list(batch = xla_vmap(numbers)(keys), loop = lapply(1:3, function(i) numbers(keys[i, ])))
  })(3L)
  for (i in seq_along(out$batch)) {
    rows <- lapply(1:3, function(k) as.vector(out$loop[[k]][[i]]))
    expect_identical(matrix(as.vector(out$batch[[i]]), 3), do.call(rbind, rows), label = i)
  }
})

# The kinds of nodes that the result of `f` is computed by, back to those that are kept apart
kinds_behind <- function(f) {
  graph <- xla_graph(f, ffi_type("i32", integer()))
  made_by <- list()
  for (node in graph$nodes) {
    for (result in node$results) made_by[[result$id]] <- node
  }
  seen <- integer()
  kinds <- character()
  left <- graph$outputs
  while (length(left)) {
    seen <- c(seen, left)
    nodes <- Filter(Negate(is.null), lapply(left, function(id) if (id <= length(made_by)) made_by[[id]]))
    kinds <- c(kinds, vapply(nodes, `[[`, "", "op"))
    further <- Filter(function(node) node$op != "optimization_barrier", nodes)
    left <- setdiff(unlist(lapply(further, `[[`, "operands")), seen)
  }
  unique(kinds)
}

test_that("bits are kept apart from what uses them: within its loops XLA would compute them again and again", {
  draws <- list(
    hlo_random_bits, hlo_runif, hlo_rnorm, hlo_rexp,
    function(key, n) hlo_runif(key, n, dtype = "f32"),
    function(key, n) hlo_sample(key, 10, n), function(key, n) hlo_sample(key, 10, n, TRUE),
    function(key, n) hlo_sample(key, 10, n, TRUE, 1:10), function(key, n) hlo_sample(key, 10, n, prob = 1:10),
    function(key, n) xla_vmap(function(key) hlo_runif(key, n))(hlo_split(key, 3))
  )
  for (draw in draws) {
    kinds <- kinds_behind(function(seed) draw(hlo_key(seed), 5))
    expect_true("optimization_barrier" %in% kinds)
    expect_false("xor" %in% kinds)
  }
})

test_that("distributions by inversion are what they are called", {
  skip_without_plugin()
  out <- xla_jit(function(seed) {
    keys <- hlo_split(hlo_key(seed), 9)
    n <- 1e5
    list(
      hlo_runif(keys[1, ], n, -1, 3), hlo_rnorm(keys[2, ], n, 2, 3), hlo_rexp(keys[3, ], n, 5),
      hlo_rcauchy(keys[4, ], n, 1, 2), hlo_rlogis(keys[5, ], n, 1, 2), hlo_rweibull(keys[6, ], n, 0.7, 2),
      hlo_rlnorm(keys[7, ], n, 1, 0.5), hlo_rnorm(keys[8, ], n, dtype = "f32"), hlo_rexp(keys[9, ], n, dtype = "f32")
    )
  })(11L)
  functions <- list(
    function(x) stats::punif(x, -1, 3), function(x) stats::pnorm(x, 2, 3), function(x) stats::pexp(x, 5),
    function(x) stats::pcauchy(x, 1, 2), function(x) stats::plogis(x, 1, 2), function(x) stats::pweibull(x, 0.7, 2),
    function(x) stats::plnorm(x, 1, 0.5), stats::pnorm, stats::pexp
  )
  for (i in seq_along(functions)) {
    p <- suppressWarnings(stats::ks.test(as.vector(out[[i]]), functions[[i]]))$p.value
    expect_gt(p, 1e-4, label = sprintf("p of distribution %d", i))
  }
  # Elements, and what split keys give, have nothing to do with each other.
  expect_lt(abs(stats::cor(out[[2]], stats::qnorm(stats::pexp(out[[3]], 5)))), 0.02)
  expect_lt(abs(stats::cor(out[[2]][-1], out[[2]][-1e5])), 0.02)
})

test_that("parameters may be values, are differentiated, and give NaN as in R", {
  skip_without_plugin()
  f <- function(mean, sd) sum(hlo_rnorm(hlo_key(1), 4, mean, sd))
  z <- as.vector(xla_jit(function() hlo_rnorm(hlo_key(1), 4))())
  gradient <- xla_grad(f, 1:2)(c(1, 2, 3, 4), 2)
  expect_equal(as.vector(gradient[[1]]), rep(1, 4))
  expect_equal(as.vector(gradient[[2]]), sum(z))
  scale <- xla_grad(function(rate) sum(hlo_rexp(hlo_key(1), 3, rate)))(2)
  e <- as.vector(xla_jit(function() hlo_rexp(hlo_key(1), 3))())
  expect_equal(as.vector(scale), -sum(e) / 4)
  out <- xla_jit(function(sd) {
    list(
      hlo_rnorm(hlo_key(1), 3, 0, sd), hlo_runif(hlo_key(1), 2, 1, 0), hlo_rexp(hlo_key(1), 2, -1),
      hlo_rnorm(hlo_key(1), 2, 5, 0), hlo_runif(hlo_key(1), 0), hlo_rnorm(hlo_key(1), integer(), 1L, 0L)
    )
  })(c(-1, NaN, Inf))
  expect_true(all(is.nan(unlist(out[1:3]))))
  expect_identical(as.vector(out[[4]]), c(5, 5))
  expect_length(out[[5]], 0)
  expect_identical(as.vector(out[[6]]), 1)
})

test_that("what makes no sense is refused", {
  skip_without_plugin()
  run <- function(f, ...) xla_jit(f)(...)
  expect_snapshot(error = TRUE, {
    run(function(x) hlo_key(x), c(1, 2))
    run(function() hlo_key(1.5))
    run(function(x) hlo_runif(x, 3), c(1, 2))
    run(function() hlo_runif(42, 3))
    run(function() hlo_runif(hlo_key(1), -1))
    run(function() hlo_rnorm(hlo_key(1), 3, 1:2))
    run(function(x) hlo_rnorm(hlo_key(1), 3, x, dtype = "f32"), 1)
    run(function() hlo_rnorm(hlo_key(1), 3, dtype = "i32"))
    run(function() hlo_random_bits(hlo_key(1), 3, "f32"))
    run(function() hlo_fold_in(hlo_key(1), -1))
    run(function() hlo_fold_in(hlo_key(1), c(1L, 2L)))
  })
})
