# On 4 x 2 devices: `a` is the slower axis, so device (i, j) has the rows of block 2 * (i - 1) + j.
x <- matrix(sin(1:64), 16)
blocks <- lapply(1:8, function(k) x[2 * k - 1:0, ])
at <- function(i, j) blocks[[2 * (i - 1) + j]]
along_a <- function(j) lapply(1:4, at, j)
along_b <- function(i) lapply(1:2, function(j) at(i, j))
rows <- function(parts) do.call(rbind, parts)
each_device <- function(f) rows(lapply(1:8, function(k) f((k + 1) %/% 2, (k - 1) %% 2 + 1)))

test_that("collectives compute what they say, along one axis and several", {
  found <- local({
    x <- matrix(sin(1:64), 16)
    both <- list(c("a", "b"))
    mesh <- xla_mesh(c(a = 4, b = 2))
    place <- function(axis) hlo_reshape(hlo_axis_index(axis), 1)
    f <- xla_shard_map(function(x, i, z, p) {
      list(
        sum_a = hlo_psum(x, "a"), sum_b = hlo_psum(x, "b"), sum = hlo_psum(x, c("a", "b")), mean = hlo_pmean(x, "a"),
        max = hlo_pmax(x, "a"), min = hlo_pmin(x, c("b", "a")), int = hlo_psum(i, "a"), mean_int = hlo_pmean(i, "b"),
        complex = hlo_psum(z, c("a", "b")), true = hlo_psum(p, c("a", "b")), imax = hlo_pmax(i, c("a", "b")),
        tree = hlo_psum(list(u = x[1, ], v = list(1)), "b"),
        at_a = place("a"), at_b = place("b"), at_ab = place(c("a", "b")), at_ba = place(c("b", "a")),
        size = c(hlo_axis_size("a"), hlo_axis_size("b"), hlo_axis_size(c("a", "b"))),
        tiled = hlo_all_gather(x, "a", tiled = TRUE), columns = hlo_all_gather(x, "b", dim = 2, tiled = TRUE),
        stacked = hlo_all_gather(x, c("a", "b"), dim = 3), reordered = hlo_all_gather(x, c("b", "a"), tiled = TRUE),
        flags = hlo_all_gather(p, c("a", "b"), tiled = TRUE),
        scattered = hlo_psum_scatter(x, "a", dim = 2), part = hlo_psum_scatter(x, "b", dim = 2, tiled = TRUE),
        ring = hlo_ppermute(x, "a", list(c(1, 2), c(2, 3), c(3, 4), c(4, 1))),
        shift = hlo_ppermute(x, c("a", "b"), cbind(1:7, 2:8)),
        cut = hlo_all_to_all(x, "a", split = 2, concat = 1), swapped = hlo_all_to_all(x, "b", 1, 1),
        tiles = hlo_all_to_all(x, "a", split = 2, concat = 1, tiled = TRUE)
      )
    }, mesh,
    in_specs = list(both, both, both, both),
    out_specs = list(
      "b", "a", NULL, "b", "b", NULL, "b", "a", NULL, NULL, NULL, "a", "a", "b", both, list(c("b", "a")), NULL,
      "b", "a", NULL, NULL, NULL, both, both, both, both, both, both, both
    ))
    f(x, matrix(1:64, 16), x[, 1] + 1i, x[, 1] > 0)
  })
  b_rows <- function(f) rows(list(f(1), f(2)))
  a_rows <- function(f) rows(lapply(1:4, f))
  expect_equal(found$sum_a, b_rows(function(j) Reduce(`+`, along_a(j))))
  expect_equal(found$sum_b, a_rows(function(i) Reduce(`+`, along_b(i))))
  expect_equal(found$sum, Reduce(`+`, blocks))
  expect_equal(found$mean, b_rows(function(j) Reduce(`+`, along_a(j)) / 4))
  expect_identical(found$max, b_rows(function(j) do.call(pmax, along_a(j))))
  expect_identical(found$min, do.call(pmin, blocks))
  int <- matrix(1:64, 16)
  own <- function(k) int[2 * k - 1:0, ]
  expect_identical(found$int, b_rows(function(j) Reduce(`+`, lapply(0:3, function(i) own(2 * i + j)))))
  expect_identical(found$mean_int, a_rows(function(i) (own(2 * i - 1) + own(2 * i)) / 2))
  expect_identical(found$imax, own(8))
  expect_equal(found$complex, c(sum(x[c(TRUE, FALSE), 1]), sum(x[c(FALSE, TRUE), 1])) + 8i)
  expect_identical(found$true, c(sum(x[c(TRUE, FALSE), 1] > 0), sum(x[c(FALSE, TRUE), 1] > 0)))
  expect_equal(found$tree, list(
    u = c(vapply(1:4, function(i) at(i, 1)[1, ] + at(i, 2)[1, ], numeric(4))), v = list(rep(2, 4))
  ))
  expect_identical(found[c("at_a", "at_b", "at_ab", "at_ba")], list(at_a = 1:4, at_b = 1:2, at_ab = 1:8, at_ba = 1:8))
  expect_equal(found$size, c(4, 2, 8))
  expect_identical(found$tiled, b_rows(function(j) rows(along_a(j))))
  expect_identical(found$columns, a_rows(function(i) do.call(cbind, along_b(i))))
  expect_identical(found$stacked, array(unlist(blocks), c(2, 4, 8)))
  expect_identical(found$reordered, rows(c(along_a(1), along_a(2))))
  expect_identical(found$flags, x[, 1] > 0)
  expect_equal(found$scattered, c(each_device(function(i, j) cbind(Reduce(`+`, along_a(j))[, i]))))
  expect_equal(found$part, each_device(function(i, j) Reduce(`+`, along_b(i))[, 2 * j - 1:0]))
  expect_identical(found$ring, each_device(function(i, j) at((i + 2) %% 4 + 1, j)))
  expect_identical(found$shift, rows(c(list(matrix(0, 2, 4)), blocks[1:7])))
  cut <- each_device(function(i, j) t(vapply(along_a(j), function(block) block[, i], numeric(2))))
  expect_identical(found$cut, cut)
  expect_identical(found$swapped, each_device(function(i, j) rows(lapply(along_b(i), function(block) block[j, ]))))
  tiles <- each_device(function(i, j) cbind(unlist(lapply(along_a(j), function(block) block[, i]))))
  expect_identical(found$tiles, tiles)
})

test_that("a permutation in which nobody sends gives zeros", {
  f <- xla_shard_map(function(x) hlo_ppermute(x, "a", list()), xla_mesh(c(a = 4L)), "a", "a")
  expect_identical(f(c(1, 2, 3, 4)), numeric(4))
})

test_that("arrays without elements go through all of them, with their gradients", {
  mesh <- xla_mesh(c(data = 8))
  mapped <- function(f, from, to) function(x) xla_shard_map(f, mesh, from, to)(x)
  cases <- list(
    list(function(x) hlo_all_gather(x, "data", tiled = TRUE), "data", NULL, numeric()),
    list(function(x) hlo_psum_scatter(x, "data", tiled = TRUE), NULL, "data", matrix(0, 0, 3)),
    list(function(x) hlo_all_to_all(x, "data", 1, 2, tiled = TRUE), NULL, "data", matrix(0, 8, 0)),
    list(function(x) hlo_psum(x, "data"), NULL, NULL, numeric()),
    list(function(x) hlo_pmax(x, "data"), "data", NULL, numeric())
  )
  for (case in cases) {
    f <- do.call(mapped, unname(case[1:3]))
    x <- case[[4L]]
    expect_identical(length(as_array(xla_jit(f)(xla_shard(x, mesh, xla_spec())))), 0L)
    slope <- as_array(xla_grad(function(x) sum(f(x)))(xla_shard(x, mesh, xla_spec())))
    expect_equal(slope, x, ignore_attr = is.null(dim(x)), label = deparse1(case))
  }
})
