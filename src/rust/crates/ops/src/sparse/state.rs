//! What is found once for each pattern: kept by programs for their calls, and for a while by this process.

use super::numbers::Numbers;
use ::sparse::{Columns, OwnOrder, Pattern, PatternError, Symbolic};
use std::collections::{TryReserveError, VecDeque};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use xla_ffi::{io, Arg, Attr, Code, Context, Error, MinRank, Operand, OperandKind, Result, Scalar};

io! {
    /// The attributes of a symmetric pattern.
    pub struct SymmetricSetup<'f> {
        /// how many rows and columns there are
        n: Attr<i64>,
        /// where each column begins
        colptr: Attr<Numbers<'f>>,
        /// the rows of the entries
        rowind: Attr<Numbers<'f>>,
    }
}

io! {
    /// The attributes of a pattern of any shape.
    pub struct ColumnsSetup<'f> {
        /// how many rows there are
        nrow: Attr<i64>,
        /// how many columns there are
        ncol: Attr<i64>,
        /// where each column begins
        colptr: Attr<Numbers<'f>>,
        /// the rows of the entries
        rowind: Attr<Numbers<'f>>,
    }
}

/// A symmetric pattern, analysed.
pub struct Analysis {
    /// The analysis itself.
    pub symbolic: Symbolic,
    factor_places: OnceLock<Vec<usize>>,
    own_order: OnceLock<OwnOrder>,
}

impl Analysis {
    /// The places of the factor's entries in its buffer, in compressed columns.
    pub fn factor_places(&self) -> &[usize] {
        let places = || self.symbolic.factor_pattern().places;
        self.factor_places.get_or_init(places)
    }

    /// The analysis for the matrix's own order.
    pub fn own_order(&self) -> &OwnOrder {
        let own = || OwnOrder::new(self.symbolic.pattern());
        self.own_order.get_or_init(own)
    }

    /// The batch dimensions of matrices of this pattern, their number, and how many values each has.
    ///
    /// # Errors
    /// They have other numbers of values.
    pub fn matrices<'f, T: Scalar>(
        &self,
        values: &Arg<'f, T, MinRank<1>>,
    ) -> Result<(&'f [i64], usize, usize)> {
        let (batch, count, [_]) = values.split_dims()?;
        let nnz = self.symbolic.pattern().nnz();
        values.expect_batch_dims(batch, &[nnz as i64])?;
        Ok((batch, count, nnz))
    }
}

/// What this process knows of patterns.
struct Known<T> {
    // Whatever a program keeps.
    all: Vec<Weak<T>>,
    // For calls of programs that keep nothing, as XLA may not call their stage for it.
    recent: VecDeque<Arc<T>>,
}

/// So many patterns are kept for calls of programs that keep none.
const RECENT: usize = 4;

static SYMMETRIC: Mutex<Known<Analysis>> = Mutex::new(Known::new());
static COLUMNS: Mutex<Known<Columns>> = Mutex::new(Known::new());

impl<T> Known<T> {
    const fn new() -> Self {
        Known {
            all: Vec::new(),
            recent: VecDeque::new(),
        }
    }

    /// The one that `is` the wanted one, or a new one.
    fn get(
        known: &Mutex<Self>,
        is: impl Fn(&T) -> bool,
        new: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<T>> {
        let lock = || known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = lock().find(is) {
            return Ok(found);
        }
        // Without the lock, as it takes long: two threads may do the same.
        let made = Arc::new(new()?);
        let mut known = lock();
        known.all.retain(|kept| kept.strong_count() > 0);
        known.all.push(Arc::downgrade(&made));
        known.recent.push_front(Arc::clone(&made));
        known.recent.truncate(RECENT);
        Ok(made)
    }

    fn find(&self, is: impl Fn(&T) -> bool) -> Option<Arc<T>> {
        let mut all = self.all.iter().filter_map(Weak::upgrade);
        all.find(|kept| is(kept))
    }
}

/// The analysis of the pattern with those attributes.
///
/// # Errors
/// It is no pattern.
pub fn analysis(n: i64, colptr: &[i32], rowind: &[i32]) -> Result<Arc<Analysis>> {
    Known::get(
        &SYMMETRIC,
        |kept| kept.symbolic.pattern().is(n, colptr, rowind),
        || {
            let pattern = Pattern::new(n, colptr, rowind).map_err(no_pattern)?;
            Ok(Analysis {
                symbolic: Symbolic::new(&pattern),
                factor_places: OnceLock::new(),
                own_order: OnceLock::new(),
            })
        },
    )
}

/// The pattern of any shape with those attributes.
///
/// # Errors
/// It is none.
pub fn columns(nrow: i64, ncol: i64, colptr: &[i32], rowind: &[i32]) -> Result<Arc<Columns>> {
    Known::get(
        &COLUMNS,
        |kept| kept.is(nrow, ncol, colptr, rowind),
        || Columns::new(nrow, ncol, colptr, rowind).map_err(no_pattern),
    )
}

/// What the program keeps for this call, or what is known of its attributes where XLA did not let it keep anything.
pub fn kept<T: Send + Sync + 'static>(
    context: &Context<'_>,
    known: impl FnOnce() -> Result<Arc<T>>,
) -> Result<Arc<T>> {
    match context.state::<Arc<T>>() {
        Ok(state) => Ok(Arc::clone(state)),
        Err(_) => known(),
    }
}

#[cold]
fn no_pattern(error: PatternError) -> Error {
    let operand = Operand::new(OperandKind::Attribute, error.part);
    Error::mismatch(operand, error.expected, error.got)
}

/// As XLA has errors.
#[cold]
pub fn no_memory(_: TryReserveError) -> Error {
    Error::new(
        Code::ResourceExhausted,
        "there is no memory to work in for a sparse matrix",
    )
}

/// `kind Op: Operands = "name" by function` and fields: an op of sparse matrices, `symmetric` or of `columns`. The
/// attributes of the pattern follow the fields. `function` also gets the [`Call`].
macro_rules! sparse_op {
    ($(#[$doc:meta])* symmetric $op:ident: $io:ident = $target:literal by $run:ident { $($fields:tt)* }) => {
        $crate::sparse::state::sparse_op! { @ [$(#[$doc])*] $op: $io = $target by $run SymmetricSetup
            |io| $crate::sparse::state::analysis(*io.n, &io.colptr.get("colptr")?, &io.rowind.get("rowind")?);
            $($fields)*
            /// how many rows and columns there are
            n: xla_ffi::Attr<i64>,
            /// where each column begins among the entries of the lower triangle, and their number
            colptr: xla_ffi::Attr<$crate::sparse::numbers::Numbers<'f>>,
            /// the rows of the entries, counted from 0, ascending in a column
            rowind: xla_ffi::Attr<$crate::sparse::numbers::Numbers<'f>>,
        }
    };
    ($(#[$doc:meta])* columns $op:ident: $io:ident = $target:literal by $run:ident { $($fields:tt)* }) => {
        $crate::sparse::state::sparse_op! { @ [$(#[$doc])*] $op: $io = $target by $run ColumnsSetup
            |io| $crate::sparse::state::columns(*io.nrow, *io.ncol, &io.colptr.get("colptr")?, &io.rowind.get("rowind")?);
            $($fields)*
            /// how many rows the sparse matrix has
            nrow: xla_ffi::Attr<i64>,
            /// how many columns it has
            ncol: xla_ffi::Attr<i64>,
            /// where each column begins among the entries, and their number
            colptr: xla_ffi::Attr<$crate::sparse::numbers::Numbers<'f>>,
            /// the rows of the entries, counted from 0, ascending in a column
            rowind: xla_ffi::Attr<$crate::sparse::numbers::Numbers<'f>>,
        }
    };
    (
        @ [$(#[$doc:meta])*] $op:ident: $io:ident = $target:literal by $run:ident $setup:ident
        |$operands:ident| $known:expr;
        $($fields:tt)*
    ) => {
        $crate::op::op! { $(#[$doc])* $op: $io = $target of Floats { $($fields)* } }

        impl<T: $crate::sparse::state::Float> xla_ffi::Kernel<xla_ffi::Host, T> for $op {
            type Io<'f> = $io<'f, T>;

            fn run($operands: $io<'_, T>, cx: &xla_ffi::Cx<'_, xla_ffi::Host>) -> xla_ffi::Result<()> {
                let known = $crate::sparse::state::kept(cx, || $known)?;
                $run($operands, $crate::sparse::state::Call { context: cx, known: &known })
            }
        }

        impl xla_ffi::Stateful<xla_ffi::Host> for $op {
            type State = std::sync::Arc<
                <$crate::sparse::state::$setup<'static> as $crate::sparse::state::Setup>::Known,
            >;
            type Setup<'f> = $crate::sparse::state::$setup<'f>;

            fn instantiate(
                setup: Self::Setup<'_>,
                _: &xla_ffi::Context<'_>,
            ) -> xla_ffi::Result<Self::State> {
                $crate::sparse::state::Setup::known(&setup)
            }
        }
    };
}
pub(crate) use sparse_op;

/// The attributes of a pattern.
pub trait Setup {
    /// What is known of it.
    type Known;

    /// # Errors
    /// It is no pattern.
    fn known(&self) -> Result<Arc<Self::Known>>;
}

impl Setup for SymmetricSetup<'_> {
    type Known = Analysis;

    fn known(&self) -> Result<Arc<Analysis>> {
        analysis(
            *self.n,
            &self.colptr.get("colptr")?,
            &self.rowind.get("rowind")?,
        )
    }
}

impl Setup for ColumnsSetup<'_> {
    type Known = Columns;

    fn known(&self) -> Result<Arc<Columns>> {
        let (colptr, rowind) = (self.colptr.get("colptr")?, self.rowind.get("rowind")?);
        columns(*self.nrow, *self.ncol, &colptr, &rowind)
    }
}

/// A dtype that sparse matrices have.
pub trait Float: Scalar + ::sparse::Float {}

impl<T: Scalar + ::sparse::Float> Float for T {}

/// A call of an op of sparse matrices.
pub struct Call<'a, K> {
    /// Where it runs.
    pub context: &'a Context<'a>,
    /// What is known of the pattern, which programs keep.
    pub known: &'a K,
}

impl<K> Call<'_, K> {
    /// Calls `f` with every item, on XLA's threads if there are several.
    ///
    /// # Errors
    /// The first one of `f`'s; items may be left out then.
    pub fn for_each<I>(
        &self,
        items: I,
        f: impl Fn(I::Item) -> Result<(), TryReserveError> + Sync,
    ) -> Result<()>
    where
        I: ExactSizeIterator + Send,
        I::Item: Send,
    {
        let failure = Mutex::new(Ok(()));
        self.context.parallel_for_each(items, |item| {
            if let Err(error) = f(item) {
                *failure.lock().unwrap_or_else(PoisonError::into_inner) = Err(no_memory(error));
            }
        });
        failure.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
