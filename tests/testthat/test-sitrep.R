# What xlaffi_sitrep() writes in a process of its own, made as `code` and the variables say; of this, the parts under
# some headings, without what differs between machines.
sitrep_of <- function(headings, code = character(), env = character(), shell = "exec") {
  ours <- grep("^(XLA|PJRT_|JAX_|OPENBLAS_|OMP_|MKL_|VIRTUAL_ENV|RETICULATE_)", names(Sys.getenv()), value = TRUE)
  cleared <- stats::setNames(rep(NA_character_, length(ours)), ours)
  home <- withr::local_tempdir()
  file <- withr::local_tempfile(fileext = ".R")
  libraries <- paste(deparse(.libPaths()), collapse = "")
  writeLines(c(
    sprintf(".libPaths(%s); options(cli.width = 200, cli.unicode = FALSE, cli.num_colors = 1)", libraries),
    "library(xlaffi)", code, "xlaffi_sitrep()"
  ), file)
  defaults <- c(
    R_USER_CACHE_DIR = home, XLAFFI_PYTHON = plugin_python(), XLAFFI_PROGRAM_CACHE = file.path(home, "programs")
  )
  variables <- c(cleared, defaults[!names(defaults) %in% names(env)])
  variables <- c(variables[!names(variables) %in% names(env)], env)
  rscript <- file.path(R.home("bin"), "Rscript")
  output <- withr::with_envvar(variables, suppressWarnings(
    system2("sh", c("-c", shQuote(paste(shell, shQuote(rscript), shQuote(file), "2>&1"))), stdout = TRUE, timeout = 120)
  ))
  parts <- split(output, cumsum(grepl("^-- ", output)))
  shown <- Filter(function(part) any(startsWith(part[[1L]], paste("--", headings, "--"))), parts)
  scrubbed(unlist(shown, use.names = FALSE), home)
}

scrubbed <- function(lines, home) {
  lines <- sub(" -+$", "", lines[nzchar(lines)])
  lines <- gsub(home, "<home>", lines, fixed = TRUE)
  lines <- gsub("(?<![a-z>:])/[^ ,:;)'\"`]+", "<path>", lines, perl = TRUE)
  lines <- gsub("Python [0-9.]+ has", "Python <version> has", lines)
  lines <- sub(": jaxlib 0[.][0-9.]+$", ": jaxlib <version>", lines)
  lines <- sub("[0-9.]+ kB", "<size>", lines)
  lines <- sub("PJRT API [0-9.]+", "PJRT API <version>", lines)
  lines <- sub("on [^ ]+ [(]pid [0-9]+[)]", "on <host> (pid <pid>)", lines)
  lines <- sub("'?127[.]0[.]0[.]1:[0-9]+'?", "<address>", lines)
  lines <- sub("[0-9]+ custom call", "<count> custom call", lines)
  sub("LAPACK: [^,]*,", "LAPACK: <version>,", lines)
}

show_sitrep <- function(...) writeLines(sitrep_of(...))

# A virtual environment that has these packages, as far as their metadata tell.
local_venv <- function(..., envir = parent.frame()) {
  home <- withr::local_tempdir(.local_envir = envir)
  xlaffi:::run(plugin_python(), c("-m", "venv", "--without-pip", home), NULL)
  site <- Sys.glob(file.path(home, c("lib/python*/site-packages", "Lib/site-packages")))[[1L]]
  versions <- c(...)
  for (package in names(versions)) {
    dir.create(file.path(site, package))
    file.create(file.path(site, package, "__init__.py"))
    dir.create(file.path(site, sprintf("%s-%s.dist-info", package, versions[[package]])))
  }
  list.files(file.path(home, c("bin", "Scripts")), "^python([.]exe)?$", full.names = TRUE)[[1L]]
}

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

test_that("the report tells how Python is missing, and the command that brings it", {
  skip_without_plugin()
  skip_unless_all()
  skip_on_os(c("windows", "mac"))
  headings <- c("Plugins", "Python for the CPU plugin")
  nowhere <- "Sys.setenv(PATH = tempfile())"
  bare <- local_venv()
  old <- local_venv(jaxlib = "0.4.30", numpy = "2.4.6", ml_dtypes = "0.6.0")
  new <- local_venv(jaxlib = "9.9.0", numpy = "2.4.6", ml_dtypes = "0.6.0")
  expect_snapshot({
    show_sitrep(headings, nowhere, c(XLAFFI_PYTHON = NA))
    show_sitrep(headings, env = c(XLAFFI_PYTHON = NA, PATH = paste(dirname(bare), Sys.getenv("PATH"), sep = ":")))
    show_sitrep(headings, env = c(XLAFFI_PYTHON = bare))
    show_sitrep(headings, env = c(XLAFFI_PYTHON = "/no/such/python"))
    show_sitrep(headings, env = c(XLAFFI_PYTHON = "/bin/true"))
    show_sitrep(headings, env = c(XLAFFI_PYTHON = old))
    show_sitrep(headings, nowhere, c(XLAFFI_PYTHON = NA, VIRTUAL_ENV = dirname(dirname(old))))
    show_sitrep(headings, env = c(
      XLAFFI_PYTHON = NA, VIRTUAL_ENV = dirname(dirname(old)),
      PATH = paste(dirname(plugin_python()), Sys.getenv("PATH"), sep = ":")
    ))
    show_sitrep(headings, env = c(XLAFFI_PYTHON = new))
  })
})

test_that("the report tells what is there", {
  skip_without_plugin()
  expect_snapshot({
    show_sitrep("Plugins")
    show_sitrep("Plugins", "invisible(pjrt_client())")
    show_sitrep("Plugins", "invisible(pjrt_client(cpu_device_count = 3L))")
    show_sitrep("Environment variables", env = c(XLAFFI_PYTHON = NA, XLAFFI_PROGRAM_CACHE = NA))
    show_sitrep("Environment variables", env = c(XLAFFI_KERNELS = "0"))
  })
})

test_that("the report tells whose XLA a plugin without Python has, and what it cannot do", {
  skip_unless_all()
  skip_if(Sys.info()[["sysname"]] != "Linux" || Sys.info()[["machine"]] != "x86_64", "another wheel")
  stand_in <- shared_library(plugin_code(0, 40), "pjrt_stand_in")
  code <- function(source) {
    c(
      "folder <- xlaffi:::cache_dir('cpu')", "dir.create(folder, recursive = TRUE)",
      sprintf("invisible(file.copy('%s', folder))", stand_in),
      sprintf("writeLines(%s, file.path(folder, 'source'))", source)
    )
  }
  expect_snapshot({
    show_sitrep(c("Plugins", "Python for the CPU plugin"), code("xlaffi:::own_wheel()$wheel"))
    show_sitrep("Plugins", code("'https://example.org/plugin.zip'"))
  })
})

test_that("the report tells who computes together", {
  skip_without_plugin()
  skip_unless_all()
  skip_on_os("windows")
  code <- sprintf("invisible(pjrt_distributed('127.0.0.1:%d', 1, 0))", free_port())
  expect_snapshot(show_sitrep("Plugins", code))
})

test_that("the report tells how a plugin for GPUs cannot be used", {
  skip_without_plugin()
  skip_unless_all()
  skip_on_os("windows")
  driver <- xlaffi:::check(.Call(xlaffi:::wrap__cuda_libraries))$path[[1L]]
  skip_if_not(is.na(driver), "CUDA: there is a driver of NVIDIA's")
  stand_in <- shared_library(plugin_code(0, 40), "xla_cuda_plugin")
  text <- withr::local_tempfile(lines = "not a library", fileext = ".so")
  fails <- "try(pjrt_client('cuda'), silent = TRUE)"
  expect_snapshot({
    show_sitrep(c("Plugins", "CUDA"), env = c(PJRT_PLUGIN_PATH_CUDA = stand_in))
    show_sitrep("Plugins", fails, c(PJRT_PLUGIN_PATH_CUDA = stand_in))
    show_sitrep("Plugins", env = c(PJRT_PLUGIN_PATH_CUDA = text))
    show_sitrep("Plugins", env = c(PJRT_PLUGIN_PATH_CUDA = "/no/such/plugin.so"))
    show_sitrep("Plugins", env = c(PJRT_PLUGIN_PATH_CPU = "/no/such/plugin.so"))
  })
})

test_that("the report tells of a client that could not be made", {
  skip_without_plugin()
  skip_unless_all()
  fails <- "try(pjrt_client('cpu', cpu_device_count = -1L), silent = TRUE)"
  expect_snapshot(show_sitrep("Plugins", fails))
})

test_that("the report tells which LAPACK is forced, and that it is not there", {
  skip_without_plugin()
  skip_unless_all()
  expect_snapshot({
    show_sitrep("Linear algebra", env = c(XLAFFI_LAPACK = "/no/such/liblapack.so"))
  })
  forced <- sitrep_of("Linear algebra", env = c(XLAFFI_LAPACK = "r"))
  expect_match(forced, "LAPACK: .*R's", all = FALSE)
  # Where R's is the reference, it is the variable that is in the way.
  if (any(grepl("reference LAPACK", forced))) {
    expect_match(forced, "`Sys.unsetenv(\"XLAFFI_LAPACK\")`", fixed = TRUE, all = FALSE)
  }
})

test_that("the report tells why programs are not kept", {
  skip_without_plugin()
  skip_unless_all()
  skip_on_os("windows")
  file <- withr::local_tempfile(lines = "")
  open <- withr::local_tempdir()
  Sys.chmod(open, "0777", use_umask = FALSE)
  full <- "trap '' XFSZ; ulimit -f 0; exec"
  shown <- function(...) {
    lines <- sitrep_of("Plugins", ...)
    writeLines(lines[seq(grep("programs are", lines), length(lines))])
  }
  expect_snapshot({
    shown("invisible(xla_jit(function(x) x + 1)(1))")
    shown(env = c(XLAFFI_PROGRAM_CACHE = "off"))
    shown("options(xlaffi.program_cache = FALSE)")
    shown(env = c(XLAFFI_PROGRAM_CACHE = file.path(file, "programs")))
    shown(env = c(XLAFFI_PROGRAM_CACHE = open))
    shown(shell = full)
  })
})
