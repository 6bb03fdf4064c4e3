# What a handler is told, as it says itself: `name=type:value`, in the order of the names.
decoded <- function(attributes, length = 400L) {
  pjrt_register_custom_call("write_attributes", list(host = handlers("write_attributes"))) |> suppressMessages()
  tell <- ffi_call("write_attributes", ffi_type("ui8", length), attributes)
  trimws(rawToChar(as.raw(tell())))
}

test_that("each R type arrives as the type that the help promises", {
  skip_without_plugin()
  expect_identical(
    decoded(list(
      flag = TRUE, int = -7L, double = 0.1, long = bit64::as.integer64("9007199254740993"), text = "abc",
      ints = 1:3, doubles = c(0.5, Inf), longs = bit64::as.integer64(c(1, -2)),
      one = I(5L), one_double = I(2.5), none = integer(), nested = list(a = 1L, b = list(c = "x", d = FALSE)),
      empty = list()
    )),
    paste(
      "double=f64:0.10000000000000001 doubles=f64[0.5,inf] empty={} flag=i1:1 int=i32:-7 ints=i32[1,2,3]",
      "long=i64:9007199254740993 longs=i64[1,-2] nested={a=i32:1 b={c=\"x\" d=i1:0}} none=i32[]",
      "one=i32[5] one_double=f64[2.5] text=\"abc\""
    )
  )
  expect_identical(decoded(list()), "")
})

test_that("types that are asked for arrive", {
  skip_without_plugin()
  as <- ffi_attribute
  largest <- bit64::as.integer64("9223372036854775807")
  for (dtype in one_in(3L, c("i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64"))) {
    expect_identical(
      decoded(list(a = as(100, dtype), b = as(c(1, 100, 1), dtype), c = as(numeric(), dtype), d = as(3L, dtype, TRUE))),
      gsub("type", dtype, "a=type:100 b=type[1,100,1] c=type[] d=type[3]")
    )
  }
  expect_identical(
    decoded(list(
      a = as(255, "u8"), b = as(-2^63, "i64"), c = as(largest, "i64"), d = as(largest, "ui64"),
      e = as(2^64 - 2^11, "ui64"), f = as(0.1, "f32"), g = as(c(1L, 2L), "f32"), h = as(NaN), i = as(1e-300),
      j = as(TRUE, "bool")
    )),
    paste(
      "a=ui8:255 b=i64:-9223372036854775808 c=i64:9223372036854775807 d=ui64:9223372036854775807",
      "e=ui64:18446744073709549568 f=f32:0.10000000149011612 g=f32[1,2] h=f64:nan i=f64:1e-300 j=i1:1"
    )
  )
})

test_that("strings arrive byte for byte, names too", {
  skip_without_plugin()
  for (text in one_in(3L, c("", "a\"b\\c", "line\nbreak\ttab", "\u00e4\u4e2d", "\\0A", "%d {x}", "\001"))) {
    expect_identical(charToRaw(decoded(list(a = text))), charToRaw(enc2utf8(sprintf("a=\"%s\"", text))))
  }
  expect_identical(decoded(list(`a "b"` = 1L, `x.y` = 2L)), "a \"b\"=i32:1 x.y=i32:2")
})

test_that("attributes that XLA does not know are refused by name", {
  attempt <- function(...) ffi_call("lu", ffi_type("f64"), list(...))
  expect_snapshot(error = TRUE, {
    attempt(1)
    attempt(a = 1, a = 2)
    attempt(a = NULL)
    attempt(a = factor("x"))
    attempt(a = Sys.Date)
    attempt(a = 1i)
    attempt(a = NA)
    attempt(a = c(1, NA))
    attempt(a = bit64::NA_integer64_)
    attempt(a = NA_character_)
    attempt(a = c(TRUE, FALSE))
    attempt(a = c("x", "y"))
    attempt(a = matrix(1:4, 2))
    attempt(outer = list(inner = list(deep = as.Date("2020-01-01"))))
    attempt(outer = list(1))
    ffi_call("lu", ffi_type("f64"), attributes = 1)
    ffi_attribute(300, "ui8")
    ffi_attribute(-1, "ui64")
    ffi_attribute(2^63, "i64")
    ffi_attribute(1.5, "i32")
    ffi_attribute(NaN, "i32")
    ffi_attribute(2, "pred")
    ffi_attribute("x", "i32")
    ffi_attribute(1, "f16")
    ffi_attribute(1, "c64")
    ffi_attribute(1, array = NA)
    ffi_attribute(c(1, 2), array = FALSE)
  })
})

test_that("an attribute shows what goes into the program", {
  expect_snapshot({
    ffi_attribute(3, "i64")
    ffi_attribute(c(1, 2), "ui8")
    ffi_attribute("a\"b")
  })
})

test_that("attributes that our handlers do not know are refused where the call is written", {
  skip_without_plugin()
  same <- function(a) a
  written <- function(target, attributes) {
    xla_jit(function(x) hlo_custom_call(target, x, x, attributes))(diag(2))
  }
  expect_snapshot(error = TRUE, {
    ffi_call("cholesky", same, attributes = list(Uplo = "L"))(diag(2))
    ffi_call("cholesky", same, attributes = list(uplo = "L", block_size = 4L))(diag(2))
    ffi_call("lu", same, attributes = list(p = 1))(diag(2))
    written("print_tensor", list(print_heeder = ""))
  })
  expect_identical(error_of(written("cholesky", list(Uplo = "L")))$operand, "Uplo")
  expect_identical(ffi_call("cholesky", same, attributes = list(uplo = "L"))(diag(2)), diag(2))
  # What programs of other versions of JAX carry is for the handler to judge.
  expect_no_error(xla_program(
    ffi_call("cu_lu_pivots_to_permutation", same, attributes = list(permutation_size = 2L)), ffi_type("i32", 2)
  ))
  expect_no_error(xla_program(ffi_call("lapack_dpotrf_ffi", same, attributes = list(batch = 1L)), diag(2)))
})

test_that("who takes a name of ours has attributes of his own", {
  skip_without_plugin()
  code <- c(
    "suppressMessages(pjrt_register_custom_call('kepler', list(host = ffi_handler('print_tensor', 'host'))))",
    "show <- ffi_call('kepler', list(), attributes = list(print_header = 'mine'), has_side_effect = TRUE)",
    "show(1)"
  )
  run <- run_r(code)
  expect_identical(run$status, 0L)
  expect_match(run$output, "^mine$", all = FALSE)
})
