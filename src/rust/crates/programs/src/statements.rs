//! The operations in the text of a StableHLO program, as much of them as can be told without a parser.

/// What one operation says, such as `stablehlo.add %0, %1 : tensor<3xf64>`.
pub(crate) struct Statement<'a> {
    /// What it does, without the dialect.
    pub op: &'a str,
    /// Whether that is CHLO: functions that are made of StableHLO's.
    pub is_chlo: bool,
    /// What follows, up to the next operation.
    rest: &'a str,
}

impl<'a> Statement<'a> {
    /// What stands in the brackets of its first type, mostly that of an operand: `3xf64`.
    pub fn first_type(&self) -> Option<&'a str> {
        inner(self.rest)
    }

    /// The same of its result, where it has one operand.
    pub fn result_type(&self) -> Option<&'a str> {
        let (before, _) = self.rest.split_once("tensor<")?;
        match before.ends_with('(') {
            true => inner(self.rest.split_once("->")?.1),
            false => inner(self.rest),
        }
    }
}

/// All operations of StableHLO and CHLO, in order.
pub(crate) fn statements(text: &str) -> impl Iterator<Item = Statement<'_>> {
    let before = text.split("hlo.");
    let after = before.clone().skip(1);
    before.zip(after).map(|(before, after)| {
        let op = &after[..word(after)];
        Statement {
            op,
            is_chlo: before.ends_with('c'),
            rest: &after[op.len()..],
        }
    })
}

/// What stands in the brackets of the first type in a text.
fn inner(text: &str) -> Option<&str> {
    text.split_once("tensor<")?.1.split(['>', ',']).next()
}

fn word(text: &str) -> usize {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    end.unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_operations_say() {
        let text = "func.func @main(%x: tensor<4xf64>) -> tensor<f64> {\n\
            %cst = stablehlo.constant dense<0.0> : tensor<f64>\n\
            %1:2 = \"stablehlo.while\"(%x, %cst) ({})\n\
            %2 = chlo.erf %1#0 : tensor<4xf64> -> tensor<4xf64>\n\
            %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.add across dimensions = [0]\n\
              : (tensor<4xf64>, tensor<f64>) -> tensor<f64>\n\
            stablehlo.return %3 : tensor<f64>";
        let found: Vec<_> = statements(text)
            .map(|said| {
                assert_eq!(said.is_chlo, said.op == "erf");
                (said.op, said.first_type())
            })
            .collect();
        assert_eq!(
            found,
            [
                ("constant", Some("f64")),
                ("while", None),
                ("erf", Some("4xf64")),
                ("reduce", None),
                ("add", Some("4xf64")),
                ("return", Some("f64")),
            ]
        );
        for (text, expected) in [
            (
                "stablehlo.convert %1 : (tensor<4xf64>)\n-> tensor<4xi8> return %2 : tensor<2xf64>",
                Some("4xi8"),
            ),
            (
                "stablehlo.convert %1 : tensor<4xf64> func @f() -> tensor<2xf64>",
                Some("4xf64"),
            ),
            ("stablehlo.convert %1", None),
        ] {
            let said = statements(text).next().and_then(|said| said.result_type());
            assert_eq!(said, expected);
        }
        assert_eq!(statements("nothing").count(), 0);
        assert_eq!(statements("hlo.").map(|s| s.op).collect::<Vec<_>>(), [""]);
    }
}
