test_that("R/extendr-wrappers.R is what the Rust code says", {
  source <- Sys.getenv("XLAFFI_SOURCE", test_path("..", ".."))
  file <- file.path(source, "R", "extendr-wrappers.R")
  skip_if_not(file.exists(file), "the sources are not here")
  made <- .Call("wrap__make_xlaffi_wrappers", TRUE, "xlaffi", PACKAGE = "xlaffi")
  expect_identical(strsplit(made, "\n", fixed = TRUE)[[1]], readLines(file))
})

test_that("what R calls exists, and what exists is called", {
  functions <- ls(asNamespace("xlaffi"), all.names = TRUE)
  routines <- names(getDLLRegisteredRoutines("xlaffi")$.Call)
  code <- lapply(mget(functions, asNamespace("xlaffi"), mode = "function", ifnotfound = NA), function(f) {
    if (is.function(f)) all.names(body(f))
  })
  # A wrapper's own body does not count as a use.
  code <- code[!paste0("wrap__", names(code)) %in% routines]
  used <- unique(grep("^wrap__", unlist(code), value = TRUE))
  expect_setequal(used, grep("_(metadata|wrappers)$", routines, value = TRUE, invert = TRUE))
})

test_that("R checks the number of arguments of each routine", {
  routines <- getDLLRegisteredRoutines("xlaffi")$.Call
  for (name in one_in(5L, names(routines))) {
    routine <- routines[[name]]
    wrapper <- get0(sub("^wrap__", "", name), asNamespace("xlaffi"), inherits = FALSE)
    n <- if (is.null(wrapper)) 2L else length(formals(wrapper))
    expect_identical(routine$numParameters, n, label = name)
    called <- list(routine, name, get0(name, asNamespace("xlaffi"), inherits = FALSE))
    for (how in called[lengths(called) > 0]) {
      for (other in setdiff(c(0L, n - 1L, n + 1L), c(-1L, n))) {
        home <- if (is.character(how)) list(PACKAGE = "xlaffi")
        call <- as.call(c(quote(.Call), list(how), rep(list(1), other), home))
        expect_error(eval(call), sprintf("Incorrect number of arguments (%d), expecting %d", other, n), fixed = TRUE)
      }
    }
  }
})
