//! The list of all ops, which everything else walks: registration, documentation, tests.

use crate::crossprod::Crossprod;
use crate::kepler::Kepler;
use crate::lu::permutation::LuPivotsToPermutation;
use crate::print::tensor::PrintTensor;
use crate::qr::{geqrf::Geqrf, orgqr::Orgqr};
use crate::sparse::{
    factor::{SparseCholesky, SparseFactorValues},
    inverse::{SparseInverse, SparseInverseDerivative},
    own_order::{SparseOwnFactor, SparseOwnFactorPullback},
    product::{SparseMatmul, SparseSampledProduct},
    solve::SparseSolve,
};
use crate::special::Special;
use crate::{
    cholesky, cholesky::Cholesky, eig, eigh, eigh::Eigh, lu, lu::Lu, qr, reduce, schur, svd,
    svd::Svd, triangular, tridiagonal,
};
use cuda::Cuda;
use xla_ffi::{
    bundle, handler, sys, Complex, DataType, Dispatch, DtypeSet, FieldInfo, FieldKind, HandlerFn,
    Host, Op, Platform,
};

/// A custom-call target.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name that programs call it by.
    pub target: &'static str,
    /// Its handler on each platform that has it, under XLA's canonical name (`"host"`, `"cuda"`).
    pub handlers: &'static [(&'static str, HandlerFn)],
    /// Where calls keep something on the CPU: the functions of all stages of a call. Its handler alone finds the same
    /// by the attributes, in every call.
    pub stages: Option<fn() -> sys::XLA_FFI_Handler_Bundle>,
    /// Operands, results and attributes in their order, with names and documentation.
    pub fields: &'static [FieldInfo],
    /// The element types of the operands that may differ from call to call.
    pub dtypes: &'static [DataType],
}

impl Entry {
    /// The platforms it runs on.
    pub fn platforms(&self) -> impl Iterator<Item = &'static str> {
        self.handlers.iter().map(|&(platform, _)| platform)
    }

    /// Its handler on a platform, under XLA's canonical name.
    #[must_use]
    pub fn handler(&self, platform: &str) -> Option<HandlerFn> {
        let found = self.handlers.iter().find(|(name, _)| *name == platform);
        found.map(|&(_, handler)| handler)
    }

    /// Its operands.
    pub fn operands(&self) -> impl Iterator<Item = &'static FieldInfo> {
        self.fields.iter().filter(|field| {
            matches!(
                field.kind,
                FieldKind::Argument { .. } | FieldKind::RemainingArguments
            )
        })
    }

    /// Its results.
    pub fn results(&self) -> impl Iterator<Item = &'static FieldInfo> {
        self.fields.iter().filter(|field| {
            matches!(
                field.kind,
                FieldKind::Result { .. } | FieldKind::RemainingResults
            )
        })
    }

    /// Its attributes.
    pub fn attributes(&self) -> impl Iterator<Item = &'static FieldInfo> {
        self.fields.iter().filter(|field| {
            matches!(
                field.kind,
                FieldKind::Attribute { .. } | FieldKind::Attributes
            )
        })
    }
}

/// An op's [`Entry`]; its first platform describes the operands, which are the same on all.
macro_rules! entry {
    ($stages:expr; $op:ty: $first:ty $(, $more:ty)*) => {
        Entry {
            target: <$op as Op>::TARGET,
            handlers: &[
                (<$first as Platform>::NAME, handler::<$op, $first>),
                $((<$more as Platform>::NAME, handler::<$op, $more>),)*
            ],
            stages: $stages,
            fields: <<$op as Op>::Dtypes as Dispatch<$op, $first>>::SIGNATURE,
            dtypes: <<$op as Op>::Dtypes as DtypeSet>::DTYPES,
        }
    };
}

/// `Op: Platform, Platform;`. On the CPU are those of `stateful`, which keep something for each call, and jaxlib's, with
/// an op for each dtype: `every` one, the `real` or the `complex` ones.
macro_rules! ops {
    (
        stateful { $($stateful:ty;)* }
        every { $($($every:ident)::+;)* }
        real { $($($real:ident)::+;)* }
        complex { $($($complex:ident)::+;)* }
        $($op:ty: $($platform:ty),+;)*
    ) => {
        &[
            $(entry!(Some(bundle::<$stateful, Host>); $stateful: Host),)*
            $(entry!(None; $op: $($platform),+),)*
            $(
                entry!(None; $($every)::+<f32>: Host),
                entry!(None; $($every)::+<f64>: Host),
                entry!(None; $($every)::+<Complex<f32>>: Host),
                entry!(None; $($every)::+<Complex<f64>>: Host),
            )*
            $(
                entry!(None; $($real)::+<f32>: Host),
                entry!(None; $($real)::+<f64>: Host),
            )*
            $(
                entry!(None; $($complex)::+<Complex<f32>>: Host),
                entry!(None; $($complex)::+<Complex<f64>>: Host),
            )*
        ]
    };
}

/// All ops.
#[must_use]
pub fn table() -> &'static [Entry] {
    // Not a static: of what statics refer to the code is always made, for tests of this crate's own functions, too.
    const {
        ops! {
            stateful {
                SparseCholesky;
                SparseFactorValues;
                SparseInverse;
                SparseInverseDerivative;
                SparseMatmul;
                SparseOwnFactor;
                SparseOwnFactorPullback;
                SparseSampledProduct;
                SparseSolve;
            }
            every {
                cholesky::jaxlib::Potrf;
                eigh::jaxlib::Syevd;
                lu::jaxlib::Getrf;
                qr::jaxlib::Geqrf; qr::jaxlib::Orgqr; qr::jaxlib::Ormqr; qr::pivoted::Geqp3;
                reduce::jaxlib::Gehrd; reduce::jaxlib::Sytrd;
                svd::jaxlib::Gesdd; svd::jaxlib::Gesvd;
                triangular::jaxlib::Trsm;
                tridiagonal::jaxlib::Gtsv;
            }
            real { eig::jaxlib::Geev; schur::jaxlib::Gees; }
            complex { eig::jaxlib::GeevComplex; schur::jaxlib::GeesComplex; }
            Cholesky: Host;
            Crossprod: Host;
            Eigh: Host, Cuda;
            Geqrf: Host, Cuda;
            Kepler: Host, Cuda;
            Lu: Host, Cuda;
            LuPivotsToPermutation: Host;
            Orgqr: Host, Cuda;
            PrintTensor: Host, Cuda;
            Special: Host, Cuda;
            Svd: Host, Cuda;
            eig::cusolver::Geev: Cuda;
            qr::cusolver::Geqrf: Cuda;
            svd::cusolver::Gesvd: Cuda;
            svd::cusolver::Gesvdj: Cuda;
            svd::cusolver::Gesvdp: Cuda;
            lu::cusolver::Getrf: Cuda;
            qr::cusolver::Orgqr: Cuda;
            qr::cusolver::Ormqr: Cuda;
            lu::cusolver::PivotsToPermutation: Cuda;
            cholesky::cusolver::Potrf: Cuda;
            eigh::cusolver::Syevd: Cuda;
            reduce::cusolver::Sytrd: Cuda;
        }
    }
}

/// What a second name of each op begins with. XLA has one registry per process, where another host's
/// handler may have taken an op's name; nobody else takes these.
pub const PRIVATE: &str = "xlaffi.";

/// The op of that name, its own or the private one.
#[must_use]
pub fn named(target: &str) -> Option<&'static Entry> {
    let target = target.strip_prefix(PRIVATE).unwrap_or(target);
    table().iter().find(|entry| entry.target == target)
}

/// The handler of `target` on `platform`, under any of the names that the op and the platform have.
#[must_use]
pub fn find(target: &str, platform: &str) -> Option<HandlerFn> {
    named(target)?.handler(canonical(platform))
}

/// XLA's name for a platform that hosts call by several.
fn canonical(platform: &str) -> &str {
    match platform {
        "cpu" | "CPU" | "Host" => "host",
        "gpu" | "GPU" | "CUDA" => "cuda",
        other => other,
    }
}
