test_that("the parts of arguments go in, and results are put together, also as a part of a larger program", {
  found <- local({
    mesh <- xla_mesh(c(data = 4, model = 2))
    x <- matrix(sin((1:32)^2), 8)
    y <- cos(1:8)
    cross <- xla_shard_map(
      function(x) hlo_psum(crossprod(x), "data"), mesh, list("data"), xla_spec()
    )
    shapes <- NULL
    nested <- xla_shard_map(function(a, b) {
      shapes <<- lapply(list(a$u, a$v[[1]], b), shape)
      list(p = a$u + 1, q = list(a$v[[1]] * 2L, b))
    }, mesh, list(b = NULL, a = list(u = c("data", "model"), v = list(xla_spec(c("model", "data"))))),
    list(p = c("data", "model"), q = list(list(c("model", "data")), NULL)))
    n <- nested(list(u = x, v = list(1:8)), y)
    scale <- 3
    fit <- xla_jit(function(x, y) {
      # `w` comes from outside of the function that runs on the devices.
      w <- solve(crossprod(x), crossprod(x, y))
      parts <- xla_shard_map(function(x, y) {
        r <- y - drop(x %*% w)
        list(hlo_psum(sum(r^2), "data") * scale, r)
      }, mesh, "data", list(NULL, "data"))(x, y)
      list(rss = parts[[1]], r = parts[[2]] / 2, w = w)
    })
    s <- cross(xla_shard(x, mesh, "data"))
    effects <- xla_shard_map(function(x) NULL, mesh, "data", NULL)
    list(
      cross = cross(x), again = cross(x * 2), nested = n, shapes = shapes, fit = fit(x, y),
      class = class(s)[[1]], sharded = as_array(s), nothing = effects(x),
      by_rows = xla_shard_map(function(x) hlo_reshape(sum(x), 1), mesh, list(list(NULL, "model")), "model")(x),
      constant = xla_shard_map(function() 1, mesh, NULL, "data")()
    )
  })
  x <- matrix(sin((1:32)^2), 8)
  y <- cos(1:8)
  fit <- lm.fit(x, y)
  expect_equal(found$cross, crossprod(x))
  expect_equal(found$again, 4 * crossprod(x))
  expect_equal(found$nested, list(p = x + 1, q = list(2L * 1:8, y)))
  expect_equal(found$shapes, list(c(2L, 2L), 1L, 8L))
  expect_equal(found$fit, list(
    rss = 3 * sum(fit$residuals^2), r = fit$residuals / 2, w = matrix(fit$coefficients)
  ), ignore_attr = TRUE)
  expect_identical(found$class, "xlaffi_sharded")
  expect_equal(found$sharded, crossprod(x))
  expect_null(found$nothing)
  expect_equal(found$by_rows, c(sum(x[, 1:2]), sum(x[, 3:4])))
  expect_identical(found$constant, rep(1, 4))
})

test_that("derivatives of all orders and batches are those of the whole", {
  found <- local({
    mesh <- xla_mesh(c(a = 4, b = 2))
    both <- list(c("a", "b"))
    all <- c("a", "b")
    kinds <- function(w, x) {
      s <- hlo_psum(sin(x) * w, "a")
      m <- hlo_pmax(x, "b")
      g <- hlo_all_gather(x * x, "b", dim = 2, tiled = TRUE)
      part <- hlo_psum_scatter(cos(x), "a", dim = 2)
      sent <- hlo_ppermute(x * w, all, cbind(1:7, c(3, 1, 2, 5, 4, 7, 8)))
      cut <- hlo_all_to_all(exp(x / 2), "a", 2, 1, tiled = TRUE)
      own <- sum(s * x) + sum(m * x) * hlo_axis_index("a") + sum(g) * sum(part^2)
      own <- own + sum(sent * sent * x) + sum(cut^2 * w)
      hlo_pmean(own, all) + hlo_pmin(sum(x), all)
    }
    turns <- function(w, x) {
      loop <- hlo_scan(function(carry, k) {
        r <- carry + hlo_psum(sum(x * k), "a") * carry
        list(r / hlo_pmax(abs(r), all), sum(x) * r)
      }, w, c(0.5, 1, 1.5))
      more <- function(v) hlo_pmax(v, all) < 50
      grown <- hlo_while(more, function(v) v * 1.5 + hlo_psum(sum(x)^2, all), w, max_iter = 20)
      branch <- hlo_cond(hlo_psum(sum(x), all) > 0,
        function() hlo_psum(sum(x^3), "b"), function() hlo_pmean(sum(x), "b")
      )
      hlo_psum(loop$carry + sum(loop$y) + branch, all) + grown
    }
    outer <- function(f) {
      g <- xla_shard_map(f, mesh, list(NULL, both), NULL)
      # What goes in is computed, and so is what is made of the result; `w` comes in from outside, too.
      function(w, x) {
        h <- xla_shard_map(
          function(x) list(hlo_psum(sum(x * sin(w)), all), x * w), mesh, list(both), list(NULL, both)
        )(x)
        g(w, x / 2)^2 * w + h[[1]] * sum(h[[2]]^2)
      }
    }
    w <- 0.7
    x <- matrix(sin(1:64) / 2, 16)
    dx <- matrix(cos(1:64), 16)
    # In `make test` the loops and branches, which are not among those beside JAX's below
    lapply(c(turns = turns, if (all_run()) list(kinds = kinds)), function(f) {
      f <- outer(f)
      value <- xla_jit(f)
      both <- xla_vjp(f)(list(w, x), 1)$gradients
      step <- 1e-5
      at <- function(t) value(w + t, x + t * dx)
      # In `make test` a number for each device and each column
      places <- if (all_run()) seq_along(x) else seq(1, 64, 7)
      first <- list(
        places = places,
        gw = both[[1]], gx = both[[2]],
        nw = (value(w + step, x) - value(w - step, x)) / (2 * step),
        nx = vapply(places, function(i) {
          e <- replace(x * 0, i, step)
          (value(w, x + e) - value(w, x - e)) / (2 * step)
        }, 0),
        forward = xla_jvp(f)(list(w, x), list(1, dx))$tangent, forward_n = (at(step) - at(-step)) / (2 * step)
      )
      if (!all_run()) {
        return(first)
      }
      gradient <- xla_grad(f, 2)
      along <- xla_jvp(function(t) xla_grad(f, 2)(w, x + t * dx))(0, 1)$tangent
      ws <- c(0.5, 0.9)
      xs <- aperm(array(c(x, dx), c(16, 4, 2)), c(3, 1, 2))
      c(first, list(
        second = along, second_n = (gradient(w, x + step * dx) - gradient(w, x - step * dx)) / (2 * step),
        batch = xla_vmap(f)(ws, xs), one_by_one = c(value(ws[[1]], xs[1, , ]), value(ws[[2]], xs[2, , ])),
        batch_g = xla_vmap(gradient, list(NULL, 1))(w, xs), g2 = gradient(w, xs[2, , ])
      ))
    })
  })
  for (kind in found) {
    expect_equal(kind$gw, kind$nw, tolerance = 1e-7)
    expect_equal(c(kind$gx)[kind$places], kind$nx, tolerance = 1e-7)
    expect_equal(kind$forward, kind$forward_n, tolerance = 1e-7)
  }
  skip_unless_all()
  for (kind in found) {
    expect_equal(kind$second, kind$second_n, tolerance = 1e-7)
    expect_equal(kind$batch, kind$one_by_one)
    expect_equal(kind$batch_g[1, , ], kind$gx)
    expect_equal(kind$batch_g[2, , ], kind$g2)
  }
})

test_that("custom calls, prints and random numbers are each device's own", {
  found <- local({
    mesh <- xla_mesh(c(d = 8))
    one <- function(k) crossprod(matrix(sin(1:6 * k), 2)) + diag(3)
    a <- aperm(array(unlist(lapply(1:8, one)), c(3, 3, 8)), c(3, 1, 2))
    factor <- xla_shard_map(function(a) xla_chol(a), mesh, "d", "d")
    logdet <- xla_shard_map(function(a) {
      hlo_psum(2 * sum(log(xla_chol(hlo_reshape(a, c(3, 3)))[cbind(1:3, 1:3)])), "d")
    }, mesh, "d", NULL)
    M <- seq(0.1, 3, length.out = 16)
    anomaly <- xla_shard_map(function(M, e) kepler(M, e)[[1]], mesh, list("d", NULL), "d")
    draws <- xla_shard_map(function(seed) {
      hlo_rnorm(hlo_fold_in(hlo_key(seed), hlo_axis_index("d")), 2)
    }, mesh, NULL, "d")
    single <- xla_jit(function(seed, i) hlo_rnorm(hlo_fold_in(hlo_key(seed), i), 2))
    seen <- NULL
    tell <- ffi_callback(function(x) seen <<- c(seen, x), "x: f64[] ->", side_effect = TRUE)
    show <- xla_shard_map(function(x) {
      tell(sum(x))
      hlo_custom_call("print_tensor", x, NULL, list(print_header = "part"), has_side_effect = TRUE)
      x
    }, mesh, "d", "d")
    list(
      factor = factor(a), plain = xla_jit(xla_chol)(a), logdet = logdet(a), gradient = xla_grad(logdet)(a), a = a,
      anomaly = anomaly(M, 0.3), kepler = xla_jit(function(M, e) kepler(M, e)[[1]])(M, 0.3),
      slope = xla_grad(function(e) sum(anomaly(M, e)))(0.3),
      slope1 = xla_grad(function(e) sum(kepler(M, e)[[1]]))(0.3),
      draws = draws(1L), singles = vapply(1:8, function(i) single(1L, i), c(0, 0)),
      printed = sum(grepl("part", utils::capture.output(shown <- show(M)))), shown = shown, seen = sort(seen), M = M
    )
  })
  expect_equal(found$factor, found$plain)
  expect_equal(found$logdet, sum(log(apply(found$a, 1, det))))
  inverses <- aperm(array(apply(found$a, 1, solve), c(3, 3, 8)), c(3, 1, 2))
  expect_equal(found$gradient + aperm(found$gradient, c(1, 3, 2)), 2 * inverses)
  expect_equal(found$anomaly, found$kepler)
  expect_equal(found$slope, found$slope1)
  expect_identical(found$draws, c(found$singles))
  expect_identical(found$shown, found$M)
  expect_identical(found$printed, 8L)
  expect_equal(found$seen, sort(colSums(matrix(found$M, 2))))
})

test_that("side effects happen in order on each device, and once outside", {
  mesh <- xla_mesh(c(a = 8))
  seen <- NULL
  tell <- ffi_callback(function(x) {
    seen <<- c(seen, x)
    x
  }, "x: f64[] -> y: f64[]", side_effect = "ordered")
  x <- matrix(as.double(1:16), 8)
  own <- xla_shard_map(function(x) {
    first <- tell(sum(x))
    second <- tell(-sum(x))
    x * (first + 2 * second)
  }, mesh, "a", "a")
  sums <- rowSums(x)
  expect_equal(own(x), -x * sums)
  expect_equal(sort(seen), sort(c(sums, -sums)))
  for (sum in sums) {
    expect_lt(match(sum, seen), match(-sum, seen))
  }
  seen <- NULL
  whole <- xla_jit(function(x) {
    hlo_custom_call("print_tensor", sum(x), list(), list(print_header = "total"), has_side_effect = TRUE)
    x * tell(sum(x))
  })
  printed <- utils::capture.output(found <- whole(xla_shard(x, mesh, "a")))
  expect_equal(as_array(found), x * sum(x))
  expect_identical(seen, sum(x))
  expect_identical(sum(printed == "total"), 1L)
})

test_that("what would be wrong, or would not end, is refused with its reason", {
  said <- local({
    mesh <- xla_mesh(c(data = 4, model = 2))
    x <- matrix(0, 8, 4)
    map <- function(f, ins = "data", outs = NULL, ...) xla_shard_map(f, mesh, ins, outs, ...)
    sums <- function(x) hlo_psum(x, "data")
    loop <- function(decide) {
      map(function(x) hlo_while(function(s) decide(s) < 3, function(s) s + hlo_psum(s, "data"), sum(x)), outs = NULL)
    }
    outcome <- function(expression) {
      found <- rlang::catch_cnd(expression)
      c("", if (is.null(found)) "fine" else sprintf("%s\n%s", class(found)[[1]], conditionMessage(found)))
    }
    cases <- list(
      quote(xla_jit(function(x) hlo_psum(x, "data"))(x)),
      quote(map(function(x) hlo_psum(x, "dta"))(x)),
      quote(map(function(x) hlo_psum(x, c("data", "data")))(x)),
      quote(map(function(x) hlo_psum(x, 1))(x)),
      quote(map(function(x) x)(x)),
      quote(map(function(x) list(a = hlo_psum(x, "data"), b = list(hlo_axis_index("model"))))(x)),
      quote(map(function(x) hlo_psum(x, "model"), check = FALSE)(x)[1]),
      quote(map(function(x) hlo_psum(sum(x), "data"), outs = "data")(x)),
      quote(map(function(x) x, ins = list("batch"))(x)),
      quote(map(function(x) x, ins = list(list("data", "data")))(x)),
      quote(map(function(x) x)(matrix(0, 6, 4))),
      quote(map(function(x, y) x, ins = list("data", "data", NULL))(x, x)),
      quote(map(function(x, y) x, ins = list(x = "data", z = NULL))(x, x)),
      quote(map(function(x) list(x, x), outs = list("data"))(x)),
      quote(map(function(x) map(function(x) x)(x))(x)),
      quote(map(function(x) hlo_pmax(x + 0i, "data"))(x)),
      quote(map(function(x) hlo_psum_scatter(x, "data"))(x)),
      quote(map(function(x) hlo_psum_scatter(x, "data", dim = 3, tiled = TRUE))(x)),
      quote(map(function(x) hlo_all_gather(sum(x), "data", tiled = TRUE))(x)),
      quote(map(function(x) hlo_all_to_all(x, "model", 2, 1))(x)),
      quote(map(function(x) hlo_ppermute(x, "data", list(c(1, 5))))(x)),
      quote(map(function(x) hlo_ppermute(x, "data", list(c(1, 2), c(3, 2))))(x)),
      quote(map(function(x) hlo_ppermute(x, "data", 1:4))(x)),
      quote(map(function(x) hlo_ppermute(x, "data", list(c(1, 2), 3)))(x)),
      quote(loop(function(s) s)(x)),
      quote(map(function(x) {
        hlo_cond(sum(x) > 0, function() hlo_psum(sum(x), "data"), function() 0)
      })(x)),
      quote(xla_shard_map(1, mesh, NULL, NULL)),
      quote(xla_shard_map(sum, 2, NULL, NULL)),
      quote(map(sum, ins = 3)(x)),
      quote(xla_jit(function(x) map(sums)(x) + xla_shard_map(sums, xla_mesh(c(data = 8)), "data", NULL)(x))(x))
    )
    lapply(cases, function(case) outcome(eval(case)))
  })
  expect_snapshot(cat(unlist(said), sep = "\n"))
})

test_that("values, gradients and second derivatives are those of jax.shard_map", {
  skip_unless_all()
  mesh <- xla_mesh(c(a = 4, b = 2))
  all <- c("a", "b")
  wide <- function(w) hlo_broadcast(w, c(2, 4), 2)
  functions <- list(
    gathered = function(x, w) {
      g <- hlo_all_gather(sin(x * wide(w)), "b", dim = 2, tiled = TRUE)
      hlo_psum(sum(g^2 * cbind(x, x)), all)
    },
    scattered = function(x, w) {
      part <- hlo_psum_scatter(exp(x) * wide(w), "a", dim = 2)
      hlo_pmean(sum(part^2) * sum(x), all)
    },
    sent = function(x, w) {
      y <- hlo_ppermute(x * wide(w), "a", list(c(1, 2), c(2, 4), c(4, 1)))
      hlo_psum(sum(y^2 * cos(x)), all)
    },
    exchanged = function(x, w) {
      y <- hlo_all_to_all(x, "a", split = 2, concat = 1, tiled = TRUE)
      hlo_psum(sum(y^3) * sum(wide(w) * x), all)
    },
    normalised = function(x, w) {
      s <- exp(x - hlo_psum(sum(x), "a"))
      hlo_psum(sum(wide(w) * s / hlo_psum(sum(s), all)), all)
    },
    placed = function(x, w) {
      hlo_psum(sum(sin(x * hlo_axis_index(c("b", "a"))) * wide(w)), all)
    }
  )
  x <- matrix(sin(1:64), 16)
  w <- c(0.5, 1, 1.5, 2)
  v <- matrix(cos(1:64), 16)
  recorded <- strsplit(readLines("jax-shard-map.csv"), ",", fixed = TRUE)
  expect_identical(vapply(recorded, `[[`, "", 1L), names(functions))
  for (row in recorded) {
    f <- xla_shard_map(functions[[row[[1L]]]], mesh, list(list(all), NULL), NULL)
    gradient <- xla_grad(f, 1:2, value = TRUE)
    found <- xla_jvp(function(x) gradient(x, w))(x, v)
    numbers <- unlist(list(found$value, found$tangent$gradient), use.names = FALSE)
    expect_equal(numbers, as.numeric(row[-1L]), tolerance = 1e-13, label = row[[1L]])
  }
})

test_that("each device goes through its own rows in blocks", {
  mesh <- xla_mesh(c(rows = 4))
  set.seed(3)
  x <- matrix(rnorm(240), 80)
  y <- rnorm(80)
  sums <- function(x, y) list(crossprod(x), drop(crossprod(x, y)))
  seen <- integer()
  counted <- function(x, y) {
    seen <<- c(seen, nrow(x))
    sums(x, y)
  }
  in_parts <- function(...) xla_shard_map(..., mesh = mesh, in_specs = "rows", out_specs = xla_spec())
  for (size in c(5, 6)) {
    seen <- integer()
    f <- in_parts(function(x, y) hlo_psum(hlo_block_sum(counted, x, y, size = size), "rows"))
    expect_equal(f(x, y), sums(x, y), tolerance = 1e-13)
    # One row more only shows whether shapes depend on it.
    expect_setequal(seen, c(size, size + 1, if (size == 6) 2))
  }
  squares <- function(x, y) sum((x %*% 1:3 - y)^2)
  loss <- in_parts(function(x, y) hlo_psum(hlo_block_sum(squares, x, y, size = 5), "rows"))
  expect_equal(xla_grad(loss)(x, y), 2 * (x %*% 1:3 - y) %*% t(1:3), tolerance = 1e-13, ignore_attr = TRUE)
  # XLA shares out what is outside of such functions: there are no blocks.
  seen <- integer()
  whole <- xla_jit(function(x, y) hlo_block_sum(counted, x, y, size = 5))
  out <- whole(xla_shard(x, mesh, "rows"), xla_shard(y, mesh, "rows"))
  expect_equal(lapply(out, function(sum) c(as_array(sum))), lapply(sums(x, y), c), tolerance = 1e-13)
  expect_identical(seen, 80:81)
})

test_that("large constants reach each device, inside of the function and outside", {
  mesh <- xla_mesh(c(data = 4, model = 2))
  wide <- matrix(sin((1:1600)^2) / 40, 40)
  x <- matrix(cos(1:320), 8)
  inner <- xla_shard_map(function(x) {
    y <- hlo_fori(1, 2, function(i, y) y %*% wide, x)
    y %*% wide
  }, mesh, "data", "data")
  found <- list(
    inner = inner(x), both = xla_jit(function(x) inner(x %*% wide) %*% wide)(x),
    outer = as_array(xla_jit(function(x) x %*% wide + wide[1:8, ])(xla_shard(x, mesh, c("data", "model")))),
    slope = xla_grad(function(x) sum(inner(x)^2))(x)
  )
  whole <- x %*% wide %*% wide %*% wide
  expect_equal(found$outer, x %*% wide + wide[1:8, ])
  expect_equal(found$inner, whole)
  expect_equal(found$both, x %*% wide %*% wide %*% wide %*% wide %*% wide)
  expect_equal(found$slope, 2 * whole %*% t(wide %*% wide %*% wide))
})
