# What R's functions mean for values of programs: one entry per function. The help topic, tests and the conversion of
# traced functions go through this table.
#
# by          "method": R dispatches on values, and `f` becomes a method; "conversion": R does not, and in traced
#             functions `f` is called in place of R's function where an argument is a value; "group": the method of a
#             group (Math, Ops, Summary, Complex) has it, or NAMESPACE registers it; "own": a function of this package
#             that R does not have
# topic       a heading of the help topic
# dtypes      what it takes, in words
# derivative  "yes", "none" (flat, or no numbers), "forward", or in words
# differs     what is not as in R, in one sentence, or ""
# functional  it takes a function, which may give values though no argument is one: `f` is called in any case
overloads <- new.env(parent = emptyenv())

# `name` is in R's `package`; `f` has the arguments of R's function.
overload <- function(name, package, f = NULL, by = "conversion", topic, dtypes, derivative = "yes", differs = "",
                     functional = FALSE) {
  force(f)
  overloads[[name]] <- list(
    name = name, package = package, f = f, by = by, topic = topic, dtypes = dtypes, derivative = derivative,
    differs = differs, functional = functional
  )
}

# Overloads that only move elements
shape_overload <- function(name, f, by = "conversion", package = "base", differs = "", functional = FALSE) {
  overload(name, package, f, by,
    topic = "Shapes", dtypes = "all", differs = differs, functional = functional
  )
}

# Overloads that go through elements
element_overload <- function(name, f, by = "conversion", differs = "") {
  overload(name, "base", f, by,
    topic = "Elements", dtypes = "all", differs = differs, functional = by == "conversion"
  )
}

overload_topics <- c(
  "Mathematical functions", "Special functions", "Summaries", "Linear algebra", "Solvers", "Shapes", "Indices",
  "Sorting", "Logic and control", "Complex numbers and bits", "Elements", "Distributions", "Random numbers",
  "Several devices"
)

# function(x, shown, call, ...) by R's name: `shown` is the function as messages name it, `call` the user's call.
math_members <- new.env(parent = emptyenv())
