//! A kernel as the user gives it.

/// A kernel as the user gives it.
#[derive(Clone, Debug, Default)]
pub struct KernelCode {
    /// The names of the body's and of the support code's files in messages.
    pub files: [String; 2],
    /// What a thread does.
    pub body: String,
    /// Code before it.
    pub support: String,
    /// The text of `xlaffi.h`.
    pub header: String,
    /// Who does what.
    pub work: Work,
    /// Options for NVRTC.
    pub options: Vec<String>,
}

/// How work is shared out, in numbers that depend on the signature's dimensions.
#[derive(Clone, Debug)]
pub enum Work {
    /// The body is run for each value from 0 of an index.
    Each {
        /// What the index is called.
        index: String,
        /// How many values it has; as many as the first result has elements.
        over: Option<String>,
    },
    /// The body is run by each thread of each block.
    Grid {
        /// Blocks, along one or two axes.
        blocks: Vec<String>,
        /// Threads of a block, along up to three axes.
        threads: Vec<String>,
        /// Bytes of shared memory that the launch asks for.
        shared: Option<String>,
    },
}

impl Default for Work {
    fn default() -> Self {
        Work::Each {
            index: "i".to_owned(),
            over: None,
        }
    }
}

/// What is wrong with a kernel: the part of it, and what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelFault {
    /// "grid".
    pub part: &'static str,
    /// In words.
    pub message: String,
}

impl KernelCode {
    /// Whether a kernel may fail; by the text, as a call must be waited for then.
    pub(crate) fn fails(&self) -> bool {
        [&self.body, &self.support]
            .iter()
            .any(|part| part.contains("FAIL"))
    }
}
