# Fills in what only the maintainer knows, everywhere: the places are in tools/release.md. Asks for what no argument
# gives, and changes nothing where an answer is one that CRAN would refuse. May be run again with other answers.
#
#   Rscript tools/maintainer.R [--name="Given Family"] [--email=ADDRESS] [--repository=https://...] [...]
#
# --orcid=          of the maintainer
# --authors=        others, with a semicolon between: "Given Family; Given Family <ADDRESS>"
# --holder=         who holds the copyright; the maintainer by default
# --issues=         where faults are told; the issues of the repository by default
# --site=           where the documentation is published, if it is
# --packages=       repositories of packages in Enhances that CRAN has not, with a comma between; as it is by default
#
# An argument without a value, as --site=, keeps the script from asking. XLAFFI_ASK=true: it asks where no terminal is.

placeholder <- "xlaffi authors"

# --- what CRAN would refuse ---------------------------------------------------------------------

refused <- function(...) stop(sprintf(...), call. = FALSE)

of_groups <- paste0(
  "\\b(authors?|team|group|developers?|contributors?|maintainers?|community|project|package|consortium|foundation|",
  "institute|university|laboratory|inc|ltd|llc|gmbh)\\b"
)

# A person's name, as a maintainer and an author have it.
checked_person <- function(name, what) {
  words <- strsplit(name, " +")[[1L]]
  if (grepl("[^[:alpha:] .'-]", name)) {
    refused("%s: \"%s\" must be the name alone, of letters", what, name)
  }
  if (length(words) < 2L) {
    refused("%s: \"%s\" must be a given and a family name", what, name)
  }
  if (grepl(of_groups, name, ignore.case = TRUE)) {
    refused("%s: \"%s\" is a group; CRAN writes to a person", what, name)
  }
  paste(words, collapse = " ")
}

# Names that RFC 2606 and RFC 6761 keep for examples and for networks without the others
reserved_host <- function(host) {
  grepl("(^|\\.)(example|invalid|test|localhost|local)$|(^|\\.)example\\.(com|org|net)$", host, ignore.case = TRUE)
}

checked_email <- function(email, what) {
  if (!grepl("^[A-Za-z0-9._%+-]+@([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?\\.)+[A-Za-z]{2,}$", email)) {
    refused("%s: \"%s\" is no address such as name@site.org", what, email)
  }
  host <- sub(".*@", "", email)
  if (reserved_host(host)) {
    refused("%s: \"%s\" is an address of examples, which nobody reads", what, email)
  }
  to_nobody <- "^(no-?reply|do-?not-?reply)@|noreply"
  if (grepl(to_nobody, email, ignore.case = TRUE)) {
    refused("%s: \"%s\" takes no mail; CRAN's must arrive", what, email)
  }
  to_many <- paste0(
    "^(maintainers?|authors?|team|group|dev|devel|devs|developers?|info|admin|contact|help|support|office|list)@"
  )
  of_lists <- "@(lists?|groups)\\.|@googlegroups\\.|@groups\\.io$"
  if (grepl(to_many, email, ignore.case = TRUE) || grepl(of_lists, email, ignore.case = TRUE)) {
    refused("%s: \"%s\" is the address of a list or an office; CRAN writes to a person", what, email)
  }
  email
}

checked_url <- function(url, what) {
  if (!grepl("^https://[^/[:space:],<>\"]+(/[^[:space:],<>\"]*)?$", url)) {
    refused("%s: \"%s\" must be one address that begins with https://", what, url)
  }
  host <- sub(":[0-9]+$", "", sub("^https://([^/]+).*$", "\\1", url))
  if (reserved_host(host) || !grepl("[A-Za-z]", host) || !grepl(".", host, fixed = TRUE)) {
    refused("%s: \"%s\" is no place on the internet", what, url)
  }
  if (grepl("[Rr]-project\\.org/web/packages/", url)) {
    refused("%s: \"%s\"; CRAN wants https://CRAN.R-project.org/package=NAME for its pages", what, url)
  }
  sub("/+$", "", url)
}

# The last digit of an ORCID follows from the others (ISO 7064, MOD 11-2).
checked_orcid <- function(orcid, what) {
  orcid <- sub("^https://orcid\\.org/", "", orcid)
  right <- grepl("^[0-9]{4}-[0-9]{4}-[0-9]{4}-[0-9]{3}[0-9X]$", orcid)
  if (right) {
    digits <- strsplit(gsub("-", "", orcid, fixed = TRUE), "")[[1L]]
    sum <- Reduce(function(sum, digit) (sum + as.integer(digit)) * 2L, digits[1:15], 0L)
    right <- c(0:9, "X")[(12L - sum %% 11L) %% 11L + 1L] == digits[[16L]]
  }
  if (!right) {
    refused("%s: \"%s\" is no ORCID: four times four digits, of which the last follows from the others", what, orcid)
  }
  orcid
}

checked_holder <- function(holder, what) {
  if (holder == placeholder || grepl("[<>@\"\\]", holder)) {
    refused("%s: \"%s\" must be the name of a person or an organisation", what, holder)
  }
  holder
}

# "Given Family <ADDRESS>", the address may be missing
checked_author <- function(text, what) {
  parts <- regmatches(text, regexec("^([^<>]*[^<> ])( *<([^<>]*)>)?$", text))[[1L]]
  if (!length(parts)) {
    refused("%s: \"%s\" must be \"Given Family\" or \"Given Family <ADDRESS>\"", what, text)
  }
  list(name = checked_person(parts[[2L]], what), email = if (nzchar(parts[[4L]])) checked_email(parts[[4L]], what))
}

pieces <- function(text, by) Filter(nzchar, trimws(strsplit(text, by)[[1L]]))

# All that was answered, checked; what may be missing is NULL or has its default.
checked_answers <- function(given, packages) {
  for (name in c("name", "email", "repository")) {
    if (is.null(given[[name]])) {
      refused("--%s= is missing", name)
    }
  }
  found <- list(
    name = checked_person(given$name, "name"), email = checked_email(given$email, "email"),
    repository = checked_url(given$repository, "repository")
  )
  if (!is.null(given$orcid)) found$orcid <- checked_orcid(given$orcid, "orcid")
  found$authors <- lapply(pieces(c(given$authors, "")[[1L]], ";"), checked_author, what = "authors")
  found$holder <- checked_holder(c(given$holder, found$name)[[1L]], "holder")
  found$issues <- checked_url(c(given$issues, paste0(found$repository, "/issues"))[[1L]], "issues")
  if (!is.null(given$site)) found$site <- checked_url(given$site, "site")
  listed <- pieces(c(given$packages, packages, "")[[1L]], "[,[:space:]]+")
  found$packages <- vapply(listed, checked_url, "", what = "packages", USE.NAMES = FALSE)
  found
}

# --- where it stands ----------------------------------------------------------------------------

read <- function(file) readLines(file, encoding = "UTF-8", warn = FALSE)
write <- function(lines, file) writeLines(enc2utf8(lines), file, useBytes = TRUE)

# The lines of a field of DESCRIPTION, none where there is no such field.
field_lines <- function(lines, field) {
  starts <- grep("^[^[:space:]]", lines)
  at <- match(TRUE, startsWith(lines[starts], paste0(field, ":")))
  if (is.na(at)) {
    return(integer())
  }
  seq(starts[[at]], c(starts, length(lines) + 1L)[[at + 1L]] - 1L)
}

# Puts a field in the place of the old one, or else behind the field `behind`; NULL takes it away.
set_field <- function(lines, field, value, behind) {
  old <- field_lines(lines, field)
  at <- if (length(old)) old[[1L]] - 1L else max(field_lines(lines, behind))
  if (length(old)) {
    lines <- lines[-old]
  }
  append(lines, if (!is.null(value)) strsplit(paste0(field, ": ", value), "\n", fixed = TRUE)[[1L]], at)
}

person_call <- function(name, email = NULL, role = "aut", orcid = NULL) {
  words <- strsplit(name, " ", fixed = TRUE)[[1L]]
  given <- paste(words[-length(words)], collapse = " ")
  sprintf("    person(\"%s\", \"%s\"%s, role = %s%s)", given, words[[length(words)]],
    if (is.null(email)) "" else sprintf(", email = \"%s\"", email),
    if (length(role) == 1L) sprintf("\"%s\"", role) else sprintf("c(%s)", toString(sprintf("\"%s\"", role))),
    if (is.null(orcid)) "" else sprintf(",\n           comment = c(ORCID = \"%s\")", orcid)
  )
}

authors_field <- function(answers) {
  people <- lapply(answers$authors, function(author) {
    person_call(author$name, author$email, c("aut", if (author$name == answers$holder) "cph"))
  })
  own <- answers$holder == answers$name
  known <- own || answers$holder %in% vapply(answers$authors, `[[`, "", "name")
  calls <- c(
    person_call(answers$name, answers$email, c("aut", "cre", if (own) "cph"), answers$orcid), people,
    if (!known) sprintf("    person(\"%s\", role = \"cph\")", answers$holder),
    paste0(
      "    person(\"Authors of the dependency Rust crates\", role = \"aut\",\n",
      "           comment = \"see inst/AUTHORS file\")"
    )
  )
  paste0("c(\n", paste(calls, collapse = ",\n"), ")")
}

description_with <- function(lines, answers) {
  lines <- set_field(lines, "Authors@R", authors_field(answers), "Version")
  lines <- set_field(lines, "URL", paste(c(answers$repository, answers$site), collapse = ", "), "License")
  lines <- set_field(lines, "BugReports", answers$issues, "URL")
  packages <- if (length(answers$packages)) paste(answers$packages, collapse = ", ")
  set_field(lines, "Additional_repositories", packages, "Enhances")
}

license_with <- function(lines, answers) {
  lines <- sub("^COPYRIGHT HOLDER: .*", paste0("COPYRIGHT HOLDER: ", answers$holder), lines)
  sub("^(Copyright \\(c\\) [0-9-]+) .*", paste("\\1", answers$holder), lines)
}

# `line` in the place of the one that begins with `key`, or else behind the one that is `behind`
with_line <- function(lines, key, line, behind) {
  old <- startsWith(lines, key)
  if (any(old)) {
    lines[old] <- line
    return(lines)
  }
  append(lines, line, match(behind, lines))
}

workspace_with <- function(lines, answers) {
  with_line(lines, "repository = ", sprintf("repository = \"%s\"", answers$repository), "[workspace.package]")
}

crate_with <- function(lines, answers) {
  with_line(lines, "repository.workspace = ", "repository.workspace = true", "license.workspace = true")
}

site_with <- function(lines, answers) {
  if (is.null(answers$site)) {
    return(lines[!startsWith(lines, "url: ")])
  }
  with_line(lines, "url: ", paste0("url: ", answers$site), "title: xlaffi")
}

places <- list(
  DESCRIPTION = description_with, LICENSE = license_with, LICENSE.md = license_with, "_pkgdown.yml" = site_with,
  "src/rust/Cargo.toml" = workspace_with, "src/rust/crates/xla-ffi/Cargo.toml" = crate_with,
  "src/rust/crates/xla-ffi/LICENSE.md" = license_with
)

# --- asking and writing -------------------------------------------------------------------------

questions <- c(
  name = "Maintainer, given and family name", email = "Address that CRAN writes to", orcid = "ORCID, if there is one",
  authors = "Other authors, \"Given Family <address>; ...\"", holder = "Copyright holder, if not the maintainer",
  repository = "Address of the repository", issues = "Where faults are told, if not at its /issues",
  site = "Address of the site, if it is published",
  packages = "Repositories of packages that CRAN has not, if others than DESCRIPTION has"
)

arguments_of <- function(arguments) {
  name <- sub("^--([a-z]+)=.*$", "\\1", arguments)
  unknown <- !grepl("^--[a-z]+=", arguments) | !name %in% names(questions)
  if (any(unknown)) {
    refused("unknown argument %s; known are %s", arguments[unknown][[1L]], toString(sprintf("--%s=", names(questions))))
  }
  as.list(stats::setNames(trimws(sub("^--[a-z]+=", "", arguments)), name))
}

# What no argument gives is asked for, where somebody is there to answer; empty answers are none.
answered <- function(given) {
  input <- file("stdin")
  on.exit(close(input))
  if (isatty(stdin()) || identical(Sys.getenv("XLAFFI_ASK"), "true")) {
    open(input)
    for (name in setdiff(names(questions), names(given))) {
      cat(questions[[name]], ": ", sep = "")
      given[[name]] <- trimws(c(readLines(input, 1L), "")[[1L]])
    }
    cat("\n")
  }
  Filter(nzchar, given)
}

fill_in <- function(given, root) {
  paths <- stats::setNames(file.path(root, names(places)), names(places))
  description <- read(paths[["DESCRIPTION"]])
  known <- sub("^[^:]*: *", "", paste(description[field_lines(description, "Additional_repositories")], collapse = " "))
  answers <- checked_answers(given, known)
  made <- Map(function(path, change) change(read(path), answers), paths, places)
  for (place in names(places)) {
    if (!identical(made[[place]], read(paths[[place]]))) {
      write(made[[place]], paths[[place]])
      cat("changed ", place, "\n", sep = "")
    }
  }
  cat("`make document` puts this into ?xlaffi.\n")
}

if (sys.nframe() == 0L) {
  script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  tryCatch(
    fill_in(answered(arguments_of(commandArgs(TRUE))), dirname(dirname(normalizePath(script)))),
    error = function(e) {
      cat("maintainer: ", conditionMessage(e), "; nothing was changed\n", sep = "", file = stderr())
      quit(save = "no", status = 1L)
    }
  )
}
