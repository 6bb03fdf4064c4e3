test_that("bits of integers and logicals are as R has them", {
  skip_without_plugin()
  x <- c(0L, 1L, 5L, -7L, .Machine$integer.max)
  y <- c(3L, 1L, 4L, 2L, 31L)
  out <- xla_jit(function(x, y) {
    list(
      xlaffi:::overload_bitwAnd(x, y), xlaffi:::overload_bitwOr(x, 6L), xlaffi:::overload_bitwXor(x, y),
      xlaffi:::overload_bitwNot(x),
      xlaffi:::overload_bitwShiftL(x, 3L), xlaffi:::overload_bitwShiftR(x, y), hlo_shift_right_arithmetic(x, y),
      hlo_popcnt(x), hlo_count_leading_zeros(x)
    )
  })(x, y)
  bits <- function(x) vapply(x, function(x) sum(intToBits(x) == 1), 0L)
  expect_identical(out, list(
    bitwAnd(x, y), bitwOr(x, 6L), bitwXor(x, y), bitwNot(x), bitwShiftL(x, 3L), bitwShiftR(x, y),
    as.integer(floor(x / 2^y)), bits(x), vapply(x, function(x) sum(cumsum(rev(intToBits(x) == 1)) == 0), 0L)
  ))
  logicals <- c(TRUE, TRUE, FALSE, FALSE)
  out <- xla_jit(function(x, y) list(hlo_and(x, y), hlo_or(x, y), hlo_xor(x, y), hlo_not(x)))(logicals, rev(logicals))
  expect_identical(out, list(
    logicals & rev(logicals), logicals | rev(logicals), xor(logicals, rev(logicals)), !logicals
  ))
  # A shift by all bits leaves nothing.
  expect_identical(xla_jit(function(x, y) hlo_shift_left(x, y))(1:2, c(32L, 33L)), c(0L, 0L))
})

test_that("bits are read as another dtype", {
  skip_without_plugin()
  x <- c(0, 1, -2.5)
  out <- xla_jit(function(x) {
    halves <- hlo_bitcast_convert(x, "i32")
    list(hlo_bitcast_convert(x, "i64"), halves, hlo_bitcast_convert(halves, "f64"))
  })(x)
  raw <- lapply(x, function(x) writeBin(x, raw(), endian = "little"))
  expect_identical(unclass(out[[1]]), x)
  expect_identical(out[[2]], t(vapply(raw, readBin, integer(2), what = "integer", n = 2, endian = "little")))
  expect_identical(out[[3]], x)
  batch <- xla_vmap(function(x) hlo_bitcast_convert(x, "i32"))(matrix(x, 3, 1))
  expect_identical(batch, array(out[[2]], c(3, 1, 2)))
  # What has no bits of its own, or not as many
  expect_snapshot(error = TRUE, {
    xla_jit(function(x) hlo_bitcast_convert(x, "pred"))(1)
    xla_jit(function(x) hlo_bitcast_convert(x, "f64"))(1:3)
    xla_jit(function(x) hlo_shift_left(x, 1))(1)
    xla_jit(function(x) xlaffi:::overload_bitwAnd(x, 1))(1)
    xla_jit(function(x) xlaffi:::overload_bitwShiftL(x, 32L))(1L)
  })
})
