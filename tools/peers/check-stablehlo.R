# Programs of ours within functions that the real package stablehlo builds, 0.4.0 or older, without anvl: values beside
# the same program called alone. stablehlo and what it imports are found by R_LIBS before ours.
#
#   R_LIBS=library:.lib Rscript tools/peers/check-stablehlo.R
library(xlaffi)
f <- function(x, y) {
  s <- xla_svd(x)
  list(s$d * y, s$u %*% s$v + x)
}
type <- function(...) xlaffi:::new_type("f64", c(...))
program <- xlaffi:::anvl_program(f, list(type(3L, 3L), type(3L)), NULL)
stablehlo <- getNamespace("stablehlo")
func <- stablehlo$local_func()
a <- stablehlo$hlo_input("a", "f64", c(3L, 3L))
b <- stablehlo$hlo_input("b", "f64", 3L)
first <- xlaffi:::embedded(list(a, stablehlo$hlo_add(b, b)), program)
second <- xlaffi:::embedded(list(first[[2L]], first[[1L]]), program)
text <- stablehlo$repr(stablehlo$hlo_return(first[[1L]], stablehlo$hlo_negate(second[[2L]])))

x <- matrix(c(2, 1, 0, 3, 1, 1, 0.5, 2, 4), 3)
y <- c(1, 2, 3)
run <- pjrt_compile(pjrt_program(text))
got <- lapply(pjrt_execute(run, pjrt_buffer(x, "f64"), pjrt_buffer(y, "f64")), function(buffer) c(as_array(buffer)))
one <- xla_jit(f)(x, 2 * y)
two <- xla_jit(f)(one[[2L]], one[[1L]])
stopifnot(all.equal(got, list(c(one[[1L]]), -c(two[[2L]]))))
cat("stablehlo", format(utils::packageVersion("stablehlo")), "right\n")
