//! Looks whether anything of a run moves.
//!
//! A device that waits for another one in a collective uses no time, and XLA does not tell that it waits. So a run is taken to
//! be stuck where its end is missing, no handler is at work, and no thread that could be XLA's has done anything for as
//! long as the client's limit: a program that is only slow never looks like that, nor is one taken for it that calls handlers
//! of which nobody knows whether they are at work. A run that has failed is given up sooner, and also where
//! its devices are at work: its error is all that it can give.
//!
//! Over several processes gloo's own limit holds, as long as all are there. Where one is gone, the connections are closed
//! (`mesh`), which ends what waits for it; what does not come to its end by that is given up as well.

use super::activity::Activity;
use super::launcher::Launcher;
use super::state::{Stuck, UnderWay};
use crate::base::error::Error;
use crate::cluster::mesh::Mesh;
use crate::run::signal::Outcome;
use crate::run::state::Info;
use pjrt_api::PJRT_Error_Code;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// For so long a run that has failed need not move before it is given up.
const FAILED: Duration = Duration::from_secs(5);

/// For so long a run may go on when its processes cannot go on together.
const GONE: Duration = Duration::from_millis(2500);

/// Which runs are given up.
#[derive(Clone)]
pub(crate) enum Limit {
    /// Those of which nothing moves for so long.
    Quiet(Duration),
    /// Those over several processes, one of which is gone.
    Gone(Arc<Mesh>),
}

/// Gives up runs that do not come to an end.
pub(super) fn watch(launcher: &Launcher, limit: &Limit) {
    let turn = match limit {
        Limit::Quiet(limit) => {
            (*limit / 8).clamp(Duration::from_millis(10), Duration::from_secs(2))
        }
        Limit::Gone(_) => GONE / 5,
    };
    let mut clock = Clock::new(0);
    while let Some(seen) = launcher.look_after(turn) {
        if clock.number != seen.number {
            clock = Clock::new(seen.number);
            continue;
        }
        let ends = seen.run.ends();
        // Where all results are gone, what reads them may still be waited for.
        let is_over = !ends.is_empty() && ends.iter().all(|end| matches!(end, Some(Some(_))));
        if seen.caller.is_none() && is_over {
            launcher.is_over(seen.number);
            continue;
        }
        let reason = match limit {
            Limit::Quiet(limit) => clock.is_too_late(&seen, &ends, *limit),
            Limit::Gone(mesh) => mesh
                .trouble()
                .and_then(|(why, age)| clock.is_left_alone(turn, age).then_some(Reason::Gone(why))),
        };
        if let Some(reason) = reason {
            let (error, stuck) = explain(&seen, &ends, reason);
            launcher.give_up(&seen, error, stuck);
        }
    }
}

/// Why a run is given up.
enum Reason {
    /// Nothing of it has moved for so long.
    Quiet(Duration),
    /// It has failed, and its devices go on.
    Failed,
    /// Its processes cannot go on together, and why.
    Gone(String),
}

/// What has been seen of one run.
struct Clock {
    number: u64,
    last: Instant,
    activity: Activity,
    /// For how long nothing has moved.
    quiet: Duration,
    /// For how long the run has been known to have failed.
    failed: Duration,
}

impl Clock {
    fn new(number: u64) -> Self {
        Self {
            number,
            last: Instant::now(),
            activity: Activity::now(),
            quiet: Duration::ZERO,
            failed: Duration::ZERO,
        }
    }

    /// Whether nothing moves of a run over several processes, which have not gone on together for `age`.
    fn is_left_alone(&mut self, turn: Duration, age: Duration) -> bool {
        let (now, activity) = (Instant::now(), Activity::now());
        let elapsed = now.duration_since(self.last).min(2 * turn);
        self.quiet = match activity.is_none_since(&self.activity, elapsed) {
            true => self.quiet + elapsed,
            false => Duration::ZERO,
        };
        (self.last, self.activity) = (now, activity);
        self.quiet >= GONE && age >= GONE
    }

    fn is_too_late(&mut self, seen: &UnderWay, ends: &Ends, limit: Duration) -> Option<Reason> {
        let run = &seen.run;
        let (now, activity) = (Instant::now(), Activity::now());
        // A process that was stopped meanwhile has not waited.
        let elapsed = now.duration_since(self.last).min(limit / 4);
        let is_quiet = !run.may_be_busy() && activity.is_none_since(&self.activity, elapsed);
        let is_awaited = seen.caller.is_some()
            || run.is_waited_for()
            || ends.iter().any(|end| matches!(end, Some(None)));
        let handler_failed = run.failure().is_some();
        let device_failed = ends.iter().any(|end| matches!(end, Some(Some(Some(_)))));
        (self.last, self.activity) = (now, activity);
        self.quiet = match is_quiet && is_awaited {
            true => self.quiet + elapsed,
            false => Duration::ZERO,
        };
        self.failed = match (handler_failed || device_failed) && is_awaited {
            true => self.failed + elapsed,
            false => Duration::ZERO,
        };
        let patience = match handler_failed || device_failed {
            true => limit.min(FAILED),
            false => limit,
        };
        if self.quiet >= patience {
            return Some(Reason::Quiet(self.quiet));
        }
        (self.failed >= limit).then_some(Reason::Failed)
    }
}

type Ends = [Option<Option<Outcome>>];

/// What those are info who wait for the run, and those who would use its devices.
fn explain(seen: &UnderWay, ends: &Ends, reason: Reason) -> (Error, Stuck) {
    let unknown = Info::default();
    let info = seen.run.info().unwrap_or(&unknown);
    let is_lost = |place: usize| !matches!(ends.get(place), Some(Some(Some(_))));
    let lost = info.devices.iter().enumerate();
    let lost = lost
        .filter(|(place, _)| is_lost(*place))
        .map(|(_, (id, _))| *id);
    let failure = seen.run.failure().map(|error| error.message);
    let devices = describe(info, ends, failure.as_deref());
    let failed = match &failure {
        Some(failure) => format!("has failed ({failure}) and "),
        None => String::new(),
    };
    let why = match reason {
        Reason::Quiet(quiet) => {
            let seconds = quiet.as_secs().max(1);
            format!(": nothing of it has moved for {seconds} s")
        }
        Reason::Failed => String::new(),
        Reason::Gone(ref why) => format!(": {why}"),
    };
    let error = Error {
        code: match reason {
            Reason::Gone(_) => PJRT_Error_Code::UNAVAILABLE,
            Reason::Quiet(_) | Reason::Failed => PJRT_Error_Code::DEADLINE_EXCEEDED,
        },
        message: format!(
            "`{}` over {} devices {failed}does not come to an end{why} ({devices}). XLA's threads that wait cannot be freed: \
             until they come back, this client refuses programs over several devices, and programs on those that have not ended",
            info.name,
            info.devices.len()
        ),
        own: false,
    };
    let stuck = Stuck {
        failed,
        lost: lost.collect(),
        program: info.name.clone(),
        devices,
    };
    (error, stuck)
}

/// What became of the devices, of a run that is known to have failed in this way.
fn describe(info: &Info, ends: &Ends, failure: Option<&str>) -> String {
    let (mut waiting, mut ended, mut unknown, mut failed) = (vec![], vec![], vec![], vec![]);
    for (place, (_, name)) in info.devices.iter().enumerate() {
        match ends.get(place) {
            Some(Some(None)) => waiting.push(name.as_str()),
            Some(Some(Some(None))) => ended.push(name.as_str()),
            Some(Some(Some(Some(error)))) => failed.push(match failure == Some(&error.message) {
                true => format!("{name} has failed"),
                false => format!("{name} has failed: {}", error.message),
            }),
            Some(None) | None => unknown.push(name.as_str()),
        }
    }
    let collectives = collectives(&info.collectives);
    let mut said = Vec::new();
    if !waiting.is_empty() {
        said.push(format!("waiting{collectives}: {}", waiting.join(", ")));
    }
    if !ended.is_empty() {
        said.push(format!("ended: {}", ended.join(", ")));
    }
    said.extend(failed);
    if !unknown.is_empty() {
        said.push(format!(
            "waiting{collectives}, or ended: {}",
            unknown.join(", ")
        ));
    }
    said.join("; ")
}

/// The first ones of the program, each of which may be the one.
fn collectives(names: &[String]) -> String {
    const MOST: usize = 4;
    if names.is_empty() {
        return String::new();
    }
    let more = match names.len() > MOST {
        true => format!(" or another of {}", names.len()),
        false => String::new(),
    };
    let names = &names[..names.len().min(MOST)];
    format!(" in {}{more}", names.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_told_apart() {
        let info = Info {
            name: "main".into(),
            devices: (0..4).map(|id| (id, format!("cpu:{id}"))).collect(),
            collectives: (0..6).map(|n| format!("all-reduce.{n}")).collect(),
            ..Info::default()
        };
        let (ended, failed) = (Some(Some(None)), Some(Some(Some(Error::invalid("boom")))));
        assert_eq!(
            describe(&info, &[Some(None), ended.clone(), failed.clone(), None], None),
            "waiting in all-reduce.0 or all-reduce.1 or all-reduce.2 or all-reduce.3 or another of 6: cpu:0; ended: cpu:1; \
             cpu:2 has failed: boom; waiting in all-reduce.0 or all-reduce.1 or all-reduce.2 or all-reduce.3 or another of 6, \
             or ended: cpu:3"
        );
        assert_eq!(
            describe(
                &info,
                &[ended.clone(), ended.clone(), ended, failed],
                Some("boom")
            ),
            "ended: cpu:0, cpu:1, cpu:2; cpu:3 has failed"
        );
        assert_eq!(describe(&Info::default(), &[], None), "");
    }
}
