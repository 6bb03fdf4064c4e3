//! What was read beside operands and results.

use super::check::{about, Check};
use super::fill::{Area, Side};
use super::finding::{Finding, Kind};
use super::frame::Buffer;
use super::plan::Plan;
use crate::error::OperandKind;

/// What is read there is no input.
const SIDES: [(Side, Kind); 2] = [
    (Side::Before, Kind::ReadBefore),
    (Side::Behind, Kind::ReadBehind),
];

impl Check<'_> {
    /// Operands and results, each with its number among all.
    fn arrays(&self) -> impl Iterator<Item = (usize, (OperandKind, usize), &Buffer)> {
        let args = self.operands.args.iter().enumerate();
        let rets = self.operands.rets.iter().enumerate();
        let args = args.map(|(index, arg)| ((OperandKind::Argument, index), arg));
        let rets = rets.map(|(index, ret)| ((OperandKind::Result, index), ret));
        let all = args.chain(rets).enumerate();
        all.map(|(array, (operand, buffer))| (array, operand, buffer))
    }

    /// What was read beside arrays, where an element that was written outside of one is what lay there.
    pub(super) fn copied(&self, plan: Plan, written: &Finding, element: &[u8]) -> Vec<Finding> {
        let is_what_lay = |area: Area| {
            let byte = plan.fill.byte(area);
            !element.is_empty() && element.iter().all(|&written| written == byte)
        };
        let mut found = Vec::new();
        for (array, operand, buffer) in self.arrays() {
            for (side, kind) in SIDES {
                if Some(operand) != written.operand && is_what_lay(Area::of(array, side)) {
                    let mut finding = about(&self.entry, kind, operand, buffer.dtype, &buffer.dims);
                    let place = match written.kind {
                        Kind::WriteBefore => "before",
                        _ => "behind",
                    };
                    finding.note = Some(format!(
                        "what lies there was written {place} {}",
                        label(written)
                    ));
                    found.push(finding);
                }
            }
        }
        found
    }

    /// The arrays beside which lies what a result depends on: it changes with what lies there, and with nothing else.
    pub(super) fn read_outside(
        &mut self,
        usual: Plan,
        index: usize,
        value: &[u8],
        difference: &Finding,
    ) -> Vec<Finding> {
        let size = difference.dtype.size().unwrap_or(1);
        let first = difference
            .first
            .and_then(|first| usize::try_from(first).ok());
        let first = first.unwrap_or(0) * size;
        let mut found = Vec::new();
        let arrays: Vec<_> = self
            .arrays()
            .map(|(array, operand, _)| (array, operand))
            .collect();
        for (array, operand) in arrays {
            for (side, kind) in SIDES {
                let plan = Plan {
                    fill: usual.fill.but_for(Area::of(array, side)),
                    ..usual
                };
                let run = self.run(plan).ok().filter(|run| run.error.is_null());
                let depends = run.is_some_and(|run| {
                    run.ret(index)[first..first + size] != value[first..first + size]
                });
                if depends {
                    found.push((operand, kind));
                }
            }
        }
        let note = format!(
            "{} depends on what lies there: {}",
            label(difference),
            difference.values()
        );
        let finding = |((of, at), kind)| {
            let buffers = match of {
                OperandKind::Argument => &self.operands.args,
                _ => &self.operands.rets,
            };
            let buffer: &Buffer = &buffers[at];
            let mut finding = about(&self.entry, kind, (of, at), buffer.dtype, &buffer.dims);
            finding.count = difference.count;
            finding.note = Some(note.clone());
            finding
        };
        found.into_iter().map(finding).collect()
    }
}

/// "result 1", without the name, which this crate does not know.
fn label(finding: &Finding) -> String {
    match finding.operand {
        Some((OperandKind::Argument, index)) => format!("operand {}", index + 1),
        Some((_, index)) => format!("result {}", index + 1),
        None => String::new(),
    }
}
