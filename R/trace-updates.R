# Where an update of a part of an array may be done in the array's own memory; see prim-dynamic-update-slice.R for why
# it may not be everywhere.

# Notes at each `dynamic_update_slice` among the nodes of a region whether nothing can turn into a reshape between the
# array and the update: neither is the array a reshaped one, nor is the result used but by what XLA computes element for
# element, takes slices of, updates further, or hands out.
note_updates <- function(nodes) {
  updates <- vapply(nodes, function(node) node$op == "dynamic_update_slice", NA)
  if (!any(updates)) {
    return(invisible())
  }
  for (node in nodes[updates]) {
    node$in_place <- !resolved(node$inputs[[1L]])@node$op %in% reshaping
  }
  # Users come behind what they use: what a user of an update says is known before it is asked for.
  for (node in rev(nodes)) {
    plain <- node$op %in% reading_alike || (node$op == "dynamic_update_slice" && node$in_place)
    if (!plain) {
      for (value in node$inputs) {
        used <- resolved(value)@node
        if (used$op == "dynamic_update_slice") used$in_place <- FALSE
      }
    }
  }
}

reshaping <- c("reshape", "transpose", "broadcast_in_dim", "bitcast_convert")

reading_alike <- c(elementwise, "compare", "convert", "select", "slice", "dynamic_slice")
