# Nothing is written to the user's cache, by the processes that tests start neither.
withr::local_envvar(
  XLAFFI_PROGRAM_CACHE = withr::local_tempdir("programs", .local_envir = testthat::teardown_env()),
  .local_envir = testthat::teardown_env()
)
