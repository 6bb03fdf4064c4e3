//! Lengths of axes.

use crate::model::NAMES;
use crate::rng::Rng;

/// A dimension, by itself: nothing here is that of the crate.
#[derive(Clone, Debug)]
pub enum Length {
    Number(i128),
    Name(usize),
    Attribute,
    Of(char, Box<Length>, Box<Length>),
}

impl Length {
    pub fn text(&self, rng: &mut Rng) -> String {
        let space = |rng: &mut Rng| " ".repeat(rng.below(3) / 2);
        match self {
            Length::Number(number) => number.to_string(),
            Length::Name(name) => NAMES[*name].to_string(),
            Length::Attribute => "lag".to_string(),
            Length::Of('m', a, b) => format!("min({},{}{})", a.text(rng), space(rng), b.text(rng)),
            Length::Of('M', a, b) => format!("max({}{},{})", a.text(rng), space(rng), b.text(rng)),
            Length::Of(sign, a, b) => {
                format!("(({}){sign}{}({}))", a.text(rng), space(rng), b.text(rng))
            }
        }
    }

    pub fn value(&self, names: &[i128], lag: i128) -> Option<i128> {
        Some(match self {
            Length::Number(number) => *number,
            Length::Name(name) => names[*name],
            Length::Attribute => lag,
            Length::Of(sign, a, b) => {
                let (a, b) = (a.value(names, lag)?, b.value(names, lag)?);
                match sign {
                    '+' => a + b,
                    '-' => a - b,
                    '*' => a * b,
                    '/' if b == 0 => return None,
                    '/' => (a as f64 / b as f64).floor() as i128,
                    'm' => a.min(b),
                    _ => a.max(b),
                }
            }
        })
    }

    /// Of names that are known.
    pub fn by_chance(rng: &mut Rng, known: &[usize], depth: usize) -> Length {
        if depth == 0 || rng.once_in(2) {
            return match rng.below(4) {
                0 => Length::Number(rng.below(4) as i128),
                1 => Length::Attribute,
                _ if known.is_empty() => Length::Number(1),
                _ => Length::Name(*rng.pick(known)),
            };
        }
        let mut part = || Box::new(Length::by_chance(rng, known, depth - 1));
        let (a, b) = (part(), part());
        Length::Of(*rng.pick(&['+', '+', '-', '*', '/', 'm', 'M']), a, b)
    }
}
