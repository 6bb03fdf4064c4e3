cuda_libraries <- function() .Call(wrap__cuda_libraries)

memory_maps <- function() .Call(wrap__memory_maps)

lapack_report <- function() .Call(wrap__lapack_report)

call_again <- function(id, arguments, known, places) .Call(wrap__call_again, id, arguments, known, places)

buffer_from_r <- function(data, dtype, device, shape) .Call(wrap__buffer_from_r, data, dtype, device, shape)

buffer_from_r_now <- function(data, dtype, device, shape, check) .Call(wrap__buffer_from_r_now, data, dtype, device, shape, check)

buffer_from_raw <- function(data, dtype, device, shape, row_major) .Call(wrap__buffer_from_raw, data, dtype, device, shape, row_major)

buffer_empty <- function(dtype, device, shape) .Call(wrap__buffer_empty, dtype, device, shape)

buffer_to_r_now <- function(buffer) .Call(wrap__buffer_to_r_now, buffer)

buffer_if_there <- function(buffer) .Call(wrap__buffer_if_there, buffer)

buffer_to_r <- function(buffer) .Call(wrap__buffer_to_r, buffer)

buffer_to_raw <- function(buffer, row_major) .Call(wrap__buffer_to_raw, buffer, row_major)

buffer_describe <- function(buffer) .Call(wrap__buffer_describe, buffer)

buffer_device <- function(buffer) .Call(wrap__buffer_device, buffer)

buffer_wait <- function(buffer, seconds) .Call(wrap__buffer_wait, buffer, seconds)

buffer_copy <- function(buffer, device) .Call(wrap__buffer_copy, buffer, device)

buffer_lines <- function(buffer, max_rows, max_width, max_rows_slice) .Call(wrap__buffer_lines, buffer, max_rows, max_width, max_rows_slice)

buffer_literals <- function(buffer) .Call(wrap__buffer_literals, buffer)

dtype_parse <- function(dtype) .Call(wrap__dtype_parse, dtype)

callback_open <- function(name, namespace) .Call(wrap__callback_open, name, namespace)

callback_close <- function() .Call(wrap__callback_close)

callback_new <- function(name, text, variables, sets, number, vectorized, patience) .Call(wrap__callback_new, name, text, variables, sets, number, vectorized, patience)

callback_released <- function() .Call(wrap__callback_released)

callback_interrupted <- function() .Call(wrap__callback_interrupted)

callback_arguments <- function(which) .Call(wrap__callback_arguments, which)

callback_take <- function(which, value) .Call(wrap__callback_take, which, value)

callback_failed <- function(code, message) .Call(wrap__callback_failed, code, message)

client_platform <- function(client) .Call(wrap__client_platform, client)

client_number <- function(client) .Call(wrap__client_number, client)

client_devices <- function(client) .Call(wrap__client_devices, client)

client_compile <- function(device, program, options) .Call(wrap__client_compile, device, program, options)

client_load <- function(device, program, compiled, options) .Call(wrap__client_load, device, program, compiled, options)

client_facts <- function(device) .Call(wrap__client_facts, device)

code_note <- function(target, code) .Call(wrap__code_note, target, code)

device_describe <- function(device) .Call(wrap__device_describe, device)

device_memory_stats <- function(device) .Call(wrap__device_memory_stats, device)

digest <- function(data) .Call(wrap__digest, data)

distributed_wait <- function(seconds) .Call(wrap__distributed_wait, seconds)

distributed_join <- function(plugin, platform, names, values) .Call(wrap__distributed_join, plugin, platform, names, values)

distributed_status <- function() .Call(wrap__distributed_status)

distributed_leave <- function() .Call(wrap__distributed_leave)

dtype_table <- function() .Call(wrap__dtype_table)

leave_session <- function() .Call(wrap__leave_session)

in_flight_limit <- function(limit) .Call(wrap__in_flight_limit, limit)

own_op_make <- function(name, text, variables, sets, dtypes, functions, words, inits, cleanups, code, common, one_thread, status, foreign, package, kernels) .Call(wrap__own_op_make, name, text, variables, sets, dtypes, functions, words, inits, cleanups, code, common, one_thread, status, foreign, package, kernels)

own_op_types <- function(op, dtypes, shapes, numbers) .Call(wrap__own_op_types, op, dtypes, shapes, numbers)

own_op_about <- function(op) .Call(wrap__own_op_about, op)

own_instances <- function(text, variables, sets) .Call(wrap__own_instances, text, variables, sets)

kernels_new <- function(name, signature, variables, sets, files, body, support, header, index, over, grid, block, shared, options) .Call(wrap__kernels_new, name, signature, variables, sets, files, body, support, header, index, over, grid, block, shared, options)

kernels_sources <- function(kernels) .Call(wrap__kernels_sources, kernels)

kernels_compile <- function(kernels, instance, architecture) .Call(wrap__kernels_compile, kernels, instance, architecture)

kernels_provide <- function(kernels, instance, architecture, image) .Call(wrap__kernels_provide, kernels, instance, architecture, image)

cuda_compiler <- function() .Call(wrap__cuda_compiler)

own_signature <- function(text) .Call(wrap__own_signature, text)

run_wait <- function(run, seconds) .Call(wrap__run_wait, run, seconds)

run_abandon <- function(run) .Call(wrap__run_abandon, run)

identity_new <- function() .Call(wrap__identity_new)

identity_is_here <- function(identity) .Call(wrap__identity_is_here, identity)

identity_text <- function(identity) .Call(wrap__identity_text, identity)

signature <- function(id, arguments) .Call(wrap__signature, id, arguments)

same_objects <- function(x, y) .Call(wrap__same_objects, x, y)

unchanged <- function(variables, version, places) .Call(wrap__unchanged, variables, version, places)

executable_execute <- function(executable, arguments, options, check, simplify, refuse_na) .Call(wrap__executable_execute, executable, arguments, options, check, simplify, refuse_na)

executable_launch <- function(executable, arguments) .Call(wrap__executable_launch, executable, arguments)

executable_call <- function(executable, arguments, dtypes, device, read, alone) .Call(wrap__executable_call, executable, arguments, dtypes, device, read, alone)

executable_use <- function(executable) .Call(wrap__executable_use, executable)

executable_forget <- function(executable) .Call(wrap__executable_forget, executable)

executable_used <- function(executable) .Call(wrap__executable_used, executable)

executable_serialize <- function(executable) .Call(wrap__executable_serialize, executable)

executable_info <- function(executable) .Call(wrap__executable_info, executable)

parts_new <- function(dtype, device, shape, open) .Call(wrap__parts_new, dtype, device, shape, open)

parts_put <- function(parts, data) .Call(wrap__parts_put, parts, data)

parts_step <- function(parts, stored) .Call(wrap__parts_step, parts, stored)

parts_bytes <- function(parts) .Call(wrap__parts_bytes, parts)

parts_finish <- function(parts) .Call(wrap__parts_finish, parts)

parts_give_up <- function(parts) .Call(wrap__parts_give_up, parts)

stored_open <- function(path, offset, dtype, shape, row_major, swapped, rows) .Call(wrap__stored_open, path, offset, dtype, shape, row_major, swapped, rows)

stored_describe <- function(stored) .Call(wrap__stored_describe, stored)

plugin_open <- function(path, platform) .Call(wrap__plugin_open, path, platform)

plugin_info <- function(plugin) .Call(wrap__plugin_info, plugin)

plugin_attributes_list <- function(plugin) .Call(wrap__plugin_attributes_list, plugin)

plugin_client <- function(plugin, platform, names, values, further) .Call(wrap__plugin_client, plugin, platform, names, values, further)

point_again <- function(point, par, gradient, places) .Call(wrap__point_again, point, par, gradient, places)

printed <- function() .Call(wrap__printed)

process_start <- function(program, arguments, folder, environment, output) .Call(wrap__process_start, program, arguments, folder, environment, output)

process_wait <- function(process, seconds) .Call(wrap__process_wait, process, seconds)

process_stop <- function(process) .Call(wrap__process_stop, process)

program_new <- function(src, format) .Call(wrap__program_new, src, format)

program_info <- function(program) .Call(wrap__program_info, program)

program_lasts <- function(program) .Call(wrap__program_lasts, program)

program_refine <- function(program, shapes) .Call(wrap__program_refine, program, shapes)

python_keep_lock <- function() .Call(wrap__python_keep_lock)

python_look <- function() .Call(wrap__python_look)

python_start <- function() .Call(wrap__python_start)

start <- function() .Call(wrap__start)

handler_check <- function(pointer, target, platform) .Call(wrap__handler_check, pointer, target, platform)

registry_register <- function(target, platform, stages, package) .Call(wrap__registry_register, target, platform, stages, package)

registry_withdraw <- function(target, platform) .Call(wrap__registry_withdraw, target, platform)

registry_forget <- function(package) .Call(wrap__registry_forget, package)

withdrawn_wait <- function(calls, seconds) .Call(wrap__withdrawn_wait, calls, seconds)

registry_handler <- function(target, platform) .Call(wrap__registry_handler, target, platform)

plugin_pass_on <- function(plugin, target) .Call(wrap__plugin_pass_on, plugin, target)

registry_list <- function() .Call(wrap__registry_list)

routine_new <- function(op, pointer, arguments) .Call(wrap__routine_new, op, pointer, arguments)

routine_guarded <- function(routine) .Call(wrap__routine_guarded, routine)

routine_thrown <- function() .Call(wrap__routine_thrown)

library_open <- function(path) .Call(wrap__library_open, path)

library_symbol <- function(library, name) .Call(wrap__library_symbol, library, name)

library_load <- function(library, name) .Call(wrap__library_load, library, name)

sparse_analyse <- function(n, colptr, rowind) .Call(wrap__sparse_analyse, n, colptr, rowind)

sparse_own_factor <- function(n, colptr, rowind) .Call(wrap__sparse_own_factor, n, colptr, rowind)

sparse_star_colouring <- function(n, colptr, rowind) .Call(wrap__sparse_star_colouring, n, colptr, rowind)

sparse_column_colouring <- function(nrow, ncol, colptr, rowind) .Call(wrap__sparse_column_colouring, nrow, ncol, colptr, rowind)

debug_start <- function(names, once) .Call(wrap__debug_start, names, once)

debug_stop <- function(debug) .Call(wrap__debug_stop, debug)

debug_findings <- function(debug) .Call(wrap__debug_findings, debug)

profile_start <- function() .Call(wrap__profile_start)

profile_stop <- function(profile) .Call(wrap__profile_stop, profile)

