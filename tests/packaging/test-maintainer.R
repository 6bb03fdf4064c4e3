# tools/maintainer.R on a copy of what it changes.

filled_files <- c(
  "DESCRIPTION", "LICENSE", "LICENSE.md", "_pkgdown.yml", "src/rust/Cargo.toml", "src/rust/crates/xla-ffi/Cargo.toml",
  "src/rust/crates/xla-ffi/LICENSE.md"
)

maintainer_copy <- function(env = parent.frame()) {
  dir <- withr::local_tempdir(.local_envir = env)
  for (file in c("tools/maintainer.R", filled_files)) {
    dir.create(dirname(file.path(dir, file)), recursive = TRUE, showWarnings = FALSE)
    stopifnot(file.copy(source_file(file), file.path(dir, file)))
  }
  dir
}

fill_in <- function(dir, ..., input = "", env = character()) {
  withr::local_envvar(env)
  script <- c(file.path(dir, "tools", "maintainer.R"), ...)
  suppressWarnings(system2(file.path(R.home("bin"), "Rscript"), shQuote(script),
    stdout = TRUE, stderr = TRUE, input = input
  ))
}
contents <- function(dir) lapply(file.path(dir, filled_files), readLines)

# Names and addresses of nobody: the script takes what looks like a person's.
ada <- c(
  "--name=Ada Lovelace", "--email=ada@lovelace-xlaffi.org", "--repository=https://git.lovelace-xlaffi.org/xlaffi"
)

test_that("one call puts names and addresses everywhere, and another call others in their place", {
  dir <- maintainer_copy()
  output <- fill_in(dir, ada)
  expect_identical(attr(output, "status"), NULL)
  expect_setequal(sub("^changed ", "", grep("^changed", output, value = TRUE)), setdiff(filled_files, "_pkgdown.yml"))
  expect_false(any(grepl("xlaffi authors|xlaffi[.]example", unlist(contents(dir)))))

  description <- read.dcf(file.path(dir, "DESCRIPTION"))[1L, ]
  people <- eval(str2lang(description[["Authors@R"]]))
  expect_identical(format(people[[1L]]), "Ada Lovelace <ada@lovelace-xlaffi.org> [aut, cre, cph]")
  expect_identical(people[[2L]]$comment, "see inst/AUTHORS file", ignore_attr = TRUE)
  expect_identical(description[["URL"]], "https://git.lovelace-xlaffi.org/xlaffi")
  expect_identical(description[["BugReports"]], "https://git.lovelace-xlaffi.org/xlaffi/issues")
  before <- read.dcf(source_file("DESCRIPTION"))[1L, ]
  kept <- setdiff(names(before), c("Authors@R", "URL", "BugReports"))
  expect_identical(description[kept], before[kept])
  expect_identical(readLines(file.path(dir, "LICENSE"))[[2L]], "COPYRIGHT HOLDER: Ada Lovelace")
  expect_match(readLines(file.path(dir, "LICENSE.md")), "^Copyright \\(c\\) 2[0-9]+ Ada Lovelace$", all = FALSE)
  workspace <- readLines(file.path(dir, "src", "rust", "Cargo.toml"))
  at <- match("[workspace.package]", workspace)
  expect_identical(workspace[[at + 1L]], "repository = \"https://git.lovelace-xlaffi.org/xlaffi\"")
  crate <- readLines(file.path(dir, "src", "rust", "crates", "xla-ffi", "Cargo.toml"))
  expect_identical(which(crate == "repository.workspace = true") < match("[features]", crate), TRUE)

  # Nothing twice, and nothing of the first answers is left
  once <- contents(dir)
  expect_identical(grep("^changed", fill_in(dir, ada), value = TRUE), character())
  expect_identical(contents(dir), once)
  output <- fill_in(dir,
    "--name=Grace Brewster Hopper", "--email=grace@hopper-xlaffi.org", "--orcid=0000-0002-1825-0097",
    "--authors=Ada Lovelace <ada@lovelace-xlaffi.org>; Emmy No\u00ebther", "--holder=Navy of Numbers",
    "--repository=https://hopper-xlaffi.org/xlaffi/", "--issues=https://hopper-xlaffi.org/faults",
    "--site=https://docs.hopper-xlaffi.org/xlaffi",
    "--packages=https://a.hopper-xlaffi.org, https://b.hopper-xlaffi.org"
  )
  expect_identical(attr(output, "status"), NULL)
  expect_false(any(grepl("git[.]lovelace", unlist(contents(dir)))))
  description <- read.dcf(file.path(dir, "DESCRIPTION"))[1L, ]
  people <- format(eval(str2lang(description[["Authors@R"]])))
  expect_match(people[[1L]], "^Grace Brewster Hopper <grace@hopper-xlaffi.org> \\[aut, cre\\] \\(.*0000-0002-1825-0097")
  expect_identical(people[2:3], c("Ada Lovelace <ada@lovelace-xlaffi.org> [aut]", "Emmy No\u00ebther [aut]"))
  expect_identical(people[[4L]], "Navy of Numbers [cph]")
  expect_identical(description[["URL"]], "https://hopper-xlaffi.org/xlaffi, https://docs.hopper-xlaffi.org/xlaffi")
  expect_identical(description[["Additional_repositories"]], "https://a.hopper-xlaffi.org, https://b.hopper-xlaffi.org")
  expect_identical(
    yaml::read_yaml(file.path(dir, "_pkgdown.yml"))$url, "https://docs.hopper-xlaffi.org/xlaffi"
  )
})

test_that("answers come from a terminal, too, and empty ones have defaults", {
  dir <- maintainer_copy()
  # Without a terminal nothing is asked.
  expect_match(fill_in(dir, ada[-2L]), "--email= is missing", all = FALSE)
  output <- fill_in(dir, ada[1L],
    input = c("ada@lovelace-xlaffi.org", "", "", "", "https://git.lovelace-xlaffi.org/xlaffi", "", "", ""),
    env = c(XLAFFI_ASK = "true")
  )
  expect_identical(attr(output, "status"), NULL)
  expect_match(output, "^Address that CRAN writes to: ", all = FALSE)
  other <- maintainer_copy()
  fill_in(other, ada)
  expect_identical(contents(dir), contents(other))
})

test_that("what CRAN would refuse is refused, and nothing is changed", {
  script <- new.env()
  sys.source(source_file("tools", "maintainer.R"), script)
  complaint <- function(...) {
    given <- utils::modifyList(
      list(name = "Ada Lovelace", email = "ada@lovelace-xlaffi.org", repository = "https://git.lovelace-xlaffi.org/x"),
      list(...)
    )
    tryCatch({
      script$checked_answers(given, "")
      "taken"
    }, error = conditionMessage)
  }
  expect_identical(complaint(), "taken")
  others <- "J. O'Neill; A. B. Cox <cox@site.org>"
  expect_identical(complaint(name = "Ludwig van Beethoven-M\u00fcller", authors = others), "taken")
  wrong <- list(
    list(name = "Ada"), list(name = "xlaffi authors"), list(name = "The Numbers Team"), list(name = "Lovelace, Ada"),
    list(name = "Ada Lovelace <ada@lovelace.org>"), list(name = "Ada \"King\" Lovelace"),
    list(email = "maintainers@xlaffi.example"), list(email = "ada@example.com"), list(email = "ada@localhost"),
    list(email = "ada at lovelace.org"), list(email = "ada@lovelace.org, grace@hopper.org"),
    list(email = "ada@site.test"),
    list(email = "team@lovelace.org"), list(email = "ada@lists.lovelace.org"), list(email = "numbers@googlegroups.com"),
    list(email = "12+ada@users.noreply.github.com"), list(email = "no-reply@lovelace.org"),
    list(repository = "http://git.lovelace.org/x"), list(repository = "https://example.org/x"),
    list(repository = "git@git.lovelace.org:x"), list(repository = "https://localhost/x"),
    list(repository = "https://10.0.0.1/x"), list(repository = "https://a.org/x, https://b.org/x"),
    list(site = "https://cran.r-project.org/web/packages/xlaffi/index.html"), list(issues = "ada@lovelace.org"),
    list(orcid = "0000-0002-1825-0098"), list(orcid = "0000-0002-1825"),
    list(authors = "Ada Lovelace <ada@site.invalid>"),
    list(authors = "Grace"), list(holder = "xlaffi authors"), list(packages = "https://a.org, b.org")
  )
  for (answers in wrong) {
    expect_match(do.call(complaint, answers), paste0("^", names(answers), ": \".*\""), label = deparse1(answers))
  }
  dir <- maintainer_copy()
  before <- contents(dir)
  output <- fill_in(dir, ada[-2L], "--email=maintainers@xlaffi.example")
  expect_identical(attr(output, "status"), 1L)
  expect_match(output, "email: .* address of examples, which nobody reads; nothing was changed", all = FALSE)
  expect_match(fill_in(dir, ada, "--nmae=x"), "unknown argument --nmae=x; known are --name=", all = FALSE)
  expect_identical(contents(dir), before)
})
