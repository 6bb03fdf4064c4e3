//! The names of what programs in MLIR's text call.

const CALL: &str = "custom_call";

/// The targets of a program's custom calls, in their order; empty where one is written in a way that this does not know.
pub fn targets(text: &str) -> impl Iterator<Item = &str> {
    text.split(CALL).skip(1).map(called)
}

/// The target behind `custom_call` in ` @lu(%arg0)`, or in MLIR's generic form, which other packages
/// write: `"(%arg0) <{call_target_name = "lu"}>`. Empty where it is written in another way.
fn called(rest: &str) -> &str {
    let name = match rest.strip_prefix('"') {
        Some(generic) => generic
            .split_once("call_target_name = \"")
            .map(|(_, name)| name),
        None => rest.trim_start().strip_prefix('@'),
    };
    let name = name.unwrap_or_default();
    let name = name.strip_prefix('"').unwrap_or(name);
    let end = name.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'));
    &name[..end.unwrap_or(name.len())]
}

/// A program in which custom calls have other names; `None` where none has.
pub fn renamed(text: &str, meaning: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut result = String::new();
    let mut from = 0;
    for (at, _) in text.match_indices(CALL) {
        let name = called(&text[at + CALL.len()..]);
        if name.is_empty() {
            continue;
        }
        let start = name.as_ptr() as usize - text.as_ptr() as usize;
        if start < from {
            continue;
        }
        if let Some(meant) = meaning(name) {
            result.push_str(&text[from..start]);
            result.push_str(&meant);
            from = start + name.len();
        }
    }
    (from > 0).then(|| result + &text[from..])
}

#[cfg(test)]
mod tests {
    use super::renamed;

    #[test]
    fn names_are_changed_in_every_way_to_write_a_call() {
        let meaning = |name: &str| (name == "lu").then(|| "xlaffi.lu".to_owned());
        let before = "%0 = stablehlo.custom_call @lu(%x) {api_version = 4 : i32}\n\
                      %1 = \"stablehlo.custom_call\"(%x) <{call_target_name = \"lu\"}>\n\
                      %2 = stablehlo.custom_call @\"lu\"(%x)\n\
                      %3 = stablehlo.custom_call @lu_(%x)\n// custom_call of lu";
        let after = "%0 = stablehlo.custom_call @xlaffi.lu(%x) {api_version = 4 : i32}\n\
                     %1 = \"stablehlo.custom_call\"(%x) <{call_target_name = \"xlaffi.lu\"}>\n\
                     %2 = stablehlo.custom_call @\"xlaffi.lu\"(%x)\n\
                     %3 = stablehlo.custom_call @lu_(%x)\n// custom_call of lu";
        assert_eq!(renamed(before, meaning).as_deref(), Some(after));
        assert_eq!(renamed("stablehlo.custom_call @qr(%x)", meaning), None);
    }
}
