test_that("the program before and after optimisation", {
  skip_without_plugin()
  folder <- withr::local_tempdir()
  # Two sessions, one folder: each finds its own program.
  for (op in c("multiply", "subtract")) {
    run <- run_r(sprintf("
      program <- pjrt_program('func.func @main(%%x: tensor<2xf32>) -> tensor<2xf32> {
        %%0 = stablehlo.%s %%x, %%x : tensor<2xf32>
        %%1 = stablehlo.add %%0, %%x : tensor<2xf32>
        return %%1 : tensor<2xf32> }')
      hlo <- inspect_hlo(program)
      hlo
      stopifnot(grepl('%s', hlo$before_optimizations), grepl('fusion', hlo$after_optimizations))
      cat(class(hlo), names(hlo), '\\n')
      hlo$before_optimizations
      inspect_hlo(program, 'cpu:0')
    ", op, op), c(XLA_FLAGS = sprintf("--xla_dump_to=%s --xla_dump_hlo_as_text", folder)))
    expect_identical(run$status, 0L)
    expect_match(run$output[[1]], "^<HLO of main")
    expect_match(run$output[[2]], "[$]before_optimizations: [0-9]+ lines")
    expect_identical(run$output[[4]], "xlaffi_hlo before_optimizations after_optimizations ")
    expect_match(run$output[[5]], "^HloModule")
  }
})

test_that("what is missing is said", {
  skip_without_plugin()
  program <- pjrt_program("func.func @main() { return }")
  withr::local_envvar(XLA_FLAGS = NA)
  # XLA reads its flags now, if it has not yet.
  pjrt_compile(program)
  expect_snapshot(error = TRUE, {
    inspect_hlo(1)
    inspect_hlo(program)
  })
  withr::local_envvar(XLA_FLAGS = "--xla_dump_to=/tmp/hlo")
  expect_error(inspect_hlo(program), "XLA_FLAGS does not tell")
  # Flags that came too late
  folder <- withr::local_tempdir()
  withr::local_envvar(XLA_FLAGS = sprintf("--xla_dump_hlo_as_text --xla_dump_to=%s", folder))
  expect_error(inspect_hlo(program), "start a new session", class = "xlaffi_error_failed_precondition")
})
