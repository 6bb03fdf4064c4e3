test_that("the report tells what was found", {
  skip_without_plugin()
  pjrt_client("cpu")
  text <- cli::cli_fmt(found <- xlaffi_sitrep())
  expect_identical(found$plugins$cpu$state, "loaded")
  expect_identical(found$plugins$cuda$state, "missing")
  libraries <- c("NVIDIA's driver", "cuSOLVER", "cuBLAS", "NVRTC")
  expect_identical(found$cuda$library, libraries)
  expect_true(all(xor(is.na(found$cuda$path), is.na(found$cuda$problem))))
  expect_match(found$python$chosen, "jaxlib [0-9]")
  expect_match(paste(text, collapse = "\n"), "LAPACK", fixed = TRUE)
  expect_type(found$lapack$path, "character")
})

test_that("the report tells what is missing and what mends it", {
  found <- list(
    version = "0.1", r = "4", system = "x", python = list(places = "a: not {found}", chosen = ""),
    plugins = list(cpu = list(state = "missing"), cuda = list(state = "missing")),
    targets = 2L, programs = list(problem = "/c cannot be written"),
    lapack = list(
      place = "R's", path = "/usr/lib/liblapack.so.3", version = "LAPACK 3.11.0", single_precision = FALSE,
      refused = data.frame(place = "beside jaxlib", path = "/s/x.so", why = "has no zgeev_")
    ),
    cuda = data.frame(
      library = c("cuSOLVER", "cuBLAS"), path = c("/x/libcusolver.so.12", NA),
      problem = c(NA, "cuBLAS was not found (XLAFFI_CUDA_PATH is not set). Tried: nothing")
    ),
    variables = character()
  )
  text <- paste(cli::cli_fmt(xlaffi:::report(found)), collapse = "\n")
  parts <- c(
    "install_pjrt()", "a: not {found}", "PJRT_PLUGIN_PATH_CUDA", "reference LAPACK",
    "LAPACK 3.11.0, R's", "computed in double precision", "'/s/x.so'): it has no zgeev_",
    "none of ours is set", "cuSOLVER: ", "not kept for later sessions: /c cannot be written",
    "cuBLAS was not found"
  )
  for (part in parts) {
    expect_match(text, part, fixed = TRUE)
  }
  found$cuda$path <- NA
  text <- paste(cli::cli_fmt(xlaffi:::report(found)), collapse = "\n")
  expect_match(text, "none of NVIDIA's libraries", fixed = TRUE)
})
