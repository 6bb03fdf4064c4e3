# A folder for compiled code that lasts as long as a test or a file of tests.
local_code_cache <- function(envir = parent.frame()) {
  folder <- withr::local_tempdir("code", .local_envir = envir)
  withr::local_options(xlaffi.code_cache = folder, .local_envir = envir)
  Sys.chmod(folder, "0700")
  folder
}
