//! That all processes launch the same programs in the same order.

use super::announced::Announced;
use super::mesh::Mesh;
use crate::base::error::{Error, Result};
use crate::cluster::mesh::code;
use crate::cluster::mesh::launch_log::Launch;
use crate::cluster::mesh::runtime;
use crate::cluster::mesh::signal;
use crate::cluster::mesh::wire::Message;
use crate::python::gil::blocking;
use std::io::ErrorKind;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

impl Mesh {
    /// Tells the others what this process is about to launch, and waits until all are about to launch the same, unless that
    /// is what it has launched with each of them at this point before: then `conclude()` hears of them. Both have the same
    /// past, and expect the same; who launches something else waits here. So nothing is exchanged between different programs,
    /// and two that wait for each other in different ones are told. Launches come one after the other.
    pub fn announce(self: &Arc<Self>, launch: &Launch) -> Result<()> {
        self.check(&launch.parties)?;
        // The thread that calls XLA, which sends from there and from threads that are started now.
        signal::block();
        signal::answer();
        let code = launch.code();
        let step = launch.step(&code);
        let others = launch.parties.iter().copied();
        let others = others.filter(|other| *other != self.settings.process);
        if !launch.exchanges {
            let mut announced = blocking(|| self.announced());
            others.for_each(|other| announced.log(other).note(step, &code));
            return Ok(());
        }
        let mut announced = self.agreed()?;
        announced.what.clone_from(&launch.what);
        let mut is_expected = true;
        for other in others {
            let log = announced.log(other);
            is_expected &= log.go_on(step, &code);
            let mark = log.mark();
            let code = log.take_code();
            announced.unheard.push((other, mark, code.clone()));
            // Where it cannot be told, it cannot be heard of.
            let message = Message::Launch(mark, launch.what.clone(), code);
            let _ = self.link_to(other)?.send(&message);
        }
        drop(announced);
        if is_expected {
            return Ok(());
        }
        let since = self.opened.elapsed().as_millis() as u64;
        self.launched.store(since, Ordering::Relaxed);
        self.may_connect.store(true, Ordering::Release);
        self.agreed().map(drop)
    }

    /// After the program has run here: waits until it is known that all have launched it.
    pub fn conclude(self: &Arc<Self>, launch: &Launch) -> Result<()> {
        if !launch.exchanges {
            return Ok(());
        }
        drop(self.agreed()?);
        if self.may_connect.swap(false, Ordering::AcqRel) {
            runtime::keep_from_children(self.number);
        }
        Ok(())
    }

    fn announced(&self) -> MutexGuard<'_, Announced> {
        let announced = self.announced.lock();
        announced.unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until it is known that all processes have launched what this one has.
    fn agreed(self: &Arc<Self>) -> Result<MutexGuard<'_, Announced>> {
        if let Some(announced) = self
            .announced
            .try_lock()
            .ok()
            .filter(|a| a.unheard.is_empty())
        {
            return Ok(announced);
        }
        // Who carries what XLA tells needs Python's lock.
        blocking(|| {
            let mut announced = self.announced();
            while let Some((other, mark, code)) = announced.unheard.last() {
                self.hear_of(*other, *mark, &announced.what, code)?;
                announced.unheard.pop();
            }
            Ok(announced)
        })
    }

    /// Waits until a process has told what it launches, which must have that mark. `code` is what was called here.
    fn hear_of(self: &Arc<Self>, other: u32, mark: u64, what: &str, code: &[String]) -> Result<()> {
        let received = self.link_to(other)?.receive();
        let why = match received {
            Ok(Message::Launch(received, ..)) if received == mark => return Ok(()),
            Ok(Message::Launch(_, received, called)) => {
                let here = self.settings.process;
                let differs = code::difference((here, code), (other, &called));
                let own = if let (Some(differs), true) = (differs, received == what) {
                    &format!(
                        "another one of the same shapes, or has launched others before ({differs})"
                    )
                } else if received == what {
                    "another one of the same shapes, or has launched others before"
                } else {
                    &format!("one {what}")
                };
                format!(
                    "process {other} launches a program {received}, process {} {own}; all processes must launch the same \
                     programs in the same order",
                    self.settings.process
                )
            }
            Ok(received) => format!("process {other} told it {received:?}"),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                let limit = self.settings.limits.collective.as_secs();
                self.fail(&format!(
                    "it has waited {limit} s for others to launch a program {what}"
                ));
                return Err(Error::deadline(format!(
                    "the other processes did not launch the program within {limit} s"
                )));
            }
            Err(error) => {
                // Why is known a moment after its connections have closed.
                let limit = Duration::from_secs(2);
                if let Some(known) = self.wait(limit, |state| super::mesh::refusal(state, &[other]))
                {
                    return Err(known);
                }
                format!("its connection to process {other} is closed ({error})")
            }
        };
        self.fail(&why);
        let known = self.check(&[other]).err();
        Err(known.unwrap_or_else(|| Error::unavailable(why)))
    }
}
