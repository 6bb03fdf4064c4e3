//! Other hosts in this process. XLA keeps one handler for a name, that of whoever came first. Programs of ours that call
//! a name of which another host has the handler are changed to call ours by another name.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ops::PRIVATE;
use pjrt::{may_have_custom_calls, Client, Program, ProgramFormat};
use pjrt_jaxlib::{Others, Served};
use programs::{renamed, targets};
use xla_ffi::registry::{canonical_platform, Registry};

/// The owner of the ops in this library.
pub const OURS: &str = "xlaffi";

/// Platforms and names whose handler in XLA is another host's, while ours is known to XLA by another name.
static TAKEN: Mutex<BTreeSet<(Arc<str>, String)>> = Mutex::new(BTreeSet::new());

fn taken() -> MutexGuard<'static, BTreeSet<(Arc<str>, String)>> {
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The name that XLA gets for a handler of this session whose own name is another host's.
pub fn second_name(target: &str) -> String {
    format!("{PRIVATE}session.{target}")
}

/// Notes that XLA has the handler of `target` by its [`second_name`].
pub fn note_taken(platform: &Arc<str>, target: &str) {
    taken().insert((platform.clone(), target.to_owned()));
}

/// What a name means in programs of ours, where that is not the handler that XLA has for it. Ops of this package are known
/// by a second name in every session, which what is compiled now may be loaded in.
fn meaning(platform: &Arc<str>, target: &str) -> Option<String> {
    if !taken().contains(&(platform.clone(), target.to_owned())) {
        return None;
    }
    let host = canonical_platform(platform);
    let entry = Registry::global().list().into_iter().find(|entry| {
        entry.active && entry.target == target && canonical_platform(&entry.platform) == host
    })?;
    let is_op = entry.owner.as_deref() == Some(OURS) && !target.starts_with(PRIVATE);
    Some(match is_op {
        true => format!("{PRIVATE}{target}"),
        false => second_name(target),
    })
}

/// What a program calls, by the handlers that there are now.
pub struct Calls {
    /// Whether it calls a name that another host has taken.
    pub is_changed: bool,
    /// Whether it calls names of which this session has no handler, or nobody can tell.
    pub others: bool,
    /// The program for XLA.
    pub program: Program,
    served: Served,
    is_included: bool,
}

impl Calls {
    /// Those of a program that is compiled for a client.
    pub fn of(program: &Program, client: &Client, platform: &Arc<str>) -> Self {
        let is_included = client.plugin().is(pjrt_jaxlib::GetPjrtApi());
        let text = match program.format() {
            ProgramFormat::Mlir => std::str::from_utf8(program.code()).ok(),
            ProgramFormat::Hlo => None,
        };
        let Some(text) = text.filter(|text| !text.contains('\0')) else {
            let names: Vec<(String, String)> = match is_included {
                true => meanings(platform),
                false => Vec::new(),
            };
            let others = may_have_custom_calls(program.code());
            return Calls {
                is_changed: !names.is_empty(),
                others,
                program: program.clone(),
                served: Served {
                    may_call_others: others,
                    names,
                },
                is_included,
            };
        };
        let renamed = renamed(text, |target| meaning(platform, target));
        let others = calls_unknown(text, platform);
        Calls {
            is_changed: renamed.is_some(),
            others,
            program: match renamed {
                Some(text) => Program::new(text.into_bytes(), ProgramFormat::Mlir),
                None => program.clone(),
            },
            served: Served {
                names: Vec::new(),
                may_call_others: others,
            },
            is_included,
        }
    }

    /// Compiles it; with the result, what it calls of others' handlers.
    pub fn compile<T>(&self, compile: impl FnOnce(&Program) -> T) -> (T, Others) {
        if !self.is_included {
            let others = if self.others {
                Others::Unserved
            } else {
                Others::None
            };
            return (compile(&self.program), others);
        }
        pjrt_jaxlib::compile_served(self.served.clone(), || compile(&self.program))
    }
}

fn meanings(platform: &Arc<str>) -> Vec<(String, String)> {
    let names: Vec<String> = taken()
        .iter()
        .filter(|(on, _)| on == platform)
        .map(|(_, name)| name.clone())
        .collect();
    let pairs = names.into_iter();
    pairs
        .filter_map(|name| meaning(platform, &name).map(|meant| (name, meant)))
        .collect()
}

/// A name that is in a program of no text, where another host has the handler of that name: calls of it can be given other
/// names by the plugin inside this package only.
pub fn taken_name_in(program: &Program, platform: &Arc<str>) -> Option<String> {
    let code = program.code();
    let is_text = std::str::from_utf8(code).is_ok_and(|text| !text.contains('\0'));
    if is_text && program.format() == ProgramFormat::Mlir {
        return None;
    }
    let is_part = |byte: Option<&u8>| {
        byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(byte))
    };
    let is_in = |name: &str| {
        let name = name.as_bytes();
        let mut places = code.windows(name.len()).enumerate();
        places.any(|(at, part)| {
            let before = at.checked_sub(1).and_then(|at| code.get(at));
            part == name && !is_part(before) && !is_part(code.get(at + name.len()))
        })
    };
    let meanings = meanings(platform).into_iter();
    meanings.map(|(name, _)| name).find(|name| is_in(name))
}

/// Whether a program calls a name of which this session has no handler.
fn calls_unknown(text: &str, platform: &Arc<str>) -> bool {
    let mut names = targets(text).peekable();
    names.peek().is_some() && {
        let host = canonical_platform(platform);
        let known = Registry::global().list().into_iter();
        let known = known.filter(|entry| canonical_platform(&entry.platform) == host);
        let known: BTreeSet<String> = known.map(|entry| entry.target).collect();
        names.any(|name| !known.contains(name))
    }
}

/// Whether what is made of a program in this session is what any other makes of it: it is text, and calls only handlers of
/// this session by their own names.
pub fn is_independent(code: &[u8]) -> bool {
    let text = std::str::from_utf8(code).ok();
    text.is_some_and(|text| {
        let mut names = targets(text).peekable();
        names.peek().is_none() || {
            let known = Registry::global().list().into_iter();
            let known: BTreeSet<String> = known.map(|entry| entry.target).collect();
            let taken = taken();
            names.all(|name| known.contains(name) && !taken.iter().any(|(_, taken)| taken == name))
        }
    })
}
