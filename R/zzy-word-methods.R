# The name puts this file behind all that add words: which of them are methods is found out when the package is
# installed, and the table itself is not read before one of them is called.
word_methods <- local({
  entries <- Filter(function(entry) entry$by == "method", as.list(words))
  vapply(entries, function(entry) entry$package, "")
})

register_words <- function() {
  for (package in unique(word_methods)) {
    home <- if (package == "base") .BaseNamespaceEnv else asNamespace(package)
    methods <- home[[".__S3MethodsTable__."]]
    for (name in names(word_methods)[word_methods == package]) {
      promise_method(name, methods)
    }
  }
}

promise_method <- function(name, methods) {
  delayedAssign(paste0(name, ".xlaffi_value"), words[[name]]$f, assign.env = methods)
}
