local_code_cache(teardown_env())

skip_without_cargo <- function() {
  skip_without_compiler("rust")
  skip_if(is.null(xlaffi:::program_file("cargo")), "no cargo")
}

# No crate of this machine, and no network: what is needed comes with the package.
local_bare_cargo <- function(envir = parent.frame()) {
  home <- withr::local_tempdir("cargo", .local_envir = envir)
  # Where the compilers of rustup are, which looks beside cargo otherwise.
  rustup <- Sys.getenv("RUSTUP_HOME", path.expand("~/.rustup"))
  withr::local_envvar(CARGO_HOME = home, RUSTUP_HOME = rustup, CARGO_NET_OFFLINE = "true", .local_envir = envir)
}

scale_code <- "//! What a file begins with.
use xla_ffi::{io, Arg, Attr, Cx, Host, Kernel, Op, Result, Ret, Untyped};

io! {
    pub struct ScaleIo<'f> {
        x: Arg<'f, f32>,
        y: Ret<'f, f32>,
        factor: Attr<f32> = 1.0,
    }
}

pub struct Scale;

impl Op for Scale {
    const TARGET: &'static str = \"rust_scale\";
    type Dtypes = Untyped;
}

impl Kernel<Host> for Scale {
    type Io<'f> = ScaleIo<'f>;

    fn run(mut io: ScaleIo<'_>, _cx: &Cx<'_, Host>) -> Result<()> {
        let factor = *io.factor;
        io.y.map_from([&io.x], |[x]| factor * x)
    }
}"

sums_code <- "
pub mod sums {
    use xla_ffi::{io, Arg, Attr, Context, Cx, Floats, Kernel, Platform, Result, Ret, Scalar, Stateful};

    io! { pub struct SetupIo { start: Attr<f64> } }
    io! { pub struct SumIo<'f, T> { x: Arg<'f, T>, y: Ret<'f, T>, start: Attr<f64> } }

    /// Adds what its state holds.
    pub struct Sum;
    pub struct Start(f64);

    impl xla_ffi::Op for Sum {
        const TARGET: &'static str = \"rust_sum\";
        type Dtypes = Floats;
    }
    impl<P: Platform> Stateful<P> for Sum {
        type State = Start;
        type Setup<'f> = SetupIo;
        fn instantiate(setup: SetupIo, _: &Context<'_>) -> Result<Start> { Ok(Start(*setup.start)) }
    }
    impl<T: Scalar + From<f32> + std::ops::Add<Output = T>, P: Platform> Kernel<P, T> for Sum {
        type Io<'f> = SumIo<'f, T>;
        fn run(mut io: SumIo<'_, T>, cx: &Cx<'_, P>) -> Result<()> {
            let Start(start) = cx.state()?;
            io.y.map_from([&io.x], |[x]| x + T::from(*start as f32))
        }
    }
}
pub use sums::Sum;
"

test_that("a file written with xla-ffi is compiled without a network, and its ops are targets", {
  skip_unless_all()
  skip_without_cargo()
  local_bare_cargo()
  file <- withr::local_tempfile(fileext = ".rs", lines = c(scale_code, sums_code))
  made <- ffi_source(file = file)
  withr::defer(for (target in names(made)) ffi_unregister(target, "host"))
  expect_named(made, c("rust_scale", "rust_sum"))
  expect_named(made$rust_sum, c("instantiate", "execute"))
  scale <- ffi_call("rust_scale", function(x) x, attributes = list(factor = ffi_attribute(3, "f32")))
  x <- pjrt_buffer(c(1, 2, 3), "f32")
  expect_identical(as_array(scale(x)), array(c(3, 6, 9), 3L))
  error <- error_of(scale(pjrt_buffer(1, "f64")))
  expect_match(conditionMessage(error), "rust_scale: argument `x` must be f32, got f64")
  sum <- ffi_call("rust_sum", function(x) x, attributes = list(start = ffi_attribute(10, "f64")))
  expect_identical(as_array(sum(x)), array(c(11, 12, 13), 3L))
  expect_identical(as_array(sum(pjrt_buffer(c(1, 2), "f64"))), array(c(11, 12), 2L))
  # The next session finds it.
  entries <- sort(xla_cache("code")$folder)
  expect_identical(names(ffi_source(file = file)), names(made))
  expect_identical(sort(xla_cache("code")$folder), entries)
})

test_that("a body uses what xla-ffi brings", {
  skip_unless_all()
  skip_without_cargo()
  local_bare_cargo()
  crate <- c("xla-ffi" = sprintf("{ path = '%s' }", ffi_rust_dir()))
  half <- ffi_source("x: f16[n] -> y: f32[n]", lang = "rust", name = "half_to_single", dependencies = crate,
    code = "for (y, x) in y.iter_mut().zip(x) { *y = xla_ffi::half::f16::from_bits(*x).to_f32(); }"
  )
  expect_identical(as_array(half(pjrt_buffer(c(1.5, -2), "f16"))), array(c(1.5, -2), 2L))
})

test_that("the crates that cargo has compiled count in the cache's size and go with the rest", {
  local_code_cache()
  root <- xlaffi:::code_folder()
  make <- function(name, bytes) {
    xlaffi:::code_entry(xlaffi:::text_digest(name), name, "lib", function(folder) {
      writeBin(raw(bytes), file.path(folder, "lib"))
    })
  }
  crates <- xlaffi:::crates_folder(root)
  dir.create(file.path(crates, "release", "deps"), recursive = TRUE)
  writeBin(raw(5000), file.path(crates, "release", "deps", "crate.rlib"))
  make("a", 100)
  shown <- xla_cache("code")
  expect_setequal(shown$name, c("a", "crates"))
  expect_gt(shown$bytes[shown$name == "crates"], 5000)
  withr::local_options(xlaffi.code_cache_size = 2000)
  # Some session may be building there.
  last <- make("b", 100)
  expect_true(dir.exists(crates))
  Sys.setFileTime(file.path(crates, "about"), Sys.time() - 7200)
  make("c", 100)
  expect_false(dir.exists(crates))
  expect_true(dir.exists(last))
  xlaffi:::crates_folder(root)
  xla_cache_clear("code")
  expect_false(dir.exists(crates))
})

test_that("the crate's folder is made anew where it is not what was written", {
  skip_unless_all()
  folder <- ffi_rust_dir()
  expect_true(all(c("Cargo.toml", "LICENSE.md", "src") %in% list.files(folder)))
  expect_true(all(c("half", "num-complex") %in% list.files(file.path(folder, "..", "vendor"))))
  manifest <- file.path(folder, "Cargo.toml")
  before <- readLines(manifest)
  writeLines("damaged", manifest)
  expect_identical(ffi_rust_dir(), folder)
  expect_identical(readLines(manifest), before)
  skip_on_os("windows")
  Sys.chmod(manifest, "0666", use_umask = FALSE)
  ffi_rust_dir()
  expect_identical(format(file.mode(manifest)), "700")
})

test_that("Rust that defines no op is refused, and errors are shown with the user's lines", {
  skip_unless_all()
  skip_without_cargo()
  local_bare_cargo()
  refused <- function(code) suppressMessages(ffi_source(code = code, lang = "xla"))
  expect_snapshot(error = TRUE, {
    refused("use xla_ffi::io;")
    refused(sub("\"rust_scale\"", "NAME", scale_code))
    refused(sub("pub struct Scale;", "struct Scale;", scale_code))
    refused(sub("factor * x", "factor * z", scale_code, fixed = TRUE))
  })
})

test_that("libraries that stay loaded are told when they become many", {
  op_state <- xlaffi:::op_state
  withr::defer(op_state$kept_libraries <- before)
  before <- op_state$kept_libraries
  op_state$kept_libraries <- NULL
  file <- withr::local_tempfile(lines = strrep("x", 2^20))
  keep <- function(i) xlaffi:::keep_library(if (i == 1) file else paste0(file, i), TRUE)
  expect_silent(for (i in c(1:99, 1:99)) keep(i))
  expect_message(keep(100), "100 different versions .* are loaded \\(1 MB\\)", class = "xlaffi_message_kept")
  expect_silent(keep(100))
})
