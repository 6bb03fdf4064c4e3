//! Whether programs need R: by the names that they call.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use pjrt_jaxlib::Others;
use programs::targets;

use crate::runtime::attend::start;
use crate::runtime::serve::in_use;

/// The names that ops of R functions had.
static NAMES: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Notes that an op of an R function has that name.
pub fn note_name(name: &str) {
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    names.insert(name.to_owned());
}

/// The names that a program calls; none are known of one that cannot be read.
pub struct Called {
    names: Option<BTreeSet<String>>,
    /// What it calls of other hosts' handlers.
    others: Others,
}

impl Called {
    /// Those of a program.
    pub fn by(code: &[u8], others: Others) -> Self {
        let text = std::str::from_utf8(code).ok();
        let text = text.filter(|text| !text.contains('\0'));
        let names = text.map(|text| targets(text).map(str::to_owned).collect());
        Called { names, others }
    }

    /// Whether it calls handlers of others that can only be on R's thread if R's thread runs the program.
    pub fn needs_r_to_run_it(&self) -> bool {
        self.others == Others::Unserved
    }

    /// Has R serve the program.
    pub fn be_served(&self) {
        if self.others == Others::Served {
            start();
        }
    }

    /// Whether one of them was the name of an R function. One that cannot be read may be.
    pub fn names_r(&self) -> bool {
        let names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        self.names.as_ref().map_or(true, |targets| {
            let mut targets = targets.iter();
            targets.any(|target| target.is_empty() || names.contains(target))
        })
    }

    /// Whether the program may need R as names are now. It is waited for where it is started, on
    /// another thread than R's. If it were not, those that wait for R could fill XLA's room for
    /// programs under way, and a program that their functions run would never start.
    pub fn may_need_r(&self) -> bool {
        self.others == Others::Served || (in_use() && self.names_r())
    }
}
