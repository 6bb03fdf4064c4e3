library(testthat)
library(xlaffi)

test_check("xlaffi")
