//! That all processes launch the same programs in the same order.

use super::ending::refusal;
use super::{Mesh, State};
use crate::error::{Error, Result};
use crate::mesh::course::Launch;
use crate::mesh::runtime;
use crate::mesh::wire::Message;
use crate::python::gil::blocking;
use std::sync::atomic::Ordering;
use std::sync::Arc;

impl Mesh {
    /// Tells the others what this process is about to launch, and waits until all are about to launch the same, unless that
    /// is what they have launched at this point before: then `conclude()` will tell, and who launches something else waits here.
    /// So nothing is exchanged between different programs. Launches come one after the other.
    pub fn announce(self: &Arc<Self>, launch: &Launch) -> Result<()> {
        self.check(&launch.parties)?;
        if !launch.exchanges {
            let mut state = self.state();
            state.course(launch).note(launch.digest);
            return Ok(());
        }
        self.agree(launch)?;
        let mut state = self.state();
        state.told += 1;
        let course = state.course(launch);
        let is_expected = course.go_on(launch.digest);
        let message = Message::Meet {
            key: launch.devices.clone(),
            parties: launch.parties.clone(),
            mark: course.mark(),
            what: launch.what.clone(),
        };
        drop(state);
        if !is_expected {
            let since = self.opened.elapsed().as_millis() as u64;
            self.launched.store(since, Ordering::Relaxed);
        }
        self.send(&message);
        if is_expected {
            return Ok(());
        }
        self.may_connect.store(true, Ordering::Release);
        self.agree(launch)
    }

    /// After the program has run here: waits until it is known that all have launched it.
    pub fn conclude(self: &Arc<Self>, launch: &Launch) -> Result<()> {
        if !launch.exchanges {
            return Ok(());
        }
        self.agree(launch)?;
        if self.may_connect.swap(false, Ordering::AcqRel) {
            runtime::keep_from_children(self.number);
        }
        Ok(())
    }

    /// Waits until it is known that all processes launch what this one does.
    fn agree(self: &Arc<Self>, launch: &Launch) -> Result<()> {
        let limit = self.settings.limits.collective;
        let is_agreed = |state: &State| {
            let agreed = (state.agreed >= state.told).then_some(Ok(()));
            agreed.or_else(|| refusal(state, &launch.parties).map(Err))
        };
        // Who carries what XLA tells needs Python's lock.
        let agreed = blocking(|| self.wait(limit, is_agreed));
        agreed.unwrap_or_else(|| {
            let limit = limit.as_secs();
            self.fail(&format!(
                "it has waited {limit} s for others to launch a program {}",
                launch.what
            ));
            Err(Error::deadline(format!(
                "the other processes did not launch the program within {limit} s"
            )))
        })
    }
}
