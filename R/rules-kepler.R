# E - e sin E = M: by implicit differentiation, dE = (dM + sin E de) / (1 - e cos E), from which
# those of sin E and cos E follow. The order of arguments and results is the handler's.
kepler_jvp <- function(primals, results, tangents) {
  e <- primals[[2L]]
  sine <- results[[1L]]
  cosine <- results[[2L]]
  change <- add_tangents(tangents[[1L]], along(tangents[[2L]], function(de) sine * de)) / kepler_slope(e, sine, cosine)
  list(cosine * change, -sine * change)
}

# dM/dE = 1 - e cos E without cancellation near e = 1, E = 0: there 1 - cos E is taken as
# sin^2 E / (1 + cos E).
kepler_slope <- function(e, sine, cosine) {
  near <- cosine > 0
  cosine_near <- hlo_select(near, cosine, 0)
  hlo_select(near, (1 - e) + e * (sine * sine / (1 + cosine_near)), 1 - e * cosine)
}
