//! Which modules of a crate name which others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::source::{scopes, Scope};

/// A module: the names on the way to it from the root, which has none.
pub type Module = Vec<String>;

/// A crate's modules.
pub struct Crate {
    scopes: BTreeMap<Module, Scope>,
    /// The file, as a module, in which each stands.
    files: BTreeMap<Module, Module>,
    /// Folders and what lies in each; its own file is `mod`, that of the crate `lib`.
    pub folders: BTreeMap<Module, BTreeSet<String>>,
}

/// How many `use` lines may pass a name on.
const STEPS: usize = 20;

impl Crate {
    /// Reads what lies in the folder `src`.
    pub fn read(src: &Path) -> Self {
        let mut found = Self {
            scopes: BTreeMap::new(),
            files: BTreeMap::new(),
            folders: BTreeMap::new(),
        };
        found.read_folder(src, &Vec::new());
        found
    }

    fn read_folder(&mut self, folder: &Path, module: &Module) {
        for entry in fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            let stem = path.file_stem().expect("a name");
            let stem = stem.to_str().expect("a name in ASCII").to_owned();
            let mut inner = module.clone();
            if path.is_dir() {
                inner.push(stem.clone());
                self.read_folder(&path, &inner);
            } else if path.extension().is_some_and(|found| found == "rs") {
                if stem != "mod" && stem != "lib" {
                    inner.push(stem.clone());
                }
                let source = fs::read_to_string(&path).expect("a source");
                self.add_file(&inner, &source);
            } else {
                continue;
            }
            self.folders.entry(module.clone()).or_default().insert(stem);
        }
    }

    fn add_file(&mut self, file: &Module, source: &str) {
        for scope in scopes(source) {
            let module = [&file[..], &scope.inside].concat();
            self.files.insert(module.clone(), file.clone());
            self.scopes.insert(module, scope);
        }
    }

    /// What `path` means after `module::`: a module, and whether it is an item in it and not the module itself.
    fn within(&self, module: &Module, path: &[String], steps: usize) -> Option<(Module, bool)> {
        let Some((first, rest)) = path.split_first() else {
            return Some((module.clone(), false));
        };
        let steps = steps.checked_sub(1)?;
        let mut next = module.clone();
        match first.as_str() {
            "self" => return self.within(&next, rest, steps),
            "super" => {
                next.pop();
                return self.within(&next, rest, steps);
            }
            _ => next.push(first.clone()),
        }
        if self.scopes.contains_key(&next) {
            return self.within(&next, rest, steps);
        }
        let scope = self.scopes.get(module)?;
        let passed = scope
            .uses
            .iter()
            .find(|found| found.name == *first && found.path != [first.clone()]);
        if let Some(passed) = passed {
            return self.meaning(module, &[&passed.path, rest].concat(), steps);
        }
        if scope.items.contains(first) || scope.macros.contains(first) {
            return Some((module.clone(), true));
        }
        let all = scope.uses.iter().filter(|found| found.name == "*");
        all.filter_map(|all| self.meaning(module, &all.path, steps))
            .find_map(|(all, _)| self.within(&all, path, steps))
    }

    /// What `path` means that stands in `module`, as [`within`](Self::within).
    fn meaning(&self, module: &Module, path: &[String], steps: usize) -> Option<(Module, bool)> {
        match path.first()?.as_str() {
            "crate" => self.within(&Vec::new(), &path[1..], steps),
            _ => self.within(module, path, steps),
        }
    }

    /// As [`meaning`](Self::meaning); what a macro has made belongs to the module that the path names.
    fn target(&self, module: &Module, path: &[String]) -> Option<(Module, bool)> {
        let known = self.meaning(module, path, STEPS);
        let mut parts = (1..path.len()).rev();
        known.or_else(|| {
            let (part, _) =
                parts.find_map(|length| self.meaning(module, &path[..length], STEPS))?;
            let mut uses = self.scopes[&part].uses.iter();
            // It may be another one's, of which all names are passed on.
            (!uses.any(|found| found.name == "*")).then_some((part, true))
        })
    }

    /// The module whose macro has that name, where one does.
    fn macro_home(&self, name: &str) -> Option<(Module, bool)> {
        let mut homes = self
            .scopes
            .iter()
            .filter(|(_, scope)| scope.macros.contains(name));
        homes.next().map(|(module, _)| (module.clone(), true))
    }

    /// Each file, as a module, and another one that it names.
    pub fn arrows(&self) -> BTreeSet<(Module, Module)> {
        let mut found = BTreeSet::new();
        for (module, scope) in &self.scopes {
            let file = &self.files[module];
            // A module's name alone says nothing yet: what is taken of it does.
            let mut add = |target: Option<(Module, bool)>| {
                let items = target.filter(|(_, is_item)| *is_item);
                let target = items.map(|(module, _)| &self.files[&module]);
                found.extend(
                    target
                        .filter(|target| *target != file)
                        .map(|target| (file.clone(), target.clone())),
                );
            };
            for used in scope.uses.iter().filter(|used| !used.public) {
                let target = self.target(module, &used.path);
                add(target.map(|(module, is_item)| (module, is_item || used.name == "*")));
            }
            for mention in &scope.mentions {
                add(match &mention.path[..] {
                    [name] if mention.is_macro => self.macro_home(name),
                    [root, name] if mention.is_macro && root == "crate" => self.macro_home(name),
                    path => self.target(module, path),
                });
            }
        }
        found
    }
}
