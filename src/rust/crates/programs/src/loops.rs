//! Loops in the text of a StableHLO program.

use std::collections::HashMap;

/// What the names of a function stand for, without what follows `: `.
type Definitions<'a> = HashMap<&'a str, &'a str>;

/// Whether all loops of a program turn as often in each run: a counter begins with a constant, is compared with a constant
/// by `LT` and grows by a constant. Of loops that are written in another way, or that may end before, it is not known.
pub fn turn_alike(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    let mut known = 0;
    for function in lines.split(|line| line.contains("func.func")) {
        let definitions: Definitions = function.iter().filter_map(|line| defined(line)).collect();
        let loops = (0..function.len()).filter(|&at| function[at].contains("stablehlo.while"));
        known += loops
            .filter(|&at| counted(&function[at..], &definitions).is_some())
            .count();
    }
    known == text.matches("while").count()
}

/// A name and what it stands for.
fn defined(line: &str) -> Option<(&str, &str)> {
    let (name, what) = line.trim_start().split_once(" = ")?;
    name.starts_with('%')
        .then_some((name, what.split(" : ").next()?))
}

/// Something, if the loop that begins with the first line counts its turns from a constant to a constant.
fn counted(lines: &[&str], definitions: &Definitions) -> Option<()> {
    let constant = |name: &str| {
        let value = definitions
            .get(name)?
            .strip_prefix("stablehlo.constant dense<")?;
        value.strip_suffix('>')?.parse::<i64>().ok()
    };
    let (_, carry) = lines[0].split_once("stablehlo.while(")?;
    let carry: Vec<(&str, &str)> = carry
        .split_once(") :")?
        .0
        .split(", ")
        .filter_map(|pair| pair.split_once(" = "))
        .collect();
    let begin = lines.get(1).filter(|line| line.trim_start() == "cond {")?;
    let indent = &begin[..begin.len() - "cond {".len()];
    let middle = lines
        .iter()
        .position(|line| line.strip_prefix(indent) == Some("} do {"))?;
    let end = lines
        .iter()
        .position(|line| line.strip_prefix(indent) == Some("}"))?;
    // The counter is compared with a constant.
    let test = returned(lines[middle - 1], 0)?;
    let compared = definitions.get(test)?.strip_prefix("stablehlo.compare")?;
    let compared: Vec<&str> = compared.split(',').map(str::trim).collect();
    let ["LT", counter, bound, "SIGNED"] = compared[..] else {
        return None;
    };
    constant(bound)?;
    let place = carry.iter().position(|&(name, _)| name == counter)?;
    constant(carry[place].1)?;
    // And grows.
    let next = definitions.get(returned(lines[end - 1], place)?)?;
    let (before, step) = next.strip_prefix("stablehlo.add ")?.split_once(", ")?;
    (before == counter && constant(step)? > 0).then_some(())
}

/// One of the values that a region ends with.
fn returned(line: &str, place: usize) -> Option<&str> {
    let values = line.trim_start().strip_prefix("stablehlo.return ")?;
    values.split(" : ").next()?.split(", ").nth(place)
}

#[cfg(test)]
mod tests {
    use super::turn_alike;

    const LOOP: &str = "func.func @main(%x: tensor<f64>, %n: tensor<i32>) -> tensor<f64> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %end = stablehlo.constant dense<24> : tensor<i32>
  %1:2 = stablehlo.while(%a = %x, %i = %c) : tensor<f64>, tensor<i32>
  cond {
    %2 = stablehlo.compare  LT, %i, %end,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %3 = stablehlo.add %i, %one : tensor<i32>
    %4 = stablehlo.add %a, %a : tensor<f64>
    stablehlo.return %4, %3 : tensor<f64>, tensor<i32>
  }
  return %1#0 : tensor<f64>
}
";

    #[test]
    fn loops_with_a_counter_turn_alike() {
        assert!(turn_alike("func.func @main() {}"));
        assert!(turn_alike(LOOP));
        // Within others, and in functions of their own, whose names mean something else
        let inner = LOOP
            .lines()
            .skip(1)
            .take(12)
            .collect::<Vec<_>>()
            .join("\n    ");
        let inner = inner.replace("%", "%in_").replace("%in_x", "%a");
        let nested = LOOP.replace("    %4 =", &format!("    {inner}\n    %4 ="));
        assert_eq!(nested.matches("while").count(), 2);
        assert!(turn_alike(&nested));
        assert!(turn_alike(&format!("{LOOP}{LOOP}")));
    }

    #[test]
    fn of_other_loops_it_is_not_known() {
        for (from, to) in [
            // Beginning, end and step are no constants, or the wrong ones.
            ("%i = %c)", "%i = %n)"),
            ("%i, %end", "%i, %n"),
            ("%i, %one", "%i, %n"),
            ("dense<1>", "dense<0>"),
            ("dense<1>", "dense<-1>"),
            ("%i, %one", "%a, %one"),
            ("LT,", "GT,"),
            ("%i, %end", "%a, %end"),
            ("stablehlo.return %2", "stablehlo.return %x"),
            ("stablehlo.return %4, %3", "stablehlo.return %3, %4"),
            (
                "cond {",
                "cond { %0 = stablehlo.constant dense<0> : tensor<i32>",
            ),
            ("  } do {", "  }  do {"),
            ("  }\n  return", "  } return"),
            ("stablehlo.while(", "\"stablehlo.while\"("),
            ("@main", "@while"),
            ("compare  LT", "and"),
        ] {
            let other = LOOP.replacen(from, to, 1);
            assert_ne!(other, LOOP, "{from}");
            assert!(!turn_alike(&other), "{to}");
        }
        // One among others
        let other = LOOP.replace("%i, %end", "%i, %n");
        assert!(!turn_alike(&format!("{LOOP}{other}{LOOP}")));
        assert!(!turn_alike("stablehlo.while"));
        assert!(!turn_alike("stablehlo.while(%a = %b) :\ncond {\n} do {\n}"));
        assert!(!turn_alike(
            "cond {\n} do {\nstablehlo.while(%a = %b) :\n  cond {\n}"
        ));
        // A constant of another function
        let apart = LOOP.replace("  %end =", "return }\nfunc.func @other() {\n  %end =");
        assert!(!turn_alike(&apart.replacen("%c = ", "%d = ", 1)));
    }
}
