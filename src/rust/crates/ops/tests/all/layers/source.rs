//! What a Rust source says of names: its modules, items, `use` lines and paths. It is read by words and signs, without
//! comments and strings; types and methods stay unknown.

use std::collections::BTreeSet;

/// One `use` of a name.
pub struct Use {
    /// The name that is bound, `*` for all names of a module.
    pub name: String,
    pub path: Vec<String>,
    /// Whether the name is passed on, as by `pub use`.
    pub public: bool,
}

/// A path in the code, `a::b`, or one name.
pub struct Mention {
    pub path: Vec<String>,
    /// Whether `!` follows.
    pub is_macro: bool,
}

/// A module within a source: the file itself, or what stands in `mod name { … }`.
pub struct Scope {
    /// The names of the modules around it within the file, and its own.
    pub inside: Vec<String>,
    pub items: BTreeSet<String>,
    pub macros: BTreeSet<String>,
    pub uses: Vec<Use>,
    pub mentions: Vec<Mention>,
}

impl Scope {
    fn new(inside: Vec<String>) -> Self {
        Self {
            inside,
            items: BTreeSet::new(),
            macros: BTreeSet::new(),
            uses: Vec::new(),
            mentions: Vec::new(),
        }
    }
}

/// The end of a string that begins at `at`, where `"`, `r"`, `r#"` or `b"` may stand.
fn string_end(text: &[char], at: usize) -> Option<usize> {
    let mut next = at;
    while next < at + 2 && matches!(text.get(next), Some('b' | 'c' | 'r')) {
        next += 1;
    }
    let raw = next > at && text[next - 1] == 'r';
    let open = next;
    while raw && text.get(next) == Some(&'#') {
        next += 1;
    }
    let marks = next - open;
    if text.get(next) != Some(&'"') {
        return None;
    }
    next += 1;
    loop {
        match text.get(next)? {
            '\\' if !raw => next += 2,
            '"' if text[next + 1..].iter().take_while(|c| **c == '#').count() >= marks => {
                return Some(next + 1 + marks);
            }
            _ => next += 1,
        }
    }
}

/// The end of a comment that begins at `at`.
fn comment_end(text: &[char], at: usize) -> Option<usize> {
    match (text.get(at)?, text.get(at + 1)?) {
        ('/', '/') => Some(at + text[at..].iter().take_while(|c| **c != '\n').count()),
        ('/', '*') => {
            let end = text[at + 2..]
                .windows(2)
                .position(|pair| pair == ['*', '/']);
            Some(at + 2 + end.expect("a comment's end") + 2)
        }
        _ => None,
    }
}

/// The end of a character or a lifetime that begins at `at`.
fn quote_end(text: &[char], at: usize) -> Option<usize> {
    if text[at] != '\'' {
        return None;
    }
    if text.get(at + 1) == Some(&'\\') {
        let end = text[at + 3..].iter().position(|c| *c == '\'');
        return Some(at + 3 + end.expect("a character's end") + 1);
    }
    Some(
        at + if text.get(at + 2) == Some(&'\'') {
            3
        } else {
            1
        },
    )
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The words and signs of a source; `::` is one.
fn tokens(source: &str) -> Vec<String> {
    let text: Vec<char> = source.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let skipped = comment_end(&text, at)
            .or_else(|| string_end(&text, at))
            .or_else(|| quote_end(&text, at));
        if let Some(end) = skipped {
            at = end;
        } else if is_word(text[at]) {
            let length = text[at..].iter().take_while(|c| is_word(**c)).count();
            found.push(text[at..at + length].iter().collect());
            at += length;
        } else {
            let length = 1 + usize::from(text[at] == ':' && text.get(at + 1) == Some(&':'));
            if !text[at].is_whitespace() {
                found.push(text[at..at + length].iter().collect());
            }
            at += length;
        }
    }
    found
}

/// The names that one branch of a `use` binds; returns the index after the branch.
fn branch(
    words: &[String],
    mut at: usize,
    before: &[String],
    public: bool,
    found: &mut Vec<Use>,
) -> usize {
    let mut path = before.to_vec();
    loop {
        match words[at].as_str() {
            "{" => {
                at += 1;
                while words[at] != "}" {
                    at = branch(words, at, &path, public, found);
                    at += usize::from(words[at] == ",");
                }
                return at + 1;
            }
            "::" | "$" => at += 1,
            "as" => {
                let name = words[at + 1].clone();
                found.push(Use { name, path, public });
                return at + 2;
            }
            "," | "}" | ";" => {
                if path.len() > before.len() && path.last().is_some_and(|last| last == "self") {
                    path.pop();
                }
                let name = path.last().expect("a name").clone();
                found.push(Use { name, path, public });
                return at;
            }
            "*" => {
                let name = "*".to_owned();
                found.push(Use { name, path, public });
                return at + 1;
            }
            word => {
                path.push(word.to_owned());
                at += 1;
            }
        }
    }
}

/// Whether what begins at `at` has `pub` or `pub(…)` before it.
fn is_public(words: &[String], at: usize) -> bool {
    let before = &words[..at];
    match before.last().map(String::as_str) {
        Some("pub") => true,
        Some(")") => {
            let open = before.iter().rposition(|word| word == "(");
            open.is_some_and(|open| open > 0 && before[open - 1] == "pub")
        }
        _ => false,
    }
}

/// The path that begins at `at`, and the index after it.
fn path(words: &[String], mut at: usize) -> (Vec<String>, usize) {
    let mut found = vec![words[at].clone()];
    at += 1;
    while words.get(at).is_some_and(|word| word == "::") {
        match words.get(at + 1) {
            Some(next) if next.starts_with(is_word) => found.push(next.clone()),
            _ => break,
        }
        at += 2;
    }
    (found, at)
}

/// Whether what follows is the rest of a path, a field or a method.
fn continues(before: &[String]) -> bool {
    match before {
        [.., one, two] if two == "." => one != ".",
        [.., last] => last == "::",
        [] => false,
    }
}

/// The modules of a source, the file's own first.
pub fn scopes(source: &str) -> Vec<Scope> {
    let words = tokens(source);
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    let mut found = vec![Scope::new(Vec::new())];
    // The open modules, and how many braces were open before each.
    let mut open = vec![(0, 0)];
    let mut depth = 0;
    let mut at = 0;
    while at < words.len() {
        let here = open[open.len() - 1].0;
        match word(at) {
            "mod" if word(at + 2) == "{" => {
                let mut inside = found[here].inside.clone();
                inside.push(words[at + 1].clone());
                open.push((found.len(), depth));
                found.push(Scope::new(inside));
                depth += 1;
                at += 3;
            }
            "use" if word(at + 1) != "<" => {
                let public = is_public(&words, at);
                at = branch(&words, at + 1, &[], public, &mut found[here].uses);
            }
            "macro_rules" => {
                found[here].macros.insert(words[at + 2].clone());
                at += 3;
            }
            "const" if at > 0 && word(at - 1) == "*" => at += 1,
            "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" | "union" => {
                found[here].items.insert(word(at + 1).to_owned());
                at += 1;
            }
            "{" => {
                depth += 1;
                at += 1;
            }
            "}" => {
                depth -= 1;
                if open.len() > 1 && open[open.len() - 1].1 == depth {
                    open.pop();
                }
                at += 1;
            }
            first if first.starts_with(is_word) && !continues(&words[..at]) => {
                let (path, next) = path(&words, at);
                let is_macro = word(next) == "!" && word(next + 1) != "=";
                found[here].mentions.push(Mention { path, is_macro });
                at = next;
            }
            _ => at += 1,
        }
    }
    found
}

#[test]
fn paths_are_read_from_code_alone() {
    let source = r##"
        //! crate::comment
        use crate::{one::Two, three::{self, *}};
        pub(crate) use four as five;
        macro_rules! six { () => { $crate::seven() } }
        impl Trait for Two { const NAME: &'static str = "crate::text"; }
        mod tests { use super::*; fn eight() { x.y().z = '"'; six!(super::nine::<u8>(0..crate::TEN)) } }
    "##;
    let found = scopes(source);
    let uses = |scope: &Scope| -> Vec<String> {
        let lines = scope.uses.iter();
        lines
            .map(|line| format!("{}={}", line.name, line.path.join("::")))
            .collect()
    };
    let paths = |scope: &Scope| -> Vec<String> {
        let mentions = scope.mentions.iter().map(|mention| mention.path.join("::"));
        mentions
            .filter(|path| path.contains("::") || path == "six")
            .collect()
    };
    assert_eq!(
        uses(&found[0]),
        [
            "Two=crate::one::Two",
            "three=crate::three",
            "*=crate::three",
            "five=four"
        ]
    );
    assert_eq!(paths(&found[0]), ["crate::seven"]);
    assert!(found[0].uses[3].public && !found[0].uses[0].public);
    assert!(found[0].macros.contains("six") && found[1].items.contains("eight"));
    assert_eq!(found[1].inside, ["tests"]);
    assert_eq!(uses(&found[1]), ["*=super"]);
    assert_eq!(paths(&found[1]), ["six", "super::nine", "crate::TEN"]);
}
