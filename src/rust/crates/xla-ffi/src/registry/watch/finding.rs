//! What a check found.

use core::fmt;

use crate::dims::Dims;
use crate::error::OperandKind;
use crate::DataType;

macro_rules! kinds {
    ($($(#[$meta:meta])* $id:ident = $name:literal;)*) => {
        /// What is wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Kind { $($(#[$meta])* $id,)* }

        impl Kind {
            /// Its name for users.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Kind::$id => $name,)* }
            }
        }
    };
}

kinds! {
    /// Something was written before an operand, a result or scratch memory.
    WriteBefore = "write_before";
    /// Something was written behind an operand, a result or scratch memory.
    WriteBehind = "write_behind";
    /// Something was read before an operand or a result.
    ReadBefore = "read_before";
    /// Something was read behind an operand or a result.
    ReadBehind = "read_behind";
    /// An operand was changed whose memory is no result's.
    OperandChanged = "operand_changed";
    /// Elements of a result were not written.
    Unwritten = "unwritten";
    /// A result depends on memory that is not the call's input, such as a result or scratch memory before it
    /// was written.
    Uninitialised = "uninitialised";
    /// Two runs on the same input gave different results.
    Nondeterministic = "nondeterministic";
    /// Results depend on the alignment of operands and results.
    Alignment = "alignment";
    /// Results depend on sharing the memory of an operand.
    Aliasing = "aliasing";
    /// NaN or an infinity came of finite operands.
    NotFinite = "not_finite";
    /// The call was not checked, or not in full.
    NotChecked = "not_checked";
}

/// One finding; the same in a later call of the same handler is counted, not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The custom call's target.
    pub target: String,
    /// Its platform.
    pub platform: String,
    /// What is wrong.
    pub kind: Kind,
    /// Argument, result or scratch memory, and which, counted from 0; `None` where it is about the whole call.
    pub operand: Option<(OperandKind, usize)>,
    /// Its element type.
    pub dtype: DataType,
    /// Its shape.
    pub dims: Vec<i64>,
    /// Its dimensions in the order in which they run in memory, the fastest first; `None` for the
    /// last first. A call frame does not tell: who knows the program may set it.
    pub minor_to_major: Option<Vec<usize>>,
    /// The first element that it is about, counted from 0 in memory: behind the last, and below 0,
    /// where something was written there.
    pub first: Option<i64>,
    /// What that element should be.
    pub expected: Option<String>,
    /// What it is.
    pub got: Option<String>,
    /// How many elements it is about, in the first of the calls; bytes where something was written
    /// before or behind.
    pub count: u64,
    /// In how many calls.
    pub calls: u64,
    /// More that is to be said.
    pub note: Option<String>,
}

impl Finding {
    /// The first element's index by dimensions, counted from 1.
    #[must_use]
    pub fn index(&self) -> Option<Vec<i64>> {
        let mut rest = self.first?;
        let len: i64 = self.dims.iter().product();
        if !(0..len).contains(&rest) {
            return None;
        }
        let rank = self.dims.len();
        let mut index = vec![1; rank];
        let by_rows = || (0..rank).rev().collect();
        for at in self.minor_to_major.clone().unwrap_or_else(by_rows) {
            let dim = *self.dims.get(at)?;
            index[at] = rest % dim + 1;
            rest /= dim;
        }
        Some(index)
    }

    /// Whether it says the same of the same operand, perhaps of another call.
    pub(super) fn is_as(&self, other: &Finding) -> bool {
        self.target == other.target
            && self.platform == other.platform
            && self.kind == other.kind
            && self.operand == other.operand
            && self.dtype == other.dtype
            && (self.kind != Kind::NotChecked || self.note == other.note)
    }

    /// How many elements differ, and the first in both.
    pub(super) fn values(&self) -> String {
        let got = self.got.as_deref().unwrap_or("?");
        let expected = self.expected.as_deref().unwrap_or("?");
        let elements = Count(self.count, "element");
        format!(
            "{} is {expected} or {got}, in {elements}",
            At(self.index(), self.first)
        )
    }

    /// What is wrong in a sentence, with that name for the operand.
    #[must_use]
    pub fn text(&self, operand: &str) -> String {
        let array = format!("{operand} ({} {})", self.dtype, Dims(&self.dims));
        let at = At(self.index(), self.first);
        let got = self.got.as_deref().unwrap_or("?");
        let expected = self.expected.as_deref().unwrap_or("?");
        let elements = Count(self.count, "element");
        let note = self.note.as_deref().unwrap_or("");
        match self.kind {
            Kind::WriteBefore => format!(
                "wrote {} before {array}, {got} at element {}",
                Count(self.count, "byte"),
                self.first.unwrap_or(0) + 1
            ),
            Kind::WriteBehind => format!(
                "wrote {} behind {array}, {got} at element {}",
                Count(self.count, "byte"),
                self.first.unwrap_or(0) + 1
            ),
            Kind::ReadBefore => format!("read before {array}: {note}"),
            Kind::ReadBehind => format!("read behind {array}: {note}"),
            Kind::OperandChanged => {
                format!("changed {elements} of {array}: {at} was {expected} and is {got}")
            }
            Kind::Unwritten if self.dims.is_empty() => format!("left {array} unwritten"),
            Kind::Unwritten => format!("left {elements} of {array} unwritten, the first {at}"),
            Kind::Uninitialised => format!(
                "{array} depends in {elements} on memory that is no input (such as a result or scratch \
                 memory before it is written): {at} is {expected} or {got}"
            ),
            Kind::Nondeterministic if self.count == 0 => {
                format!("failed when run again on the same operands: {note}")
            }
            Kind::Nondeterministic => format!(
                "{array} differs in {elements} between runs on the same operands: {at} is \
                 {expected} and {got}"
            ),
            Kind::Alignment if self.count == 0 => {
                format!("failed with operands aligned to 16 bytes, not 64: {note}")
            }
            Kind::Alignment => format!(
                "{array} differs in {elements} with operands aligned to 16 bytes, not 64: {at} is \
                 {expected} and {got}"
            ),
            Kind::Aliasing if self.count == 0 => {
                format!("failed with memory of its own for a result that had an operand's: {note}")
            }
            Kind::Aliasing => format!(
                "{array} differs in {elements} with memory of its own in place of an operand's: \
                 {at} is {expected} and {got}"
            ),
            Kind::NotFinite => {
                format!("{array} is not finite in {elements}, from finite operands: {at} is {got}")
            }
            Kind::NotChecked => format!("not checked: {note}"),
        }
    }
}

struct At(Option<Vec<i64>>, Option<i64>);

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.0, self.1) {
            (Some(index), _) if index.is_empty() => f.write_str("it"),
            (Some(index), _) => {
                let index: Vec<String> = index.iter().map(i64::to_string).collect();
                write!(f, "[{}]", index.join(", "))
            }
            (None, first) => write!(f, "[{}]", first.unwrap_or(0) + 1),
        }
    }
}

struct Count(u64, &'static str);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.0 == 1 { "" } else { "s" };
        write!(f, "{} {}{plural}", self.0, self.1)
    }
}

/// Findings, each once.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<Finding>);

impl Findings {
    pub(super) fn add(&mut self, finding: Finding) {
        match self.0.iter_mut().find(|known| known.is_as(&finding)) {
            Some(known) => known.calls += 1,
            None => self.0.push(finding),
        }
    }

    pub(super) fn all(&self) -> &[Finding] {
        &self.0
    }

    pub(super) fn into_all(self) -> Vec<Finding> {
        self.0
    }
}
