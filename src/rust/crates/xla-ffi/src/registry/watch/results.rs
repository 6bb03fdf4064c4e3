//! What the results of several runs say.

use super::bytes::{first_not_finite, is_nan};
use super::check::{about, of_values, Check};
use super::compare::{self, Difference};
use super::finding::Kind;
use super::frame::Buffer;
use super::outcome::Run;
use super::plan::Plan;
use crate::error::OperandKind;

impl Check<'_> {
    pub(super) fn look_for_not_finite(&mut self, first: &Run) {
        let mut found = Vec::new();
        for (index, ret) in self.operands.rets.iter().enumerate() {
            if let Some((at, count)) = first_not_finite(ret.dtype, first.ret(index)) {
                let operand = (OperandKind::Result, index);
                let finding = about(&self.entry, Kind::NotFinite, operand, ret.dtype, &ret.dims);
                let difference = Difference { first: at, count };
                found.push(of_values(finding, &difference, &[], first.ret(index)));
            }
        }
        let finite = |arg: &Buffer| {
            // SAFETY: XLA's memory for this call, which the handler never sees.
            first_not_finite(arg.dtype, unsafe { arg.bytes() }).is_none()
        };
        if !found.is_empty() && self.operands.args.iter().all(finite) {
            found.into_iter().for_each(|finding| self.add(finding));
        }
    }

    /// Compares the results of the first run with those of others.
    pub(super) fn compare_all<'r>(
        &mut self,
        usual: Plan,
        first: &Run,
        others: impl Iterator<Item = &'r (Kind, Plan, Run)> + Clone,
    ) {
        for index in 0..self.operands.rets.len() {
            let ret = &self.operands.rets[index];
            let (operand, dtype) = ((OperandKind::Result, index), ret.dtype);
            let a = first.ret(index);
            let alike = others.clone().filter(|(kind, ..)| *kind != Kind::Aliasing);
            let alike: Vec<_> = alike
                .map(|(_, _, run)| (run.ret_fill(index), run.ret(index)))
                .collect();
            // A part that holds what every run began with.
            let untouched = |part: core::ops::Range<usize>| {
                let holds = |of: &[u8], fill| {
                    let mut bytes = of[part.clone()].iter();
                    bytes.all(|&byte| Some(byte) == fill)
                };
                !alike.is_empty()
                    && holds(a, first.ret_fill(index))
                    && alike.iter().all(|&(fill, other)| holds(other, fill))
            };
            let second = alike.first().filter(|_| self.session.checks.unwritten);
            let missing = second.and_then(|(_, b)| compare::different(dtype, a, b, untouched));
            if let Some(missing) = missing {
                let mut finding =
                    about(&self.entry, Kind::Unwritten, operand, ret.dtype, &ret.dims);
                finding.first = Some(missing.first as i64);
                finding.count = missing.count as u64;
                self.add(finding);
            }
            for (kind, plan, run) in others.clone() {
                let b = run.ret(index);
                let all = compare::different(dtype, a, b, |part| {
                    let nan = |of: &[u8]| is_nan(dtype, &of[part.clone()]);
                    !(nan(a) && nan(b) || untouched(part))
                });
                let Some(difference) = all else { continue };
                let kind = self.why(*kind, usual, *plan, index, (a, b), &difference);
                if self.asked(kind) {
                    let ret = &self.operands.rets[index];
                    let finding = about(&self.entry, kind, operand, ret.dtype, &ret.dims);
                    let finding = of_values(finding, &difference, a, b);
                    let outside = match kind {
                        Kind::Uninitialised => self.read_outside(usual, index, a, &finding),
                        _ => Vec::new(),
                    };
                    match outside.is_empty() {
                        true => self.add(finding),
                        false => outside.into_iter().for_each(|finding| self.add(finding)),
                    }
                }
                break;
            }
        }
    }

    fn asked(&self, kind: Kind) -> bool {
        let checks = &self.session.checks;
        match kind {
            Kind::Alignment => checks.alignment,
            Kind::Aliasing => checks.aliasing,
            _ => checks.repeat,
        }
    }

    /// Why two runs differ: a third one, which differs from the other in one respect only, tells.
    fn why(
        &mut self,
        kind: Kind,
        usual: Plan,
        other: Plan,
        index: usize,
        (a, b): (&[u8], &[u8]),
        difference: &Difference,
    ) -> Kind {
        let dtype = self.operands.rets[index].dtype;
        let size = dtype.size().unwrap_or(1);
        let first = difference.first * size..(difference.first + 1) * size;
        let mut says = |plan: Plan, value: &[u8]| {
            let run = self.run(plan).ok().filter(|run| run.error.is_null());
            run.is_some_and(|run| run.ret(index)[first.clone()] == value[first.clone()])
        };
        // The same again gives the same?
        if !says(usual, a) || !says(other, b) {
            return Kind::Nondeterministic;
        }
        let fill_alone = Plan {
            fill: other.fill,
            ..usual
        };
        match kind {
            Kind::Alignment | Kind::Aliasing if says(fill_alone, a) => kind,
            _ => Kind::Uninitialised,
        }
    }
}
