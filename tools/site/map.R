# The map of the package as sections of its help page ?xlaffi: the groups of _pkgdown.yml, and of each page in them
# its functions and its title, as man/ has them. R/xlaffi-package.R asks for it while help pages are written.
map_sections <- function() {
  exports <- sub("^export[(]\"?(.*?)\"?[)]$", "\\1", grep("^export[(]", readLines("NAMESPACE"), value = TRUE))
  field <- function(page, name) {
    lines <- grep(sprintf("^\\\\%s[{]", name), page, value = TRUE)
    sub(sprintf("^\\\\%s[{](.*)[}]$", name), "\\1", lines)
  }

  pages <- lapply(list.files("man", "[.]Rd$", full.names = TRUE), readLines)
  names(pages) <- vapply(pages, field, "", name = "name")
  aliases <- lapply(pages, field, name = "alias")

  item <- function(topic) {
    page <- if (topic %in% names(pages)) topic else names(pages)[vapply(aliases, function(a) topic %in% a, NA)]
    functions <- intersect(aliases[[page]], exports)
    links <- if (length(functions)) {
      sprintf("\\code{\\link[=%s]{%s()}}", functions, functions)
    } else {
      sprintf("\\link[=%s]{%s}", topic, topic)
    }
    sprintf("  \\item %s: %s", toString(links), field(pages[[page]], "title"))
  }
  groups <- yaml::read_yaml("_pkgdown.yml")$reference
  unlist(lapply(groups, function(group) {
    items <- vapply(setdiff(group$contents, "xlaffi"), item, "")
    c(sprintf("@section %s:", group$title), group$desc, "\\itemize{", items, "}")
  }))
}
