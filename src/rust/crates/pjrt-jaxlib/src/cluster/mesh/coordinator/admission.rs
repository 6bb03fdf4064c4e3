//! Who may take part.

use super::state::{Coordinator, Refusal, Slot, State};
use crate::cluster::mesh::wire::Message;
use std::net::IpAddr;

impl Coordinator {
    /// Jobs that nobody has told each other's ports may come to listen at the same one.
    pub(super) fn is_same_job(&self, process: u32, job: &str) -> std::result::Result<(), Refusal> {
        if job.is_empty() || self.job.is_empty() || job == self.job {
            return Ok(());
        }
        Err((
            "FAILED_PRECONDITION",
            format!(
                "process {process} belongs to job `{job}`, the coordinator that listens there to job `{}`",
                self.job
            ),
        ))
    }
}

impl State {
    /// A process that gives others, on another machine, an address of the loopback: each machine has its own.
    pub(super) fn out_of_reach(&self) -> Option<String> {
        let slots = || (0..).zip(self.slots.iter().flatten());
        let is_local = |slot: &Slot| slot.address().is_some_and(|address| address.is_loopback());
        slots().find_map(|(process, slot): (u32, _)| {
            let address = slot.address().filter(IpAddr::is_loopback)?;
            let is_elsewhere = |other: &Slot| other.host() != slot.host() && !is_local(other);
            let (other, far) = slots().find(|(_, other)| is_elsewhere(other))?;
            Some(format!(
                "process {process} on {} gives the address {address}, which process {other} on {} cannot reach; it must \
                 be told another one (`address`)",
                slot.host(),
                far.host()
            ))
        })
    }

    /// Why a process is not one of these. Where they have not all come, it is one that they would wait for without an end: so
    /// the start fails for all, and who comes later is told the same.
    pub(super) fn fits(
        &mut self,
        process: u32,
        processes: u32,
        version: &str,
    ) -> std::result::Result<(), Refusal> {
        if let Some(failed) = &self.failed {
            return Err(failed.clone());
        }
        let here = self.slots.len();
        let mut slots = self.slots.iter().flatten();
        let refusal = if processes as usize != here {
            let why = format!(
                "process {process} was told of {processes} processes, the coordinator of {here}"
            );
            ("INVALID_ARGUMENT", why)
        } else if let Some(other) = slots.find(|s| s.version != version) {
            let why = format!(
                "all processes must run the same versions; process {process} runs {version}, another one {}",
                other.version
            );
            ("FAILED_PRECONDITION", why)
        } else {
            return Ok(());
        };
        if !self.started {
            self.tell(&Message::Refused(refusal.0.into(), refusal.1.clone()), None);
            self.failed = Some(refusal.clone());
        }
        Err(refusal)
    }

    /// Why a process cannot take part now.
    pub(super) fn may_come(&self, process: u32) -> std::result::Result<(), Refusal> {
        let here = self.slots.len();
        let Some(slot) = self.slots.get(process as usize) else {
            let why = format!(
                "processes are numbered from 0 to {}, not {process}",
                here - 1
            );
            return Err(("INVALID_ARGUMENT", why));
        };
        if let Some(slot) = slot {
            let what = if slot.is_empty {
                "was there, and the others go on without it"
            } else {
                "is there already"
            };
            return Err((
                "ALREADY_EXISTS",
                format!("process {process} {what} ({})", slot.facts.join(", ")),
            ));
        }
        Ok(())
    }
}
