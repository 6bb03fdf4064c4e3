//! The list of all ops, which everything else walks: registration, documentation, tests.

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

/// `Op: Platform, Platform;`: the first platform describes the operands, which are the same on
/// all. Those of `stateful` keep something for each call, on the CPU.
macro_rules! ops {
    (stateful { $($stateful:ty;)* } $($op:ty: $first:ty $(, $more:ty)*;)*) => {
        static TABLE: &[Entry] = &[$(
            Entry {
                target: <$stateful as Op>::TARGET,
                handlers: &[(<Host as Platform>::NAME, handler::<$stateful, Host>)],
                stages: Some(bundle::<$stateful, Host>),
                fields: <<$stateful as Op>::Dtypes as Dispatch<$stateful, Host>>::SIGNATURE,
                dtypes: <<$stateful as Op>::Dtypes as DtypeSet>::DTYPES,
            },
        )* $(
            Entry {
                target: <$op as Op>::TARGET,
                handlers: &[
                    (<$first as Platform>::NAME, handler::<$op, $first>),
                    $((<$more as Platform>::NAME, handler::<$op, $more>),)*
                ],
                stages: None,
                fields: <<$op as Op>::Dtypes as Dispatch<$op, $first>>::SIGNATURE,
                dtypes: <<$op as Op>::Dtypes as DtypeSet>::DTYPES,
            },
        )*];
    };
}

/// c64 and c128 in Rust.
type C64 = Complex<f32>;
type C128 = Complex<f64>;

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
    Cholesky: Host;
    Eigh: Host, Cuda;
    Geqrf: Host, Cuda;
    Kepler: Host, Cuda;
    Lu: Host, Cuda;
    LuPivotsToPermutation: Host;
    Orgqr: Host, Cuda;
    PrintTensor: Host, Cuda;
    Special: Host;
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
    qr::jaxlib::Geqrf<f32>: Host; qr::jaxlib::Geqrf<f64>: Host; qr::jaxlib::Geqrf<C64>: Host; qr::jaxlib::Geqrf<C128>: Host;
    svd::jaxlib::Gesdd<f32>: Host; svd::jaxlib::Gesdd<f64>: Host; svd::jaxlib::Gesdd<C64>: Host; svd::jaxlib::Gesdd<C128>: Host;
    svd::jaxlib::Gesvd<f32>: Host; svd::jaxlib::Gesvd<f64>: Host; svd::jaxlib::Gesvd<C64>: Host; svd::jaxlib::Gesvd<C128>: Host;
    lu::jaxlib::Getrf<f32>: Host; lu::jaxlib::Getrf<f64>: Host; lu::jaxlib::Getrf<C64>: Host; lu::jaxlib::Getrf<C128>: Host;
    qr::jaxlib::Orgqr<f32>: Host; qr::jaxlib::Orgqr<f64>: Host; qr::jaxlib::Orgqr<C64>: Host; qr::jaxlib::Orgqr<C128>: Host;
    cholesky::jaxlib::Potrf<f32>: Host; cholesky::jaxlib::Potrf<f64>: Host; cholesky::jaxlib::Potrf<C64>: Host; cholesky::jaxlib::Potrf<C128>: Host;
    eigh::jaxlib::Syevd<f32>: Host; eigh::jaxlib::Syevd<f64>: Host; eigh::jaxlib::Syevd<C64>: Host; eigh::jaxlib::Syevd<C128>: Host;
    eig::jaxlib::Geev<f32>: Host; eig::jaxlib::Geev<f64>: Host;
    eig::jaxlib::GeevComplex<C64>: Host; eig::jaxlib::GeevComplex<C128>: Host;
    schur::jaxlib::Gees<f32>: Host; schur::jaxlib::Gees<f64>: Host;
    schur::jaxlib::GeesComplex<C64>: Host; schur::jaxlib::GeesComplex<C128>: Host;
    reduce::jaxlib::Gehrd<f32>: Host; reduce::jaxlib::Gehrd<f64>: Host; reduce::jaxlib::Gehrd<C64>: Host; reduce::jaxlib::Gehrd<C128>: Host;
    qr::pivoted::Geqp3<f32>: Host; qr::pivoted::Geqp3<f64>: Host; qr::pivoted::Geqp3<C64>: Host; qr::pivoted::Geqp3<C128>: Host;
    tridiagonal::jaxlib::Gtsv<f32>: Host; tridiagonal::jaxlib::Gtsv<f64>: Host; tridiagonal::jaxlib::Gtsv<C64>: Host; tridiagonal::jaxlib::Gtsv<C128>: Host;
    qr::jaxlib::Ormqr<f32>: Host; qr::jaxlib::Ormqr<f64>: Host; qr::jaxlib::Ormqr<C64>: Host; qr::jaxlib::Ormqr<C128>: Host;
    reduce::jaxlib::Sytrd<f32>: Host; reduce::jaxlib::Sytrd<f64>: Host; reduce::jaxlib::Sytrd<C64>: Host; reduce::jaxlib::Sytrd<C128>: Host;
    triangular::jaxlib::Trsm<f32>: Host; triangular::jaxlib::Trsm<f64>: Host; triangular::jaxlib::Trsm<C64>: Host; triangular::jaxlib::Trsm<C128>: Host;
}

/// All ops.
#[must_use]
pub fn table() -> &'static [Entry] {
    TABLE
}

/// What a second name of each op begins with. XLA has one registry per process, where another host's
/// handler may have taken an op's name; nobody else takes these.
pub const PRIVATE: &str = "xlaffi.";

/// The op of that name, its own or the private one.
#[must_use]
pub fn named(target: &str) -> Option<&'static Entry> {
    let target = target.strip_prefix(PRIVATE).unwrap_or(target);
    TABLE.iter().find(|entry| entry.target == target)
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
