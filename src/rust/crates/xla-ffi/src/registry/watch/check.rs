//! One call under check: what is run, and how often.

use core::ptr;

use super::compare::{self, Difference};
use super::deferred;
use super::fill::Fill;
use super::finding::{Finding, Kind};
use super::frame::Operands;
use super::outcome::Run;
use super::plan::Plan;
use super::session::Session;
use super::zone::{Place, Zone};
use crate::error::{Error, OperandKind};
use crate::registry::entry::Entry;
use crate::registry::state::Registry;
use crate::report::report;
use crate::{sys, DataType};

/// Calls a handler in memory of ours, as often as the checks ask, and gives XLA the first run's
/// results.
///
/// # Safety
/// XLA's frame of a call in the execute stage; `handler` calls the handler with it.
pub(super) unsafe fn call(
    session: &Session,
    slot: usize,
    frame: *mut sys::XLA_FFI_CallFrame,
    handler: &dyn Fn() -> *mut sys::XLA_FFI_Error,
) -> *mut sys::XLA_FFI_Error {
    let Some(entry) = Registry::global().entry(slot) else {
        return handler();
    };
    let skip = |why: String| {
        let mut finding = about_call(&entry, Kind::NotChecked);
        finding.note = Some(why);
        session.report(finding);
    };
    if entry.platform != "host" {
        skip("its operands are in the memory of a device".to_owned());
        return handler();
    }
    // SAFETY: by contract.
    let operands = match unsafe { Operands::of(frame) } {
        Ok(operands) => operands,
        Err(why) => {
            skip(why);
            return handler();
        }
    };
    let mut check = Check {
        session,
        entry,
        frame,
        handler,
        operands,
        findings: Vec::new(),
    };
    let error = check.all();
    session.count();
    for finding in check.findings {
        session.report(finding);
    }
    error
}

pub(super) struct Check<'a> {
    pub(super) session: &'a Session,
    pub(super) entry: Entry,
    pub(super) frame: *mut sys::XLA_FFI_CallFrame,
    pub(super) handler: &'a dyn Fn() -> *mut sys::XLA_FFI_Error,
    pub(super) operands: Operands,
    findings: Vec<Finding>,
}

impl Check<'_> {
    fn all(&mut self) -> *mut sys::XLA_FFI_Error {
        let checks = &self.session.checks;
        let has_results = self.operands.rets.iter().any(|ret| ret.size > 0);
        let once = !has_results || self.session.runs_once(&self.entry.target);
        let (aligned, least_aligned) = match checks.guard_pages {
            #[cfg(unix)]
            true => (Place::BehindPage, Place::BeforePage),
            _ => (Place::Aligned, Place::LeastAligned),
        };
        let plan = |fill: usize, place, shared| Plan {
            fill: Fill::of_run(fill),
            place,
            shared,
        };
        let usual = plan(0, aligned, true);
        let place = if once && checks.guard_pages {
            least_aligned
        } else {
            aligned
        };
        let first = match self.run(plan(0, place, true)) {
            Ok(run) => run,
            Err(error) => return self.fail(&error),
        };
        if !first.error.is_null() {
            return first.error;
        }
        let (repeat, least) = (
            checks.repeat || checks.unwritten,
            checks.alignment || checks.guard_pages,
        );
        let shares = self.operands.aliases.iter().any(Option::is_some);
        if !once {
            let others = [
                (repeat, Kind::Nondeterministic, plan(1, aligned, true)),
                (least, Kind::Alignment, plan(2, least_aligned, true)),
                (
                    checks.aliasing && shares,
                    Kind::Aliasing,
                    plan(0, aligned, false),
                ),
            ];
            let mut runs = Vec::new();
            for (asked, kind, plan) in others {
                let run = asked.then(|| self.again(kind, plan)).flatten();
                runs.push(run.map(|run| (kind, plan, run)));
            }
            self.compare_all(usual, &first, runs.iter().flatten());
        }
        if checks.finite {
            self.look_for_not_finite(&first);
        }
        for (index, ret) in self.operands.rets.iter().enumerate() {
            // SAFETY: XLA's memory for this call's results, which lasts until we return.
            unsafe { ret.fill(first.ret(index)) };
        }
        ptr::null_mut()
    }

    fn fail(&self, error: &Error) -> *mut sys::XLA_FFI_Error {
        // SAFETY: XLA's frame, of the call that lasts.
        unsafe { report(self.frame, error) }
    }

    /// One more run; `None`, and a finding, where it fails.
    fn again(&mut self, kind: Kind, plan: Plan) -> Option<Run> {
        let why = match self.run(plan) {
            Ok(run) if run.error.is_null() => return Some(run),
            // SAFETY: the frame's table, and the handler gave us the error.
            Ok(run) => unsafe { deferred::take_text((*self.frame).api, run.error) },
            Err(error) => error.to_string(),
        };
        let mut finding = about_call(&self.entry, kind);
        finding.note = Some(why);
        self.add(finding);
        None
    }

    /// Writes outside, and operands that changed.
    pub(super) fn look_around(&mut self, plan: Plan, run: &Run) {
        let mut found = Vec::new();
        let checks = &self.session.checks;
        let Operands { args, rets, .. } = &self.operands;
        let args = args.iter().zip(&run.args).enumerate();
        let rets = rets.iter().zip(&run.rets).enumerate();
        let all = args
            .map(|(index, of)| ((OperandKind::Argument, index), of))
            .chain(rets.map(|(index, of)| ((OperandKind::Result, index), of)));
        for (operand, (buffer, zone)) in all {
            let Some(zone) = zone else { continue };
            if checks.bounds {
                let finding = |kind| about(&self.entry, kind, operand, buffer.dtype, &buffer.dims);
                for (finding, element) in writes_outside(zone, finding) {
                    found.extend(self.copied(plan, &finding, element));
                    found.push(finding);
                }
            }
            let is_input =
                operand.0 == OperandKind::Argument && !run.aliases.contains(&Some(operand.1));
            if checks.operands && is_input {
                // SAFETY: XLA's memory for this call, which the handler never sees.
                let original = unsafe { buffer.bytes() };
                let all = compare::different(buffer.dtype, original, zone.inside(), |_| true);
                let change = all.map(|it| {
                    let kind = Kind::OperandChanged;
                    let finding = about(&self.entry, kind, operand, buffer.dtype, &buffer.dims);
                    of_values(finding, &it, original, zone.inside())
                });
                found.extend(change);
            }
        }
        for memory in run.scratch.iter().filter(|_| checks.bounds) {
            let operand = (OperandKind::Scratch, memory.index);
            let finding = |kind| about(&self.entry, kind, operand, memory.dtype, &memory.dims);
            found.extend(writes_outside(&memory.zone, finding).map(|(finding, _)| finding));
        }
        found.into_iter().for_each(|finding| self.add(finding));
    }

    pub(super) fn add(&mut self, finding: Finding) {
        if !self.findings.iter().any(|known| known.is_as(&finding)) {
            self.findings.push(finding);
        }
    }
}

/// What was written before and behind an array, and the bytes of the nearest element.
fn writes_outside<'z>(
    zone: &'z Zone,
    finding: impl Fn(Kind) -> Finding + 'z,
) -> impl Iterator<Item = (Finding, &'z [u8])> + 'z {
    let outside = [
        (Kind::WriteBefore, zone.before()),
        (Kind::WriteBehind, zone.behind()),
    ];
    outside.into_iter().filter_map(move |(kind, outside)| {
        let outside = outside?;
        let mut finding = finding(kind);
        let size = finding.dtype.size().unwrap_or(1).max(1) as isize;
        let first = outside.nearest.div_euclid(size);
        finding.first = Some(first as i64);
        let element = zone.around(first * size, size as usize);
        finding.got = element.map(|bytes| super::bytes::text(finding.dtype, bytes));
        finding.count = outside.count as u64;
        Some((finding, element.unwrap_or_default()))
    })
}

fn about_call(entry: &Entry, kind: Kind) -> Finding {
    Finding {
        target: entry.target.clone(),
        platform: entry.platform.clone(),
        kind,
        operand: None,
        dtype: DataType::INVALID,
        dims: Vec::new(),
        minor_to_major: None,
        first: None,
        expected: None,
        got: None,
        count: 0,
        calls: 1,
        note: None,
    }
}

pub(super) fn about(
    entry: &Entry,
    kind: Kind,
    operand: (OperandKind, usize),
    dtype: DataType,
    dims: &[i64],
) -> Finding {
    Finding {
        operand: Some(operand),
        dtype,
        dims: dims.to_vec(),
        ..about_call(entry, kind)
    }
}

/// With the first element of both, as far as they reach.
pub(super) fn of_values(
    mut finding: Finding,
    difference: &Difference,
    was: &[u8],
    is: &[u8],
) -> Finding {
    let size = finding.dtype.size().unwrap_or(1);
    let element = |of: &[u8]| {
        let bytes = of.get(difference.first * size..)?.get(..size)?;
        Some(super::bytes::text(finding.dtype, bytes))
    };
    (finding.expected, finding.got) = (element(was), element(is));
    finding.first = Some(difference.first as i64);
    finding.count = difference.count as u64;
    finding
}
