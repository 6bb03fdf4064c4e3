#' An op from source code
#'
#' @description
#' Compiles code in C, C++, Fortran, Rust or CUDA and makes an op of it: a function that works on R arrays, on buffers
#' and inside programs. The [signature][ffi_signature()] says what it takes and gives; checks, types and batches come
#' from there:
#'
#' ```r
#' times <- ffi_source("x: T[n], y: T[] -> z: T[n]",
#'   code = "for (int64_t i = 0; i < n; i++) z[i] = x[i] * *y;")
#' times(c(1, 2, 3), 2)
#' ```
#'
#' @details
#' # What a body sees
#' In C and C++: `const T *x` and `T *z`, dimensions as `int64_t n`, attributes by value (`double alpha`), arrays as
#' `const int64_t *lags` with their length under its name, strings as `const char *mode` and `int64_t mode_length`
#' (there is no NUL at the end), `T` and `U` as types. An operand that is not given is `NULL`; one that comes several
#' times is an array of pointers. `FAIL("x[%lld] is negative", (long long) i)` ends the call with an error,
#' `FAIL_WITH(XLAFFI_OUT_OF_RANGE, ...)` with that code. A C++ exception becomes an error. `f16` and `bf16` are bits:
#' see `xlaffi_from_f16()` and its like in the header.
#'
#' In Rust: `x: &[T]`, `z: &mut [T]`, scalars `y: &T`, what may be left out `Option<&[T]>`, dimensions `n: usize`,
#' attributes by value, as `&[i64]` or `&str`. `?` works on any error; `Err("text".into())` and `fail!("x[{i}] is
#' negative")` end the call with one; a panic becomes one.
#'
#' In Fortran: arrays `x(n)` with `T` as the kind (`1.0_T`), dimensions as `integer(c_int64_t)`, `present(w)` for
#' what may be left out. A matrix in `column` order has the signature's dimensions, in `row` order they are reversed.
#' `call fail("text")` and `return` end the call with an error. A body begins with its declarations and needs no
#' `implicit none`; modules of the support code are in use. The code may also be a whole subroutine, as in a file.
#'
#' # CUDA
#' `cuda` is what the op does on a GPU: code for one element of the first result, whose index is `i`, or an
#' [ffi_kernel()], which says what kernels see and how many threads run them. With `lang = "cuda"` the op has a kernel
#' only, and a call on the CPU is an error that says so, as is one on a GPU without a kernel.
#'
#' # State
#' `init` is code that makes a state, once for each compiled program or at the first call, and leaves it in
#' `xlaffi_state` (a `void *`); it sees the attributes. The body sees `xlaffi_state`, `cleanup` frees it. There is
#' state in C and C++ only.
#'
#' # Code at load and unload
#' `on_load` is code that runs once when the compiled library is loaded, with the support code's functions and variables
#' in sight; it may fail as a body does, and then there is no op. `on_unload` runs when the library goes: after the last
#' op and program that need it, or at the end of R, on any thread; errors in it can only be printed. Each copy of the
#' support code has its own: where it uses a dtype variable, and always in Rust, there is one for each combination of
#' dtypes. Fortran has no such code, Rust on Windows no `on_unload`.
#'
#' # Files
#' A file may hold several ops, each a function behind a comment that says its signature:
#' ```c
#' #include <xlaffi.h>
#' // xlaffi: times(x: f64[n], y: f64[] -> z: f64[n])
#' void times(int64_t n, const double *x, const double *y, double *z) {
#'   for (int64_t i = 0; i < n; i++) z[i] = x[i] * *y;
#' }
#' ```
#' The function's arguments have the names of what they take, in any order; `call` takes the `const xlaffi_call *`
#' that `xlaffi_fail()` needs. It returns nothing, `int32_t` (0, or what `xlaffi_fail()` gave) or `const char *`
#' (NULL, or the text of an error). With `dtypes T = f32, f64; U = i32` at its end the comment says what dtype
#' variables stand for: in C the file is compiled for each of them, with `T` as a type and `XLAFFI_TYPED` as a macro,
#' in C++ and Rust the function may be a template. The comment begins with `// xlaffi:`, in Fortran with `! xlaffi:`.
#'
#' # The cache
#' What was compiled is kept in the user's cache folder, see [xla_cache()], and later sessions load it, also where there
#' is no compiler any more. It is found by the source, flags, libraries, the compiler, variables such as `CPATH`, and,
#' with `native`, the processor; and it is used as long as all files that the compiler read are as they were. Code whose
#' inputs cannot be known (`__TIME__`, `.incbin` with a name in pieces, crates in folders with a `build.rs`) is compiled
#' each time. Making an op again leaves others as they are: a program runs the body that it was compiled with. An op
#' itself cannot be saved or sent to another process: a script makes it in each session, from the cache.
#'
#' What the compiler warns of in your lines is shown when they are compiled, as a message of class
#' `xlaffi_message_compiler`, and not where they come from the cache; `flags = "-Wall"` asks C and C++ compilers for
#' more, `options(xlaffi.compiler_warnings = FALSE)` for none.
#'
#' # XLA's own C++ interface
#' With `lang = "xla"` a file (or `code`) is one that includes `xla/ffi/api/ffi.h`, as jax.ffi's examples do, or Rust
#' that is written with the crate `xla-ffi` ([ffi_rust_dir()]). Each handler that `XLA_FFI_DEFINE_HANDLER_SYMBOL()`
#' defines is registered as a target under its name, for [ffi_call()]. Those of other stages than execution are not:
#' `pjrt_register_custom_call("name", list(host = list(instantiate = ops$Make, execute = ops$Run)))` puts them together.
#' Types of states (with `static TypeId id`, outside of named namespaces) are registered with XLA.
#'
#' @param signature What the op takes and gives, see [ffi_signature()]. `NULL` with a `file` that says it.
#' @param code The body, or NULL for one in `file`.
#' @param lang The language: `"c"` (the default), `"c++"`, `"fortran"`, `"rust"`, `"cuda"`, or `"xla"` for handlers
#'   written with XLA's C++ header or with the Rust crate [xla-ffi][ffi_rust_dir()]. A `file` tells by its name and its
#'   includes.
#' @param file A source file. With a signature the function `name` of it is the op; without, each function with a
#'   comment is one.
#' @param name The op's name, also that of its custom call. Of a file with several ops, the one that is wanted.
#' @param dtypes What dtype variables stand for: `list(T = c("f32", "f64"))`, which is the default for each.
#' @param support Code before the body: includes, functions, types. Where it uses a dtype variable in C or C++, it is
#'   compiled for each combination of dtypes.
#' @param init,cleanup Code that makes and frees a state.
#' @param on_load,on_unload Code that runs when what was compiled is loaded and unloaded.
#' @param flags More flags for the compiler, behind R's own.
#' @param include Folders with header files.
#' @param libraries Libraries to link: names (`"m"`), files, `"blas"` and `"lapack"` for R's. In Rust names only.
#' @param native Whether to compile for this very processor.
#' @param openmp Whether to compile with OpenMP, in C, C++ and Fortran.
#' @param debug Whether to compile without optimisation and with debug information.
#' @param dependencies Rust crates, which cargo builds: `c(rand = "0.8")`, or as in a `Cargo.toml`, `c(mine = '{ path
#'   = "/folder" }')`.
#' @param threads Whether elements of a batch may be worked on by several threads at once. A body that keeps
#'   something in variables of its own or in the state needs `FALSE`, or a lock: calls of several programs may still
#'   meet.
#' @param side_effect Whether the op is called even if nobody needs its results: FALSE, TRUE or `"ordered"`. XLA does
#'   not call one without side effects whose results have no elements, so errors of its body do not show then.
#' @param jvp,vjp,transpose,vmap Rules for derivatives and batches, see [ffi_op()]. A rule with an argument
#'   `attributes` is given those of the call.
#' @param cuda A kernel for the same op: the code, or [ffi_kernel()].
#' @return An op, class `xlaffi_own_op`. Of a file without a signature and a `name`, a named list of them. With `lang
#'   = "xla"` a named list of external pointers to the handlers.
#' @seealso [ffi_load()] for libraries that are compiled already, [ffi_routine()] for routines of packages;
#'   [xla_cache()].
#' @examplesIf plugins_downloaded() && nzchar(Sys.which("gcc"))
#' times <- ffi_source("x: T[n], y: T[] -> z: T[n]", lang = "c",
#'   code = "for (int64_t i = 0; i < n; i++) z[i] = x[i] * *y;"
#' )
#' times(c(1, 2, 3), 2)
#'
#' # The same with a kernel for GPUs
#' times <- ffi_source("x: T[n], y: T[] -> z: T[n]",
#'   code = "for (int64_t i = 0; i < n; i++) z[i] = x[i] * *y;",
#'   cuda = "z[i] = x[i] * *y;"
#' )
#' @export
ffi_source <- function(signature = NULL, code = NULL, lang = NULL, file = NULL, name = NULL, dtypes = list(),
                       support = NULL, init = NULL, cleanup = NULL, on_load = NULL, on_unload = NULL,
                       flags = character(), include = character(), libraries = character(), native = FALSE,
                       openmp = FALSE, debug = FALSE, dependencies = NULL, threads = TRUE, side_effect = FALSE,
                       jvp = NULL, vjp = NULL, transpose = NULL, vmap = NULL, cuda = NULL) {
  kernel <- source_kernel(
    lang, file, code, cuda, support, flags, include, list(
      libraries = length(libraries), native = native, openmp = openmp, debug = debug, dependencies = dependencies,
      threads = !isTRUE(threads)
    )
  )
  source <- list(
    language = source_language(lang, file), file = source_file(file, code, signature, name, lang),
    support = code_lines(support, "support"),
    on_load = code_lines(on_load, "on_load"), on_unload = code_lines(on_unload, "on_unload"),
    flags = check_strings(flags, "flags"), include = normalizePath(check_strings(include, "include"), "/", FALSE),
    libraries = check_strings(libraries, "libraries"), native = native, openmp = openmp, debug = debug
  )
  source$dependencies <- check_dependencies(dependencies, source$language)
  for (flag in c("native", "openmp", "debug")) {
    check_flag(source[[flag]], flag)
  }
  check_load(source)
  check_flag(threads, "threads")
  check_side_effect(side_effect, "side_effect")
  if (source$language == "xla") {
    refuse_given(
      list(
        signature = signature, name = name, dtypes = length(dtypes), init = init, cleanup = cleanup, cuda = cuda,
        threads = !threads
      ),
      "handlers (lang = \"xla\")"
    )
    refuse_given(
      list(
        jvp = jvp, vjp = vjp, transpose = transpose, vmap = vmap, side_effect = !identical(side_effect, FALSE)
      ),
      "handlers (lang = \"xla\"): give it to ffi_call()"
    )
    lines <- if (is.null(source$file)) code_lines(code, "code") else readLines(source$file, warn = FALSE)
    in_rust <- uses_xla_ffi(lines)
    refuse_given(list(openmp = openmp && in_rust), "Rust")
    return(if (in_rust) rust_handlers_source(source, lines) else xla_source(source, lines))
  }
  refuse_given(list(openmp = openmp && source$language == "rust"), "Rust")
  source$kernel <- kernel
  source$ops <- source_ops(
    source, signature, if (source$language == "cuda") kernel$code else code, name, dtypes, init, cleanup
  )
  if (length(source$ops) > 1L && !is.null(cuda)) {
    abort("`cuda` belongs to one op: `name` says which of the file is wanted", operand = "name")
  }
  rules <- list(jvp = jvp, vjp = vjp, transpose = transpose, vmap = vmap)
  if (length(source$ops) > 1L && any(lengths(rules) > 0L)) {
    abort("rules belong to one op: `name` says which of the file is wanted", operand = "name")
  }
  check_rules(rules, names(source$ops)[[1L]])
  load <- if (source$language == "cuda") kernel_load else source_load
  ops <- load(source, list(threads = threads, side_effect = side_effect, status = FALSE), rules)
  if (length(ops) == 1L && (!is.null(signature) || !is.null(name))) ops[[1L]] else ops
}
