set.seed(5)
data <- list(
  x = c(3, -1, 2, 0.5, -4, 7, 1.5), m = matrix(rnorm(12), 3), a = array(rnorm(24), 2:4), k = c(4L, 2L, 9L),
  l = c(TRUE, FALSE, TRUE)
)

test_that("indices that are known take what they take in R", {
  skip_without_plugin()
  expect_as_r(
    x[c(2, 5, 1)], x[-1], x[-c(1, 3)], x[c(TRUE, FALSE)], x[rep(1:3, 4)], x[c(0, 2)], x[9], x[c(1, NA)], x[7:1],
    x[c(6, 4, 2)], x[rep(2, 3)], x[integer()], x[], x[2.9], x[c(TRUE, NA, FALSE)], x[rep(TRUE, 9)], x[NULL], x[0],
    x[-9],
    l[-1], k[-(1:3)],
    m[2, ], m[, 2], m[2, 3], m[-1, ], m[, c(4, 1)], m[c(TRUE, FALSE, TRUE), 2:3], m[2, , drop = FALSE], m[5],
    m[c(1, 7, 2)], m[cbind(c(1, 3), c(2, 4))], m[cbind(1, 2)], m[2:3, c(1, 1, 4)], m[], m[, ], m[-(1:3), ], m[14],
    m[lower.tri(m)], m[7:2], m[1, , drop = FALSE][, 2:3], m[cbind(c(0, 1), 2)], m[cbind(c(NA, 1), 2)], m[, 0],
    a[, , 1], a[1, , ], a[1, 2, 3], a[, c(3, 1), -1], a[7], a[cbind(1, 2, 3:4)], a[1, , 1, drop = FALSE], a[2, 2, ],
    a[c(TRUE, FALSE)], a[, , 2:3], a[2, 3:1, c(1, 4)],
    x[[3]], m[[2, 3]], m[[5]], a[[1, 2, 3]], x[1][1], list(x, m)[[2]], list(x, m)[-1],
    data = data
  )
})

test_that("what is left of a vector is a vector, and one element that is named a scalar", {
  skip_without_plugin()
  shapes <- list()
  xla_jit(function(x) {
    shapes <<- list(shape(x[-1]), shape(x[c(FALSE, TRUE)]), shape(x[2]), shape(x["b"]))
    x
  })(c(a = 1, b = 2))
  expect_identical(shapes, list(1L, 1L, integer(), integer()))
  expect_identical(xla_jacobian(function(x) x[-1]^2)(c(1, 2)), rbind(c(0, 4)))
  turns <- xla_jit(function(x) hlo_scan(function(sum, z) list(sum + z, sum * z), x[1], x[-1]))
  expect_identical(turns(c(1, 2))$y, 2)
})

test_that("names of R's own vectors and matrices stay, and grow, where values are assigned", {
  skip_without_plugin()
  x <- c(a = 1.5, b = 2.5, c = 3.5)
  functions <- list(
    function(x) {
      r <- c(a = 0, b = 0)
      r["a"] <- x[1]
      r["b"] <- x[2]
      sum(r[c("b", "a")] * 1:2)
    },
    function(x) {
      m <- matrix(NA, 2, 2, dimnames = list(NULL, c("p", "q")))
      m[1, "p"] <- x[1]
      m[, "q"] <- x[1:2]
      m
    },
    function(x) {
      r <- c()
      r["a"] <- x[1]
      r[["b"]] <- 2 * x[2]
      r["a"] <- r["b"] + 1
      list(r, r["a"], r[["b"]])
    },
    function(x) {
      r <- c(1, 2)
      r["c"] <- x[1]
      x["z"] <- 5
      list(r, r["c"], x["z"], x)
    },
    function(x) c(x[NA_integer_], x[c(1, NA)])
  )
  found <- xla_jit(function(x) lapply(functions, function(f) f(x)))(x)
  expect_equal(unlist(found), unlist(lapply(functions, function(f) f(x))), ignore_attr = TRUE)
  expect_no_warning(listed <- xla_jit(function(x) {
    r <- list()
    r["a"] <- x[1]
    r
  })(x))
  expect_identical(listed, list(a = 1.5))
})

test_that("an element put into NULL makes a list, as in R", {
  skip_without_plugin()
  f <- function(x) {
    named <- c()
    named[["mu"]] <- x[1]
    named[["sd"]] <- 2 * x[1]
    numbered <- NULL
    numbered[[1]] <- x[2]
    numbered[[2]] <- x
    far <- NULL
    far[[3]] <- x[1]
    turns <- NULL
    for (i in 1:100) turns[[i]] <- x[1] * i
    list(named, numbered, far[[3]], named$mu + length(far) + is.list(turns) + sum(unlist(turns)))
  }
  expect_equal(xla_jit(f)(c(2, 3)), f(c(2, 3)))
  put <- function(x, i) {
    found <- NULL
    found[[i]] <- x
    found
  }
  expect_error(xla_jit(put)(1, 2), "must be known while the program is written")
})

test_that("indices that are values are positions", {
  skip_without_plugin()
  data <- c(data, list(i = 3L, j = c(2L, 4L, 2L), p = cbind(c(1L, 2L), c(3L, 1L)), d = 2.9))
  expect_as_r(
    x[i], x[j], x[d], x[[i]], m[i, ], m[, j], m[i, j], m[i, 2:3], m[c(i, i), j], m[i, d], m[j], m[i], m[p],
    a[i - 1L, , j],
    a[j], a[, i, 2], m[i, , drop = FALSE], k[i], l[i], m[[i, 2]], c(10, 20, 30)[i], matrix(1:6, 2)[1, i], x[j + 1],
    data = data
  )
  expect_as_r(x[-i], m[-i, ], m[2, -i], x[-d], `[<-`(x, -i, 0), `[<-`(m, -i, 2, 1:2), data = data)
  expect_identical(xla_jit(function(x, i) x[-i])(data$x, 9L), rep(NaN, 6))
  without_each <- xla_vmap(function(x, i) mean(x[-i]), list(NULL, 1))
  expect_equal(without_each(data$x, 1:7), vapply(1:7, function(i) mean(data$x[-i]), 0))
  outside <- xla_jit(function(x, k, l, i) list(x[i], k[i], l[i], x[i[2]], x[i / 0]))
  expect_equal(
    outside(data$x, data$k, data$l, c(3L, 8L, 0L, -1L)),
    list(c(2, NaN, NaN, NaN), c(9L, NA, NA, NA), c(TRUE, FALSE, FALSE, FALSE), NaN, rep(NaN, 4))
  )
  expect_equal(xla_jit(function(x, i) x[i])(numeric(), 1:2), c(NaN, NaN))
})

test_that("NA of integers is NA in what is in order, extreme or running, and in bits", {
  skip_without_plugin()
  f <- function(i, k) {
    j <- c(i, i[k], 5L)
    list(
      sort(j, na.last = TRUE), sort(j, TRUE, na.last = FALSE), order(j), order(j, decreasing = TRUE),
      order(c(1L, i[k], 1L), 3:1), rank(j, na.last = TRUE), rank(j, na.last = "keep", ties.method = "min"),
      median(c(j, 1L)[-1L]), median(j), range(j), range(j, na.rm = TRUE),
      range(j, finite = TRUE), max(j), min(j, na.rm = TRUE), cummax(j), cummin(j), pmax(j, 3L), pmin(3L, j),
      pmax(j, 3L, na.rm = TRUE), pmin(j, rev(j), na.rm = TRUE), bitwAnd(j, 3L), bitwOr(1L, j), bitwXor(j, j),
      bitwNot(j), bitwShiftL(j, 1L), sum(pmin(j, 3L)), mean(cummin(j)), is.na(sort(j, na.last = TRUE)), median(j[-1L])
    )
  }
  i <- c(4L, 2L, 7L)
  expected <- f(i, 9L)
  # Doubles: a mean, and the median of an even number
  expected[c(27L, length(expected))] <- NaN
  expect_identical(xla_jit(f)(i, 9L), expected)
  expect_identical(xla_jit(function(i, k) median(c(i, i[k]), na.rm = TRUE))(i, 9L), 4)
  # Of complex numbers both parts are
  z <- c(1 + 2i, 3 - 1i)
  parts <- xla_jit(function(z) {
    length(z) <- 3
    list(Re(z), Im(z), Im(z[7]))
  })(z)
  expect_identical(parts, list(c(1, 3, NaN), c(2, -1, NaN), NaN))
})

test_that("integers have no NA; what is read outside of them is NA where it is computed with", {
  skip_without_plugin()
  trace <- function(f) xla_jit(f)(data$k)
  expect_snapshot(error = TRUE, {
    trace(function(k) k[5])
    trace(function(k) k[c(2, NA)])
    trace(function(k) replace(k, 5, 1L))
    trace(function(k) replace(k, 1, NA))
    trace(function(k) matrix(k[0], 2, 2))
  })
  expect_identical(trace(function(k) replace(c(1.5, 2), 1, as.double(k)[5])), c(NaN, 2))
  f <- function(k, i, d, x) {
    y <- k[i]
    list(
      y, y + 1L, 1L - y, y * 2L, -y, abs(y), y %/% 2L, y %% 2L, k %/% d, k %/% d + 1, y + 0.5, y / 2L, y^2,
      as.double(y), mean(y), sum(y), sum(y, 1L), sum(y, na.rm = TRUE), max(y), max(y, na.rm = TRUE), min(y),
      min(y, 1L, na.rm = TRUE),
      c(y, 1.5), c(y, 1L), rev(y), y[2:1] + 0.5, x[y], sqrt(y), cumsum(y)[1:2], var(y),
      sort(k)[i] * 1.5, ifelse(x > 0, y, 0)
    )
  }
  given <- list(data$k, c(2L, 9L), c(1L, 0L, 2L), c(1, 2))
  expect_equal(lapply(do.call(xla_jit(f), given), as.vector), suppressWarnings(do.call(f, given)))
  # Logicals have none: FALSE, as where NaN is compared.
  compared <- xla_jit(function(k, i) list(k[i] > 0L, k[i] < 0L, k[i] == k[i], k[i] != 1L, k[i] <= 3.5))
  expect_identical(compared(data$k, 9L), list(FALSE, FALSE, FALSE, TRUE, FALSE))
})

test_that("assignment changes what it changes in R", {
  skip_without_plugin()
  expect_as_r(
    `[<-`(x, 2, 9), `[<-`(x, c(5, 1), x[1:2]), `[<-`(x, -1, 0), `[<-`(x, c(TRUE, FALSE), 1), `[<-`(x, 3:5, 7),
    `[<-`(x, 9, 1), `[<-`(x, c(2, 2, 2), c(1, 2, 3)), `[[<-`(x, 4, 5), `[<-`(x, , 1), `[<-`(x, c(1, 3), x[7]),
    `[<-`(x, integer(), 1), `[<-`(x, 0, 4), `[<-`(x, c(7, 9, 2), 1:3), `[<-`(x, 2, NA), `[<-`(x, 3, TRUE),
    `[<-`(k, 2, 1.5), `[<-`(k, 2, 9L), `[<-`(k, 4, 1L), `[<-`(l, 2, 3L), `[<-`(l, 2, TRUE),
    `[<-`(numeric(3), 2, x[1]), `[<-`(NULL, 2, x[1]), `[<-`(rep(NA, 3), 2, x[1]), `[<-`(1:3, 2, k[1]),
    `[[<-`(list(1), 2, x),
    `[<-`(m, 2, , 1:4), `[<-`(m, , 2, x[1:3]), `[<-`(m, 2, 3, 0), `[<-`(m, -1, c(1, 3), matrix(1:4, 2)),
    `[<-`(m, c(3, 1), c(4, 1, 2), 1:6), `[<-`(m, 5, 0), `[<-`(m, c(1, 7, 2), 1:3), `[<-`(m, , 1:6),
    `[<-`(m, cbind(c(1, 3), c(2, 4)), c(5, 6)), `[<-`(m, 2, , m[1, ]), `[<-`(m, c(1, 1, 3), 2, c(7, 8, 9)),
    `[<-`(m, , , 0), `[<-`(m, c(1, 3), , m[c(3, 1), ]), `[<-`(m, upper.tri(m), 0), `[<-`(m, 0, 1, 5),
    `[<-`(a, 1, 2, , 0), `[<-`(a, , c(1, 3), 2, 1:4), `[<-`(a, 2, , c(4, 1), 1:6), `[<-`(a, cbind(1, 2, 3:4), 9),
    `[<-`(a, c(1, 24, 7), 1:3), `[<-`(a, , , 1, m[1:2, 1:3]),
    `[<-`(x, x > 0, 0), `[<-`(m, m > 0, 1), `[<-`(m, x[1:3] > 0, , 0), `[<-`(m, x[1:3] > 0, 2, 0), `[<-`(x, k > 3L, 1),
    `[<-`(m, x[1:3] > 0, m[1, ] > 0, 0), `[<-`(m, x > 0, 2), `[<-`(k, k > 2L, 0.5),
    data = data
  )
  in_place <- function(x) {
    out <- x * 0
    for (i in seq_along(x)) out[i] <- sum(x[seq_len(i)])
    out[[1]] <- 100
    out
  }
  expect_equal(xla_jit(in_place)(data$x), in_place(data$x))
})

test_that("R's own numbers, lists and loops take values", {
  skip_without_plugin()
  expect_as_r(
    {
      out <- numeric(length(x))
      for (i in seq_along(x)) out[i] <- x[i]^2
      out
    },
    {
      out <- c()
      for (v in x) out <- c(out, v * 2)
      out
    },
    {
      out <- matrix(0, 3, 3)
      for (i in 1:3) for (j in 1:3) out[i, j] <- x[i] * x[j]
      out
    },
    {
      parts <- list()
      for (i in 1:3) parts[[i]] <- x[i]
      parts$last <- m
      parts$last[2, ] <- 0
      parts[["first"]][2] <- 1
      parts$last
    },
    {
      x[x < 0] <- 0
      x[[3]] <- 4
      x[2] <- x[2] + 1
      x
    },
    {
      m[1, ] <- 0
      m[, 2] <- m[, 2] * 2
      m[m < 0] <- NA
      is.na(m)
    },
    data = data
  )
})

test_that("assignment takes positions that are values, the last of several", {
  skip_without_plugin()
  data <- c(data, list(i = 3L, j = c(2L, 4L, 2L), p = cbind(c(1L, 2L, 1L), c(3L, 1L, 3L)), d = 2.9))
  expect_as_r(
    `[<-`(x, i, 9), `[<-`(x, j, 1:3), `[<-`(x, d, 9), `[[<-`(x, i, 9), `[<-`(m, i, , 1:4), `[<-`(m, i, c(1, 4), 1:2),
    `[<-`(m, j[c(1, 3)], 2, 1:2), `[<-`(m, j[c(1, 3)], c(1, 4), 1:4), `[<-`(m, , j, 1:9), `[<-`(m, i, d, 5),
    `[<-`(m, p, 1:3),
    `[<-`(m, j, 0), `[<-`(a, , i, j, 1:6), `[<-`(m, i, -1, 9), `[<-`(a, 1:2, i, c(1, 4), 1:4), `[<-`(numeric(4), i, 2),
    data = data
  )
  outside <- xla_jit(function(x, i) list(`[<-`(x, i, 1:3), `[<-`(x, i[1], 5), `[<-`(x, i[2], 5)))
  expect_equal(outside(data$x, c(9L, 2L, 0L)), list(replace(data$x, 2, 2), data$x, replace(data$x, 2, 5)))
})

test_that("what is read and replaced has derivatives and batches", {
  skip_without_plugin()
  f <- function(x, m, i) {
    x[i] <- m[i, 2]
    m[c(3, 1), ] <- m[i, ] * x[1:4]
    m[2, x[1:4] > 0] <- x[3]
    m[2:3, i] <- x[i]^2
    x[c(1, 4, 4)] <- m[cbind(1:3, 2:4)]
    sum(sin(x)) + sum(m^2 * c(m[7:1], x[-(1:2)])) + x[[2]] * m[i, ][1, 2]
  }
  x <- data$x
  m <- data$m
  i <- c(3L, 1L)
  expect_gradient(f, x, m, i)
  skip_unless_all()
  expect_gradient(f, x, m, i, wrt = 2)
  slope <- xla_grad(f)
  expect_gradient(function(x, m, i) sum(slope(x, m, i)^2), x, m, i)
  many <- list(rbind(x, x + 0.1, x * 0.9), aperm(array(c(m, m * 2, m - 1), c(3, 4, 3)), c(3, 1, 2)),
    rbind(i, c(2L, 2L), 1:2))
  one <- xla_jit(f)
  for (axes in list(list(1, 1, 1), list(1, NULL, 1), list(NULL, 1, NULL), list(NULL, NULL, 1))) {
    at <- function(number, k) if (length(axes[[number]])) k else 1
    pick <- function(k) one(many[[1]][at(1, k), ], many[[2]][at(2, k), , ], many[[3]][at(3, k), ])
    arguments <- list(many[[1]], many[[2]], many[[3]])
    if (is.null(axes[[1]])) arguments[[1]] <- many[[1]][1, ]
    if (is.null(axes[[2]])) arguments[[2]] <- many[[2]][1, , ]
    if (is.null(axes[[3]])) arguments[[3]] <- many[[3]][1, ]
    expect_equal(do.call(xla_vmap(f, axes), arguments), vapply(1:3, pick, 0), tolerance = 1e-12)
  }
})

test_that("errors say what an index must be", {
  skip_without_plugin()
  trace <- function(f) invisible(xla_program(f, data$x, data$m))
  expect_snapshot(error = TRUE, {
    trace(function(x, m) x[x > 0])
    trace(function(x, m) m[4, ])
    trace(function(x, m) x[c(1, -1)])
    trace(function(x, m) x["a"])
    trace(function(x, m) x[[9]])
    trace(function(x, m) x[[1:2]])
    trace(function(x, m) m[1, 1, 1])
    trace(function(x, m) x[1, 2])
    trace(function(x, m) m[cbind(1, 9)])
    trace(function(x, m) (x > 0)[9])
    trace(function(x, m) x[1i])
    trace(function(x, m) x[-x])
    trace(function(x, m) x[[-x[1]]])
    trace(function(x, m) x[(x * 1i)])
    trace(function(x, m) `[<-`(x, 1:3, 1:2))
    trace(function(x, m) `[<-`(x, NA, 1))
    trace(function(x, m) `[<-`(m, 13, 1))
    trace(function(x, m) `[<-`(x, x > 0, x))
    trace(function(x, m) `[[<-`(x, 1, 1:2))
    trace(function(x, m) `[<-`(m, x[1:3] > 0, x[1], 0))
    trace(function(x, m) `[<-`(x, 2, "a"))
    trace(function(x, m) `[<-`(x, 2, numeric()))
    trace(function(x, m) `[<-`(x > 0, 9, TRUE))
  })
})

test_that("batches at positions of their own have derivatives in reverse mode", {
  skip_without_plugin()
  skip_unless_all()
  f <- function(x, i) {
    x[i] <- x[i]^2
    sum(sin(x[i]) * x[c(1, 3)]) + x[[i]]^3
  }
  whole <- function(x, i) sum(xla_vmap(f, list(1, 1))(x, i))
  x <- matrix(cos(1:12), 3)
  i <- c(2L, 4L, 1L)
  expect_gradient(whole, x, i)
  expect_equal(xla_jit(whole)(x, i), sum(vapply(1:3, function(k) f(x[k, ], i[[k]]), 0)))
})

test_that("names of arguments select as in R, and belong to the program", {
  skip_without_plugin()
  p <- c(a = 1, b = 2, c = 3)
  m <- matrix(1:6 + 0.5, 2, dimnames = list(c("u", "v"), c("x", "y", "z")))
  herd <- factor(c("q", "r", "q"))
  f <- function(p, m, l) {
    given <- c(first = 7, second = 8)
    given["second"] <- p["a"]
    q <- p
    q["b"] <- 10
    q[["c"]] <- 20
    w <- p[2:3] * 2
    names(w) <- c("k", "l")
    n <- m * 2
    colnames(n) <- c("A", "B", "C")
    list(
      p["b"], p[["c"]], p[c("c", "a")], p[c("c", "a")]["a"], m["v", "y"], m[, "z"], m["u", ], m[, colnames(m) == "y"],
      m[rownames(m) != "u", ], p[names(p) %in% c("a", "c")], given, q, q["b"], w["l"], n[2, "C"], n[, c("C", "A")],
      l$beta["x"], l$beta[["y"]], m[cbind(1, 2)], p[herd], length(names(p)) * p[["a"]], p[as.integer(m[1, 1])],
      sum(unname(p)), setNames(p, c("f", "g", "h"))["g"]
    )
  }
  bare <- function(x) lapply(x, function(x) if (length(dim(x)) > 1L) unname(x) else as.vector(x))
  beta <- list(beta = c(x = 4, y = 5))
  expect_equal(bare(xla_jit(f)(p, m, beta)), bare(f(p, m, beta)))
  # Other names: another program
  pick <- xla_jit(function(p) p[["b"]])
  expect_identical(pick(p), 2)
  expect_identical(pick(c(b = 5, a = 6, c = 7)), 5)
  expect_identical(pick(p), 2)
  expect_snapshot(error = TRUE, {
    pick(c(1, 2, 3))
    pick(c(d = 1))
    xla_jit(function(p) (p * 2)["b"])(p)
    xla_jit(function(m) m[, colnames(m * 2) == "y"])(m)
    xla_jit(function(m) m["w", 1])(m)
    xla_jit(function(m) m["x"])(m)
  })
  expect_identical(xla_grad(function(p) p[["b"]]^2 + p["a"])(p), c(1, 4, 0))
  expect_identical(xla_vmap(function(x, p) x * p[["b"]], list(1, NULL))(c(1, 2), p), c(2, 4))
  distance <- function(p, y) sum((p$beta["x"] - y["k"])^2) + p$s^2
  objective <- xla_objective(distance, list(beta = c(x = 3, y = 1), s = 2), y = c(j = 9, k = 1))
  expect_identical(objective$fn(objective$par), 8)
})
