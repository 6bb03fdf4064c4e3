//! Where the entries of a sparse matrix are: compressed columns, checked once.

use std::fmt;

/// A pattern that cannot be worked with: which of its parts must be what, and is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    /// `n`, `nrow`, `ncol`, `colptr` or `rowind`.
    pub part: &'static str,
    /// Such as `have 4 elements`.
    pub expected: String,
    /// What came instead.
    pub got: String,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` must {}, got {}",
            self.part, self.expected, self.got
        )
    }
}

impl std::error::Error for PatternError {}

fn error(part: &'static str, expected: String, got: impl fmt::Display) -> PatternError {
    PatternError {
        part,
        expected,
        got: got.to_string(),
    }
}

/// A pattern of any shape: for each column the rows of its entries, counted from 0, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    rows: usize,
    starts: Vec<usize>,
    indices: Vec<i32>,
}

impl Columns {
    /// Checks a pattern of `nrow` x `ncol`: the entries of column `j` are in the rows
    /// `rowind[colptr[j]..colptr[j + 1]]`.
    ///
    /// # Errors
    /// It is none.
    pub fn new(
        nrow: i64,
        ncol: i64,
        colptr: &[i32],
        rowind: &[i32],
    ) -> Result<Columns, PatternError> {
        let columns = Columns::unsorted(("nrow", nrow), ("ncol", ncol), colptr, rowind)?;
        for column in 0..columns.ncol() {
            columns.check_column(column, 0)?;
        }
        Ok(columns)
    }

    /// Checks all but the order of the rows; the numbers of rows and columns come with their names.
    fn unsorted(
        (rows_name, rows): (&'static str, i64),
        (columns_name, columns): (&'static str, i64),
        colptr: &[i32],
        rowind: &[i32],
    ) -> Result<Columns, PatternError> {
        Ok(Columns {
            rows: size(rows_name, rows)?,
            starts: starts(columns_name, columns, colptr, rowind)?,
            indices: rowind.to_vec(),
        })
    }

    /// The rows of a column ascend, the first is `least` or more and the last is a row.
    fn check_column(&self, column: usize, least: usize) -> Result<(), PatternError> {
        let mut least = least as i64;
        for &row in self.column(column) {
            let row = i64::from(row);
            if row < least || row >= self.rows as i64 {
                let expected = format!(
                    "ascend in each column, in column {column} from {least} to {} here",
                    self.rows as i64 - 1
                );
                return Err(error("rowind", expected, row));
            }
            least = row + 1;
        }
        Ok(())
    }

    /// How many rows there are.
    #[must_use]
    pub fn nrow(&self) -> usize {
        self.rows
    }

    /// How many columns there are.
    #[must_use]
    pub fn ncol(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many entries there are.
    #[must_use]
    pub fn nnz(&self) -> usize {
        self.indices.len()
    }

    /// The places of a column's entries among all.
    #[must_use]
    pub fn entries(&self, column: usize) -> std::ops::Range<usize> {
        self.starts[column]..self.starts[column + 1]
    }

    /// The rows of a column's entries.
    #[must_use]
    pub fn column(&self, column: usize) -> &[i32] {
        &self.indices[self.entries(column)]
    }
}

/// The lower triangle of a symmetric matrix. An entry of the diagonal may be missing, and is 0 then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(Columns);

impl Pattern {
    /// Checks the pattern of the lower triangle of `n` x `n`, in compressed columns as [`Columns`].
    ///
    /// # Errors
    /// It is none.
    pub fn new(n: i64, colptr: &[i32], rowind: &[i32]) -> Result<Pattern, PatternError> {
        let columns = Columns::unsorted(("n", n), ("n", n), colptr, rowind)?;
        for column in 0..columns.rows {
            // Of a row above the diagonal it is said so; nothing else differs.
            if let Some(row) = columns.column(column).iter().find(|&&row| row >= 0) {
                if (*row as usize) < column {
                    let expected =
                        format!("be of the lower triangle, {column} or more in column {column}");
                    return Err(error("rowind", expected, row));
                }
            }
            columns.check_column(column, column)?;
        }
        Ok(Pattern(columns))
    }

    /// How many rows and columns there are.
    #[must_use]
    pub fn n(&self) -> usize {
        self.0.rows
    }

    /// The entries.
    #[must_use]
    pub fn columns(&self) -> &Columns {
        &self.0
    }

    /// How many entries the triangle has.
    #[must_use]
    pub fn nnz(&self) -> usize {
        self.0.nnz()
    }

    /// Whether it is this one.
    #[must_use]
    pub fn is(&self, n: i64, colptr: &[i32], rowind: &[i32]) -> bool {
        n == self.n() as i64 && self.0.indices == rowind && same_starts(&self.0.starts, colptr)
    }
}

impl Columns {
    /// Whether it is this one.
    #[must_use]
    pub fn is(&self, nrow: i64, ncol: i64, colptr: &[i32], rowind: &[i32]) -> bool {
        nrow == self.rows as i64
            && ncol == self.ncol() as i64
            && self.indices == rowind
            && same_starts(&self.starts, colptr)
    }
}

fn same_starts(starts: &[usize], colptr: &[i32]) -> bool {
    let same = |(&start, &given): (&usize, &i32)| i64::from(given) == start as i64;
    starts.len() == colptr.len() && starts.iter().zip(colptr).all(same)
}

fn size(part: &'static str, n: i64) -> Result<usize, PatternError> {
    match i32::try_from(n) {
        Ok(n) if (0..i32::MAX).contains(&n) => Ok(n as usize),
        _ => Err(error(part, format!("be from 0 to {}", i32::MAX - 1), n)),
    }
}

/// The column pointers, which begin with 0, do not descend, and end with the number of rows.
fn starts(
    part: &'static str,
    columns: i64,
    colptr: &[i32],
    rowind: &[i32],
) -> Result<Vec<usize>, PatternError> {
    let columns = size(part, columns)?;
    if colptr.len() != columns + 1 {
        let expected = format!(
            "have {} elements, one more than there are columns",
            columns + 1
        );
        return Err(error("colptr", expected, colptr.len()));
    }
    if colptr[0] != 0 {
        return Err(error("colptr", "begin with 0".into(), colptr[0]));
    }
    if let Some(at) = colptr.windows(2).position(|two| two[0] > two[1]) {
        let got = format!("{} behind {}", colptr[at + 1], colptr[at]);
        return Err(error("colptr", "not descend".into(), got));
    }
    let last = colptr[columns];
    if i64::from(last) != rowind.len() as i64 {
        let expected = format!("have {last} elements, as the last of `colptr` says");
        return Err(error("rowind", expected, rowind.len()));
    }
    Ok(colptr.iter().map(|&start| start as usize).collect())
}
