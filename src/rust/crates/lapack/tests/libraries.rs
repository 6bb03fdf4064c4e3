//! Which libraries are taken, seen in processes of their own: a process chooses once.
#![cfg(target_os = "linux")]

use lapack::routines::{getrf, trsm};
use lapack::{look_in, report};
use matrices::{Complex, Form, Transpose, Triangle};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a process says that looks for a LAPACK, with these variables.
fn report_of(variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    command.args(["--exact", "--nocapture", "in_a_process"]);
    command
        .env_remove("XLAFFI_LAPACK")
        .env_remove("XLAFFI_F32_LAPACK");
    let output = command.envs(variables.iter().copied()).output();
    let output = output.expect("this test can be run again");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What [`told`] runs; alone, as any other test.
#[test]
fn in_a_process() {
    look_in(|| {
        std::env::var_os("SITES")
            .into_iter()
            .map(PathBuf::from)
            .collect()
    });
    let (found, refused) = report();
    for refused in refused {
        println!("refused: {refused}");
    }
    match found {
        Ok(about) => println!("taken: {about:?}"),
        Err(error) => println!("none: {error}"),
    }
    if std::env::var_os("COMPUTE").is_some() {
        let (mut a, mut pivots) = ([1.0_f32, 4.0, 2.0, 12.0], [0; 2]);
        let info = getrf((2, 2), &mut a, &mut pivots);
        println!("computed: {info} {a:?} {pivots:?}");
        let form = Form {
            left: false,
            triangle: Triangle::Upper,
            transpose: Transpose::Plain,
            unit: false,
        };
        let (re, im) = (|re| Complex::new(re, 0.0), |im| Complex::new(0.0, im));
        let (a, mut b) = ([im(2.0), re(0.0), re(1.0), re(4.0)], [re(8.0), re(4.0)]);
        let info = trsm::<Complex<f32>>(form, (1, 2), &a, &mut b);
        println!("solved: {info} {b:?}");
    }
}

/// A shared library of this C source, before the system's LAPACK; empty flags leave that out.
fn made(name: &str, source: &str, flags: &[&str]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (from, to) = (
        folder.join(format!("{name}.c")),
        folder.join(format!("{name}.so")),
    );
    std::fs::write(&from, source).expect("a file in the folder for tests");
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let status = Command::new(compiler)
        .args(["-shared", "-fPIC", "-o"])
        .args([&to, &from])
        .args(flags)
        .status();
    assert!(status.expect("a C compiler").success());
    to
}

const BEFORE_LAPACK: &[&str] = &["-Wl,--no-as-needed", "-llapack", "-lblas"];

/// What is said of a library alone.
fn said_of(file: &Path) -> String {
    report_of(&[("XLAFFI_LAPACK", file.to_str().expect("a name in UTF-8"))])
}

#[test]
fn the_systems_is_taken_and_computes_in_either_precision() {
    for (single, expected) in [("1", "single: true"), ("0", "single: false")] {
        let text = report_of(&[
            ("XLAFFI_LAPACK", "r"),
            ("XLAFFI_F32_LAPACK", single),
            ("COMPUTE", "1"),
        ]);
        assert!(
            text.contains("taken: ") && text.contains(expected),
            "{text}"
        );
        assert!(
            text.contains("computed: 0 [4.0, 0.25, 12.0, -1.0] [2, 2]"),
            "{text}"
        );
        // b2 / 4 = 1, (b1 - b2') / 2i = 7 / 2i.
        let solved = "solved: 0 [Complex { re: 0.0, im: -3.5 }, Complex { re: 1.0, im: 0.0 }]";
        assert!(text.replace("-0.0", "0.0").contains(solved), "{text}");
    }
}

/// A LAPACK whose `ztrsm` does nothing to one form of system: of the side, the triangle and the
/// transposition that are told.
fn deaf_to(name: &str, form: [char; 3]) -> PathBuf {
    let [side, triangle, transpose] = form;
    let source = format!(
        r#"
        #define _GNU_SOURCE
        #include <dlfcn.h>
        typedef void routine(char *, char *, char *, char *, int *, int *, void *, void *, int *, void *, int *,
                             long, long, long, long);
        routine ztrsm_;
        void ztrsm_(char *side, char *uplo, char *trans, char *diag, int *m, int *n, void *alpha, void *a,
                    int *lda, void *b, int *ldb, long s, long u, long t, long d) {{
            if (*side == '{side}' && *uplo == '{triangle}' && *trans == '{transpose}') return;
            ((routine *) dlsym(RTLD_NEXT, "ztrsm_"))(side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb, s, u, t, d);
        }}"#
    );
    made(name, &source, BEFORE_LAPACK)
}

#[test]
fn a_library_that_computes_wrongly_is_refused() {
    let text = said_of(&deaf_to("wrong", ['R', 'L', 'T']));
    let why = "none: no LAPACK can be used";
    assert!(
        text.contains(why) && text.contains("computes ztrsm wrongly"),
        "{text}"
    );
}

#[test]
fn the_form_that_rs_own_blas_computes_wrongly_is_not_asked_for() {
    let text = said_of(&deaf_to("as_r", ['R', 'U', 'T']));
    assert!(text.contains("taken: "), "{text}");
}

#[test]
fn a_library_with_long_integers_is_refused_under_any_name() {
    let source = "
        void dgetrf_(long *m, long *n, double *a, long *lda, long *ipiv, long *info) {
            ipiv[0] = ipiv[1] = 2; *info = 0;
        }";
    let text = said_of(&made("long", source, BEFORE_LAPACK));
    assert!(text.contains("64-bit integers"), "{text}");
    let text = said_of(&made("long_name", "void scipy_dgetrf_64_(void) {}", &[]));
    assert!(
        text.contains("has 64-bit integers only (scipy_dgetrf_64_)"),
        "{text}"
    );
}

#[test]
fn a_library_without_a_routine_is_refused() {
    let text = said_of(&made("few", "void scipy_dgetrf_(void) {}", &[]));
    assert!(text.contains("has no scipy_dgeqrf_"), "{text}");
    let text = said_of(&made("none", "void nothing(void) {}", &[]));
    assert!(text.contains("is no LAPACK: it has no dgetrf"), "{text}");
    let text = report_of(&[("XLAFFI_LAPACK", "/nowhere.so")]);
    assert!(
        text.contains("XLAFFI_LAPACK is \"/nowhere.so\"") && text.contains("No such file"),
        "{text}"
    );
}

#[test]
fn what_lies_beside_jaxlib_comes_first_and_the_next_one_where_it_fails() {
    let site = Path::new(env!("CARGO_TARGET_TMPDIR")).join("site");
    let folder = site.join("scipy_openblas32/lib");
    std::fs::create_dir_all(&folder).expect("a folder for tests");
    let source = "void scipy_dgetrf_(void) {}";
    std::fs::rename(
        made("beside", source, &[]),
        folder.join("libscipy_openblas.so"),
    )
    .expect("to be moved");
    let site = site.to_str().expect("a name in UTF-8");
    let text = report_of(&[("SITES", site)]);
    assert!(
        text.contains("refused: beside jaxlib (") && text.contains("taken: "),
        "{text}"
    );
    let text = report_of(&[("SITES", site), ("XLAFFI_LAPACK", "scipy")]);
    assert!(
        text.contains("none: ") && text.contains("XLAFFI_LAPACK is \"scipy\""),
        "{text}"
    );
}
