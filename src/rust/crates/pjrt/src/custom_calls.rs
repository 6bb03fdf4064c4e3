//! What the text of a program says of its custom calls.

use programs::contains;

/// A custom call.
#[derive(Debug, PartialEq, Eq)]
pub struct CustomCall<'a> {
    /// Its target.
    pub target: &'a str,
    /// Whether it says so.
    pub has_side_effect: bool,
    /// For each operand the dimensions, the fastest first; none where the program does not say.
    pub operands: Vec<Vec<usize>>,
    /// The same for results.
    pub results: Vec<Vec<usize>>,
}

/// The custom calls of a program in MLIR's text, whether written as `custom_call @name(...)` or
/// with all attributes in a list.
pub fn custom_calls(program: &str) -> impl Iterator<Item = CustomCall<'_>> {
    // What follows the word, up to the next one, is about this call.
    program
        .split("stablehlo.custom_call")
        .skip(1)
        .filter_map(|text| {
            let target = match text.split_once('@') {
                Some((before, name)) if before.trim().is_empty() => symbol(name),
                _ => text
                    .split_once("call_target_name")
                    .and_then(|(_, value)| value.trim_start().strip_prefix('='))
                    .map(str::trim_start)
                    .and_then(symbol_in_quotes),
            }?;
            Some(CustomCall {
                target,
                has_side_effect: text.contains("has_side_effect = true"),
                operands: layouts(text, "operand_layouts"),
                results: layouts(text, "result_layouts"),
            })
        })
}

/// Whether a program may do more than give results, which shows where it is run twice: a custom call
/// of its says so, or there is one in a program that is not text.
pub fn may_have_side_effects(program: &[u8]) -> bool {
    if let Some(text) = std::str::from_utf8(program)
        .ok()
        .filter(|text| !text.contains('\0'))
    {
        return custom_calls(text).any(|call| call.has_side_effect);
    }
    may_have_custom_calls(program)
}

/// Whether a program that is no text has custom calls, as StableHLO's bytecode and HLO write them.
pub fn may_have_custom_calls(program: &[u8]) -> bool {
    contains(program, b"custom_call") || contains(program, b"custom-call")
}

fn symbol(text: &str) -> Option<&str> {
    if text.starts_with('"') {
        return symbol_in_quotes(text);
    }
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || "_$.-".contains(c)));
    Some(&text[..end.unwrap_or(text.len())]).filter(|name| !name.is_empty())
}

fn symbol_in_quotes(text: &str) -> Option<&str> {
    Some(text.strip_prefix('"')?.split_once('"')?.0)
}

/// The axes of each of [`layout_texts`].
fn layouts(text: &str, name: &str) -> Vec<Vec<usize>> {
    let axes = |layout: &str| -> Option<Vec<usize>> {
        let dims = layout.trim_matches(|c| "[] ".contains(c)).split(',');
        let dims = dims.map(str::trim).filter(|dim| !dim.is_empty());
        dims.map(|dim| dim.parse().ok()).collect()
    };
    let layouts: Option<_> = layout_texts(text, name).into_iter().map(axes).collect();
    layouts.unwrap_or_default()
}

/// What is in the brackets of `dense<>`, for each member of
/// `name = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]`.
pub(crate) fn layout_texts<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let value = text
        .split_once(name)
        .and_then(|(_, value)| value.trim_start().strip_prefix('='))
        .and_then(|value| value.trim_start().strip_prefix('['));
    let Some(mut rest) = value else {
        return Vec::new();
    };
    let mut layouts = Vec::new();
    while let Some(inside) = rest.trim_start().strip_prefix("dense<") {
        let Some((layout, after)) = inside.split_once('>') else {
            return Vec::new();
        };
        layouts.push(layout);
        // Behind its type.
        rest = after.split_once('>').map_or("", |(_, rest)| rest);
        rest = rest.trim_start().trim_start_matches(',');
    }
    layouts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_found_in_either_form() {
        let program = r#"
%0 = stablehlo.custom_call @lu(%a) {api_version = 4 : i32, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
stablehlo.custom_call @"my print"(%0) {has_side_effect = true} : (tensor<2x2xf32>) -> ()
%1 = "stablehlo.custom_call"(%0) <{call_target_name = "third", has_side_effect = false}> : (tensor<2x2xf32>) -> tensor<f32>
"#;
        let found: Vec<CustomCall<'_>> = custom_calls(program).collect();
        let call = |target, has_side_effect, operands, results| CustomCall {
            target,
            has_side_effect,
            operands,
            results,
        };
        assert_eq!(
            found,
            [
                call(
                    "lu",
                    false,
                    vec![vec![0, 1]],
                    vec![vec![0, 1], vec![0], vec![]]
                ),
                call("my print", true, vec![], vec![]),
                call("third", false, vec![], vec![]),
            ]
        );
        assert_eq!(custom_calls("stablehlo.add").count(), 0);
        let effects = |program: &str| may_have_side_effects(program.as_bytes());
        assert!(effects(program));
        assert!(!effects(
            "%1 = stablehlo.custom_call @lu(%0) {api_version = 4 : i32} : () -> ()"
        ));
        assert!(effects("ML\u{ef}R\0stablehlo.custom_call\0"));
        assert!(effects("\0custom-call\0") && !effects("\0stablehlo.add\0"));
    }
}
