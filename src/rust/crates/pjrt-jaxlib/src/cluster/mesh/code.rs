//! What the calls of a program do, as far as its text does not tell: a handler is found by its name, and an op of the user's
//! own by a number, which other processes have for other ops.

use std::sync::OnceLock;

/// What tells the code of a call: by its target, and the number of the op where the program has one. The same number in all
/// processes for the same code; `None` where nothing is known of it.
pub type CodeOf = fn(target: &str, op: Option<i64>) -> Option<u64>;

static CODE_OF: OnceLock<CodeOf> = OnceLock::new();

/// Has processes compare what their programs call by `code_of`, the first one that is given.
pub fn compare_code_by(code_of: CodeOf) {
    let _ = CODE_OF.set(code_of);
}

/// What a program calls.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Called {
    pub target: String,
    /// The attribute `xlaffi.op`.
    pub op: Option<i64>,
}

impl Called {
    /// The name, and what it is made of now: others may be registered under a name later.
    pub(super) fn text(&self) -> String {
        let code_of = CODE_OF.get();
        match code_of.and_then(|code_of| code_of(&self.target, self.op)) {
            Some(code) => format!("{} {code:016x}", self.target),
            None => self.target.clone(),
        }
    }
}

/// How the calls of two processes' programs differ, as [`Called::text`] tells them: `None` where they do not.
pub(super) fn difference(here: (u32, &[String]), there: (u32, &[String])) -> Option<String> {
    let name = |text: &String| text.split(' ').next().unwrap_or_default().to_owned();
    let more = |these: &[String], those: &[String]| -> Vec<String> {
        let these = these.iter().filter(|text| !those.contains(text));
        these.map(name).collect()
    };
    let (mut ours, mut theirs) = (more(here.1, there.1), more(there.1, here.1));
    let mut both: Vec<String> = ours.clone();
    both.retain(|name| theirs.contains(name));
    both.dedup();
    let said: Vec<String> = both
        .iter()
        .map(|name| {
            format!(
                "`{name}` is made of other code in process {} than in process {}",
                there.0, here.0
            )
        })
        .collect();
    ours.retain(|name| !both.contains(name));
    theirs.retain(|name| !both.contains(name));
    let calls = [(here.0, ours), (there.0, theirs)];
    let calls = calls.iter().filter(|(_, names)| !names.is_empty());
    let calls = calls.map(|(process, names)| {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        format!("process {process} calls {}", names.join(", "))
    });
    let said: Vec<String> = said.into_iter().chain(calls).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ops_that_differ_are_named() {
        let texts = |texts: &[&str]| -> Vec<String> { texts.iter().map(|&t| t.into()).collect() };
        let between =
            |here: &[&str], there: &[&str]| difference((0, &texts(here)), (1, &texts(there)));
        assert_eq!(between(&["a 1", "b"], &["b", "a 1"]), None);
        assert_eq!(
            between(&["a 1", "b 3"], &["a 2", "b 3"]).unwrap(),
            "`a` is made of other code in process 1 than in process 0"
        );
        assert_eq!(
            between(&["a 1", "b"], &["c", "a 1"]).unwrap(),
            "process 0 calls `b`; process 1 calls `c`"
        );
        assert_eq!(between(&["a 1"], &[]).unwrap(), "process 0 calls `a`");
    }

    #[test]
    fn code_is_asked_of_who_knows() {
        let call = |target: &str, op| Called {
            target: target.into(),
            op,
        };
        compare_code_by(|target, op| (target == "known").then(|| op.unwrap_or(1) as u64));
        assert_eq!(call("other", Some(2)).text(), "other");
        assert_eq!(call("known", Some(2)).text(), "known 0000000000000002");
        assert_eq!(call("known", None).text(), "known 0000000000000001");
    }
}
