# A package named pjrt that records what is registered with it.
local_pjrt <- function(envir = parent.frame()) {
  local_package("pjrt", c("pjrt_register_custom_call", "calls"), envir = envir, code = "
    the <- new.env()
    the$custom_calls <- list(print_tensor = list(package = 'pjrt'))
    recorded <- new.env()
    calls <- function() as.list(recorded)
    pjrt_register_custom_call <- function(target_name, handler, .package = NULL) {
      recorded[[target_name]] <- list(handler = handler, package = .package)
      invisible(NULL)
    }")
}

recorded <- function(library, code) {
  output <- run_r(c(
    use_library(library), code,
    "called <- pjrt::calls()",
    "for (name in sort(names(called))) {",
    "  call <- called[[name]]",
    "  cat(name, names(call$handler), typeof(call$handler[[1]]), call$package, '\\n')",
    "}"
  ))
  expect_identical(output$status, 0L)
  trimws(output$output)
}

# One line per target of ours, as recorded() gives them.
ours <- function(without = character()) {
  targets <- ffi_targets()
  targets <- targets[targets$package %in% "xlaffi", ]
  own <- transform(targets, target = paste0("xlaffi.", target))
  targets <- rbind(targets[!targets$target %in% without, ], own)
  targets <- targets[order(targets$target), ]
  sprintf("%s %s externalptr xlaffi", targets$target, gsub(",", "", targets$platforms))
}

test_that("pjrt gets what it lacks, whichever is loaded first", {
  skip_without_plugin()
  library <- local_pjrt()
  expected <- ours(without = "print_tensor")
  expect_identical(recorded(library, "loadNamespace('pjrt') |> invisible()"), expected)
  first <- "unloadNamespace('xlaffi'); invisible(loadNamespace('pjrt')); invisible(loadNamespace('xlaffi'))"
  expect_identical(recorded(library, first), expected)
})

test_that("the option replaces or leaves alone", {
  skip_without_plugin()
  skip_unless_all()
  library <- local_pjrt()
  expect_identical(
    recorded(library, "options(xlaffi.pjrt = 'replace'); invisible(loadNamespace('pjrt'))"), ours()
  )
  expect_identical(
    recorded(library, "options(xlaffi.pjrt = 'none'); invisible(loadNamespace('pjrt'))"), character()
  )
  odd <- recorded(library, "options(xlaffi.pjrt = TRUE); invisible(loadNamespace('pjrt'))")
  expect_match(paste(odd, collapse = " "), "must be \"add\", \"replace\" or \"none\"")
})

test_that("a public name that pjrt has too means the same", {
  theirs <- utils::read.csv(test_path("data", "pjrt-targets.csv"))
  expect_true(all(xlaffi:::pjrt_own_targets %in% theirs$target[theirs$meaning == "ours"]))
  targets <- ffi_targets()
  both <- merge(targets[targets$package %in% "xlaffi", ], theirs, by = "target", suffixes = c("", ".theirs"))
  expect_identical(both$meaning, rep("ours", 6L))
  # Tokens are for programs that keep prints in order; pjrt's handler knows of none.
  number <- function(names) lengths(lapply(strsplit(names, ", ", fixed = TRUE), setdiff, c("after", "then")))
  expect_identical(number(both$operands), both$operands.theirs)
  expect_identical(number(both$results), both$results.theirs)
})
