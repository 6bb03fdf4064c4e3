# Writes the site into a folder: pkgdown's pages of the installed package, the search's index, and llms.txt.
#
#   Rscript tools/site/build.R FOLDER
folder <- normalizePath(commandArgs(trailingOnly = TRUE)[[1]], mustWork = FALSE)

# Nothing is asked of the network, not even whether the package is on CRAN.
options(pkgdown.internet = FALSE)
# Where an article attaches a package that is not installed, downlit asks CRAN for its address, to link to it.
utils::assignInNamespace("CRAN_urls", function() data.frame(Package = character(), URL = character()), "downlit")
pkgdown::build_site(
  ".",
  devel = FALSE, install = FALSE, new_process = FALSE, preview = FALSE,
  override = list(destination = folder, template = list(path = normalizePath("tools/site/templates")))
)

# pkgdown knows the README's links to vignettes, but not those to pages that only the site has.
home <- file.path(folder, "index.html")
lines <- readLines(home, encoding = "UTF-8")
lines <- gsub("href=\"vignettes/articles/([^\"]+)[.]Rmd\"", "href=\"articles/\\1.html\"", lines)
writeLines(lines, home, useBytes = TRUE)

# What these pages load in its place is tools/site/assets/site.js.
unlink(file.path(folder, "pkgdown.js"))

# As a script, because browsers do not let pages from files read other files.
index <- jsonlite::read_json(file.path(folder, "search.json"))
# pkgdown leaves empty places for sections without text.
index <- Filter(function(entry) length(entry$path) > 0L, index)
fields <- c("path", "id", "dir", "title", "what", "text", "code")
index <- lapply(index, function(entry) {
  entry <- lapply(stats::setNames(nm = fields), function(field) {
    gsub("[[:space:]]+", " ", paste(unlist(entry[[field]]), collapse = " "))
  })
  entry$path <- sub("^/", "", entry$path)
  entry
})
writeLines(
  paste0("window.searchIndex = ", jsonlite::toJSON(index, auto_unbox = TRUE), ";"),
  file.path(folder, "search-index.js"),
  useBytes = TRUE
)
unlink(file.path(folder, "search.json"))

# --- llms.txt: every page with a sentence -----------------------------------------------
site <- pkgdown::as_pkgdown(".")
entry <- function(title, path, text) sprintf("- [%s](%s): %s", title, path, gsub("[[:space:]]+", " ", text))

articles <- lapply(site$meta$articles, function(group) {
  found <- match(group$contents, site$vignettes$name)
  front <- lapply(site$vignettes$file_in[found], rmarkdown::yaml_front_matter)
  text <- vapply(front, function(x) x$description, "")
  c(entry(vapply(front, function(x) x$title, ""), site$vignettes$file_out[found], text))
})

reference <- lapply(site$meta$reference, function(group) {
  found <- vapply(group$contents, function(name) {
    which(site$topics$name == name | vapply(site$topics$alias, function(alias) name %in% alias, NA))[[1]]
  }, 1L)
  path <- file.path("reference", site$topics$file_out[found])
  c("", paste0("### ", group$title), "", group$desc, "", entry(group$contents, path, site$topics$title[found]))
})

description <- read.dcf("DESCRIPTION", c("Title", "Description"))
writeLines(c(
  "# xlaffi", "",
  paste0("> ", gsub("[[:space:]]+", " ", description[[1, "Description"]])), "",
  "## Start", "",
  entry("xlaffi", "index.html", "What the package is, how to install it, and first programs."),
  entry("Cheat sheet", "cheatsheet.html", "The package on one page."),
  entry("News", "news/index.html", "What has changed."), "",
  "## Articles", "", unlist(articles), "",
  "## Reference", "",
  entry("All pages", "reference/index.html", "Functions by purpose."),
  unlist(reference)
), file.path(folder, "llms.txt"), useBytes = TRUE)
