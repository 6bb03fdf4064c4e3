# Nothing is written to the user's caches, by the processes that tests start neither. tools/test.R names a folder where
# compiled programs and ops are kept, by content, for other files and the next run. Programs of the processes have one
# of their own: they would shrink the first one to its usual size.
local({
  env <- testthat::teardown_env()
  kept <- Sys.getenv("XLAFFI_TEST_CACHE", withr::local_tempdir("caches", .local_envir = env))
  withr::local_envvar(
    XLAFFI_PROGRAM_CACHE = file.path(kept, "programs-of-processes"), XLAFFI_CODE_CACHE = file.path(kept, "code"),
    .local_envir = env
  )
  withr::local_options(
    xlaffi.program_cache = file.path(kept, "programs"), xlaffi.program_cache_size = 2e9,
    .local_envir = env
  )
})
