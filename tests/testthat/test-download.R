# A folder for downloads and an archive with a library, made by `pack(file)`.
local_archive <- function(pack, envir = parent.frame()) {
  withr::local_envvar(R_USER_CACHE_DIR = withr::local_tempdir(.local_envir = envir), .local_envir = envir)
  library <- shared_library(plugin_code(0, 40), "pjrt_test", envir)
  file <- withr::local_tempfile(.local_envir = envir)
  withr::with_dir(dirname(library), pack(file, basename(library)))
  withr::local_envvar(
    PJRT_PLUGIN_URL_TEST = paste0("file://", file), PJRT_INSTALL = "1", .local_envir = envir
  )
  file
}

tarball <- function(file, library) utils::tar(file, library, compression = "gzip", tar = "internal")

quietly <- function(code) suppressMessages(code)

test_that("a plugin comes from a tar archive and is found again", {
  file <- local_archive(tarball)
  expect_false(plugins_downloaded("test"))
  path <- quietly(xlaffi:::plugin_path("test"))
  expect_identical(basename(path), "pjrt_test.so")
  expect_true(plugins_downloaded("test"))
  unlink(file)
  expect_identical(xlaffi:::plugin_path("test"), path)
  # Another address is another plugin.
  withr::local_envvar(PJRT_PLUGIN_URL_TEST = "file:///no/such/archive.tar.gz")
  expect_false(plugins_downloaded("test"))
  expect_error(quietly(xlaffi:::plugin_path("test")), class = "xlaffi_error_unavailable")
})

test_that("a zip archive works too", {
  skip_if(!nzchar(Sys.which("zip")), "no zip")
  local_archive(function(file, library) {
    utils::zip(paste0(file, ".zip"), library, flags = "-q")
    file.rename(paste0(file, ".zip"), file)
  })
  expect_true(file.exists(quietly(xlaffi:::plugin_path("test"))))
})

test_that("the checksum is looked at, in the variable or the address", {
  file <- local_archive(tarball)
  sum <- cli::hash_file_sha256(file)
  withr::local_envvar(PJRT_PLUGIN_SHA256_TEST = strrep("0", 64))
  error <- error_of(quietly(xlaffi:::plugin_path("test")))
  expect_s3_class(error, "xlaffi_error_data_loss")
  expect_match(conditionMessage(error), sum, fixed = TRUE)
  expect_false(plugins_downloaded("test"))
  withr::local_envvar(PJRT_PLUGIN_SHA256_TEST = toupper(sum))
  expect_true(file.exists(quietly(xlaffi:::plugin_path("test"))))
  withr::local_envvar(
    PJRT_PLUGIN_SHA256_TEST = NA,
    PJRT_PLUGIN_URL_TEST = paste0("file://", file, "#sha256=", strrep("1", 64))
  )
  expect_error(quietly(xlaffi:::plugin_path("test")), class = "xlaffi_error_data_loss")
})

test_that("archives that are none, or hold no library", {
  file <- local_archive(function(file, library) writeLines("no archive", file))
  expect_error(quietly(xlaffi:::plugin_path("test")), class = "xlaffi_error_invalid_argument")
  file <- local_archive(function(file, library) {
    utils::tar(file, "pjrt_test.c", compression = "gzip", tar = "internal")
  })
  expect_error(quietly(xlaffi:::plugin_path("test")), class = "xlaffi_error_not_found")
  expect_false(plugins_downloaded("test"))
})

test_that("nothing is downloaded unasked", {
  local_archive(tarball)
  withr::local_options(rlang_interactive = FALSE)
  withr::local_envvar(PJRT_INSTALL = "0")
  hide <- function(lines) gsub("file://[^ ]*[^ .]", "<address>", lines)
  expect_snapshot(error = TRUE, transform = hide, xlaffi:::plugin_path("test"))
  skip_if(interactive())
  withr::local_envvar(PJRT_INSTALL = NA)
  expect_snapshot(error = TRUE, transform = hide, xlaffi:::plugin_path("test"))
  expect_false(plugins_downloaded("test"))
})
