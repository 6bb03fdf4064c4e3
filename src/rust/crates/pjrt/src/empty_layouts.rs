//! Layouts of arrays without elements, in the text of a program.

use crate::custom_calls::layout_texts;

const CALL: &str = "stablehlo.custom_call";

/// A program in which custom calls have arrays without elements by rows; `None` where nothing changes. XLA's compiler for the
/// CPU divides by zero where such an array lies otherwise, to which nobody can tell a difference.
pub fn order_nothing_by_default(program: &str) -> Option<String> {
    if !program.contains("_layouts") || !is_empty(program) {
        return None;
    }
    let mut result = String::new();
    let mut copied = 0;
    for (at, _) in program.match_indices(CALL) {
        let call = &program[at + CALL.len()..];
        // MLIR's generic form has the name in quotes.
        let call = call.strip_prefix('"').unwrap_or(call);
        let Some((attributes, operands, results)) = parts(call) else {
            continue;
        };
        let mut changes = Vec::new();
        for (name, types) in [("operand_layouts", operands), ("result_layouts", results)] {
            for (layout, ty) in layout_texts(attributes, name).into_iter().zip(types) {
                if is_empty(ty) {
                    changes.push((layout, by_rows(layout)));
                }
            }
        }
        changes.sort_by_key(|(layout, _)| layout.as_ptr());
        for (layout, new) in changes {
            let start = layout.as_ptr() as usize - program.as_ptr() as usize;
            if start < copied || layout == new {
                continue;
            }
            result.push_str(&program[copied..start]);
            result.push_str(&new);
            copied = start + layout.len();
        }
    }
    (copied > 0).then(|| result + &program[copied..])
}

/// Whether a type has a dimension of size 0.
fn is_empty(ty: &str) -> bool {
    ty.contains("<0x") || ty.contains("x0x")
}

/// Attributes, types of operands and types of results of what follows a call.
fn parts(call: &str) -> Option<(&str, Vec<&str>, Vec<&str>)> {
    let colon = outside(call, |c| c == ':')?;
    let signature = call[colon + 1..].trim_start();
    let (operands, rest) = list(signature)?;
    let rest = rest.trim_start().strip_prefix("->")?.trim_start();
    let results = match list(rest) {
        Some((results, _)) => results,
        None => {
            let end = outside(rest, char::is_whitespace).unwrap_or(rest.len());
            vec![&rest[..end]]
        }
    };
    Some((&call[..colon], operands, results))
}

/// The members of a list in parentheses, and what follows it.
fn list(text: &str) -> Option<(Vec<&str>, &str)> {
    let mut rest = text.strip_prefix('(')?;
    let mut members = Vec::new();
    loop {
        let end = outside(rest, |c| c == ',' || c == ')')?;
        let member = rest[..end].trim();
        if !member.is_empty() {
            members.push(member);
        }
        let is_last = rest[end..].starts_with(')');
        rest = &rest[end + 1..];
        if is_last {
            return Some((members, rest));
        }
    }
}

/// Where the first of those characters is outside of brackets and strings.
fn outside(text: &str, wanted: impl Fn(char) -> bool) -> Option<usize> {
    let (mut depth, mut in_string, mut before) = (0_usize, false, ' ');
    for (at, c) in text.char_indices() {
        if in_string {
            in_string = c != '"' || before == '\\';
        } else if depth == 0 && wanted(c) {
            return Some(at);
        } else {
            match c {
                '"' => in_string = true,
                '(' | '[' | '{' | '<' => depth += 1,
                // Not that of an arrow.
                '>' if before == '-' => {}
                ')' | ']' | '}' | '>' => depth = depth.checked_sub(1)?,
                _ => {}
            }
        }
        // An escaped backslash escapes nothing.
        before = if in_string && before == '\\' { ' ' } else { c };
    }
    None
}

/// That of rows, of as many dimensions: the last one varies fastest.
fn by_rows(layout: &str) -> String {
    let rank = layout
        .split(',')
        .filter(|part| !part.trim().is_empty())
        .count();
    match layout.starts_with('[') {
        true => {
            let order: Vec<String> = (0..rank).rev().map(|i| i.to_string()).collect();
            format!("[{}]", order.join(", "))
        }
        // One dimension, or none.
        false => layout.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_arrays_without_elements_are_changed() {
        let full = "%0 = stablehlo.custom_call @f(%a) {operand_layouts = [dense<[0, 1]> : tensor<2xindex>]} : \
                    (tensor<10x2xf64>) -> tensor<2xf64>";
        assert_eq!(order_nothing_by_default(full), None);
        let before = r#"
%0 = stablehlo.add %x, %x : tensor<0x2xf64>
%1:2 = stablehlo.custom_call @"a:b"(%x, %y) {
  operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>],
  result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], name = "x) : (\" ->"
} : (tensor<3x2xf64>, tensor<0x2xf64>) -> (tensor<4x0x0xf64>, tensor<0xi32>)
%2 = "stablehlo.custom_call"(%x) <{operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]}> : (tensor<0x2xf64>) -> tensor<2x0xf64>
return %2 : tensor<2x0xf64>"#;
        let after = before
            .replace("xindex>, dense<[0, 1]>", "xindex>, dense<[1, 0]>")
            .replace("[1, 2, 0]", "[2, 1, 0]")
            .replace(
                "<{operand_layouts = [dense<[0, 1]>",
                "<{operand_layouts = [dense<[1, 0]>",
            )
            .replace(
                "], result_layouts = [dense<[0, 1]>",
                "], result_layouts = [dense<[1, 0]>",
            );
        assert_eq!(order_nothing_by_default(before), Some(after.clone()));
        assert_eq!(order_nothing_by_default(&after), None);
        // Text that breaks off
        for end in (0..before.len()).filter(|&end| before.is_char_boundary(end)) {
            let _ = order_nothing_by_default(&before[..end]);
        }
    }
}
