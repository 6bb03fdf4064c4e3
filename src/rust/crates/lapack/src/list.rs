//! LAPACK's and BLAS's routines: one list gives their Fortran symbols, as gfortran passes arguments,
//! a table of them for each element type (`tables.rs`), and the trait that has them as methods (`sys.rs`).

/// Passes on `list`, which names each routine, its symbol without the letter of the dtype for real and
/// for complex matrices, and its arguments: `int` and `char` (of one letter) by value here, `read` and
/// `write` of elements, of `real` ones and of `int`s, and memory to work in (`scratch`). The extents of
/// what is not `int` are for [`promoted`](crate::promoted), which copies it. After `complex` or `real`
/// stands what only the routine for such matrices has; the other one ignores it. `unsorted` is a choice
/// of eigenvalues that is not made, and what stands after `out` is returned.
macro_rules! list {
    ($list:ident!($($how:tt)*)) => {
        $list! { $($how)*
            getrf: "getrf", "getrf" (
                int m, int n, write a [lda, n], int lda, write int ipiv, out info,
            ) -> info;
            geqrf: "geqrf", "geqrf" (
                int m, int n, write a [lda, n], int lda, write tau [m.min(n)],
                scratch work [lwork], int lwork, out info,
            ) -> info;
            orgqr: "orgqr", "ungqr" (
                int m, int n, int k, write a [lda, n], int lda, read tau [k],
                scratch work [lwork], int lwork, out info,
            ) -> info;
            ormqr: "ormqr", "unmqr" (
                char side, char trans, int m, int n, int k, write a [lda, k], int lda, read tau [k],
                write c [ldc, n], int ldc, scratch work [lwork], int lwork, out info,
            ) -> info;
            geqp3: "geqp3", "geqp3" (
                int m, int n, write a [lda, n], int lda, write int jpvt, write tau [m.min(n)],
                scratch work [lwork], int lwork, complex scratch real rwork [2, n], out info,
            ) -> info;
            potrf: "potrf", "potrf" (char uplo, int n, write a [lda, n], int lda, out info,) -> info;
            trsm: "trsm", "trsm" (
                char side, char uplo, char transa, char diag, int m, int n, read alpha [1],
                read a [lda, if side == b'L' { m } else { n }], int lda, write b [ldb, n], int ldb,
            );
            gtsv: "gtsv", "gtsv" (
                int n, int nrhs, write dl [n - 1], write d [n], write du [n - 1],
                write b [ldb, nrhs], int ldb, out info,
            ) -> info;
            gesdd: "gesdd", "gesdd" (
                char jobz, int m, int n, write a [lda, n], int lda, write real s [m.min(n)],
                write u [ldu, columns(jobz, m, n)], int ldu,
                write vt [ldvt, if jobz == b'N' { 0 } else { n }], int ldvt,
                scratch work [lwork], int lwork, complex scratch real rwork [gesdd_real(jobz, m, n)],
                write int iwork, out info,
            ) -> info;
            gesvd: "gesvd", "gesvd" (
                char jobu, char jobvt, int m, int n, write a [lda, n], int lda,
                write real s [m.min(n)], write u [ldu, columns(jobu, m, n)], int ldu,
                write vt [ldvt, if jobvt == b'N' { 0 } else { n }], int ldvt,
                scratch work [lwork], int lwork, complex scratch real rwork [5, m.min(n)], out info,
            ) -> info;
            syevd: "syevd", "heevd" (
                char jobz, char uplo, int n, write a [lda, n], int lda, write real w [n],
                scratch work [lwork], int lwork, complex scratch real rwork [lrwork],
                complex int lrwork, write int iwork, int liwork, out info,
            ) -> info;
            sytrd: "sytrd", "hetrd" (
                char uplo, int n, write a [lda, n], int lda, write real d [n], write real e [n - 1],
                write tau [n - 1], scratch work [lwork], int lwork, out info,
            ) -> info;
            gehrd: "gehrd", "gehrd" (
                int n, int ilo, int ihi, write a [lda, n], int lda, write tau [n - 1],
                scratch work [lwork], int lwork, out info,
            ) -> info;
            geev: "geev", "geev" (
                char jobvl, char jobvr, int n, write a [lda, n], int lda, write w [n],
                real write wi [n], write vl [ldvl, if jobvl == b'V' { n } else { 0 }], int ldvl,
                write vr [ldvr, if jobvr == b'V' { n } else { 0 }], int ldvr,
                scratch work [lwork], int lwork, complex scratch real rwork [2, n], out info,
            ) -> info;
            gees: "gees", "gees" (
                char jobvs, char sort, unsorted, int n, write a [lda, n], int lda, write int sdim,
                write w [n], real write wi [n],
                write vs [ldvs, if jobvs == b'V' { n } else { 0 }], int ldvs,
                scratch work [lwork], int lwork, complex scratch real rwork [n], write int bwork,
                out info,
            ) -> info;
        }
    };
}
pub(crate) use list;

/// Goes through the arguments of a routine for matrices of a kind (`real`, `complex`, or `both`) and
/// tells `$then!` four lists: the arguments of the trait's method, and their names; those of the symbol,
/// every one by reference, and behind them the lengths of CHARACTERs; and what is passed to the symbol.
macro_rules! arguments {
    ($then:ident!($($state:tt)*) $kind:ident [$($method:tt)*] [$($name:ident)*]
        [$($fortran:tt)*] [$($lengths:tt)*] [$($call:tt)*] [$($ones:tt)*] ()) => {
        $then! { $($state)* ($($method)*) ($($name),*) ($($fortran)* $($lengths)*) ($($call)* $($ones)*) }
    };
    ($then:ident!$state:tt $kind:ident [$($m:tt)*] [$($n:tt)*] [$($f:tt)*] $l:tt [$($c:tt)*] $o:tt
        (int $name:ident, $($rest:tt)*)) => {
        $crate::list::arguments! { $then!$state $kind [$($m)* $name: Int,] [$($n)* $name]
            [$($f)* $name: *const Int,] $l [$($c)* &$name,] $o ($($rest)*) }
    };
    ($then:ident!$state:tt $kind:ident [$($m:tt)*] [$($n:tt)*] [$($f:tt)*] [$($l:tt)*] [$($c:tt)*]
        [$($o:tt)*] (char $name:ident, $($rest:tt)*)) => {
        $crate::list::arguments! { $then!$state $kind [$($m)* $name: u8,] [$($n)* $name]
            [$($f)* $name: *const c_char,] [$($l)* _: usize,] [$($c)* letter(&$name),] [$($o)* 1,]
            ($($rest)*) }
    };
    ($then:ident!$state:tt $kind:ident $m:tt $n:tt [$($f:tt)*] $l:tt [$($c:tt)*] $o:tt
        (unsorted, $($rest:tt)*)) => {
        $crate::list::arguments! { $then!$state $kind $m $n
            [$($f)* select: Option<extern "C" fn()>,] $l [$($c)* None,] $o ($($rest)*) }
    };
    ($then:ident!$state:tt $kind:ident [$($m:tt)*] [$($n:tt)*] [$($f:tt)*] $l:tt [$($c:tt)*] $o:tt
        (write int $name:ident, $($rest:tt)*)) => {
        $crate::list::arguments! { $then!$state $kind [$($m)* $name: *mut Int,] [$($n)* $name]
            [$($f)* $name: *mut Int,] $l [$($c)* $name,] $o ($($rest)*) }
    };
    ($then:ident!$state:tt $kind:ident $m:tt $n:tt $f:tt $l:tt $c:tt $o:tt
        (scratch $($rest:tt)*)) => {
        $crate::list::arguments! { $then!$state $kind $m $n $f $l $c $o (write $($rest)*) }
    };
    ($then:ident!$state:tt $kind:ident [$($m:tt)*] [$($n:tt)*] [$($f:tt)*] $l:tt [$($c:tt)*] $o:tt
        (write real $name:ident $extent:tt, $($rest:tt)*)) => {
        $crate::list::arguments! { $then!$state $kind
            [$($m)* $name: *mut <Self as Element>::Real,] [$($n)* $name]
            [$($f)* $name: *mut Real,] $l [$($c)* $name,] $o ($($rest)*) }
    };
    ($then:ident!$state:tt $kind:ident [$($m:tt)*] [$($n:tt)*] [$($f:tt)*] $l:tt [$($c:tt)*] $o:tt
        (write $name:ident $extent:tt, $($rest:tt)*)) => {
        $crate::list::arguments! { $then!$state $kind [$($m)* $name: *mut Self,] [$($n)* $name]
            [$($f)* $name: *mut Number,] $l [$($c)* $name,] $o ($($rest)*) }
    };
    ($then:ident!$state:tt $kind:ident [$($m:tt)*] [$($n:tt)*] [$($f:tt)*] $l:tt [$($c:tt)*] $o:tt
        (read $name:ident $extent:tt, $($rest:tt)*)) => {
        $crate::list::arguments! { $then!$state $kind [$($m)* $name: *const Self,] [$($n)* $name]
            [$($f)* $name: *const Number,] $l [$($c)* $name,] $o ($($rest)*) }
    };
    ($then:ident!$state:tt $kind:ident $m:tt $n:tt [$($f:tt)*] $l:tt [$($c:tt)*] $o:tt
        (out $name:ident, $($rest:tt)*)) => {
        $crate::list::arguments! { $then!$state $kind
            $m $n [$($f)* $name: *mut Int,] $l [$($c)* &mut $name,] $o ($($rest)*) }
    };
    // What the other kind of matrices has not: an argument of the method alone.
    ($then:ident!$state:tt real [$($m:tt)*] [$($n:tt)*] $f:tt $l:tt $c:tt $o:tt
        (complex int $name:ident, $($rest:tt)*)) => {
        $crate::list::arguments! { $then!$state real
            [$($m)* $name: Int,] [$($n)* $name] $f $l $c $o ($($rest)*) }
    };
    ($then:ident!$state:tt real [$($m:tt)*] [$($n:tt)*] $f:tt $l:tt $c:tt $o:tt
        (complex scratch real $name:ident $extent:tt, $($rest:tt)*)) => {
        $crate::list::arguments! { $then!$state real
            [$($m)* $name: *mut <Self as Element>::Real,] [$($n)* $name] $f $l $c $o ($($rest)*) }
    };
    ($then:ident!$state:tt complex [$($m:tt)*] [$($n:tt)*] $f:tt $l:tt $c:tt $o:tt
        (real write $name:ident $extent:tt, $($rest:tt)*)) => {
        $crate::list::arguments! { $then!$state complex
            [$($m)* $name: *mut Self,] [$($n)* $name] $f $l $c $o ($($rest)*) }
    };
    ($then:ident!$state:tt $kind:ident $m:tt $n:tt $f:tt $l:tt $c:tt $o:tt
        (complex $($rest:tt)*)) => {
        $crate::list::arguments! { $then!$state $kind $m $n $f $l $c $o ($($rest)*) }
    };
    ($then:ident!$state:tt $kind:ident $m:tt $n:tt $f:tt $l:tt $c:tt $o:tt
        (real $($rest:tt)*)) => {
        $crate::list::arguments! { $then!$state $kind $m $n $f $l $c $o ($($rest)*) }
    };
}
pub(crate) use arguments;
