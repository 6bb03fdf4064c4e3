//! What a kernel tells of its failure: the code, the text as the device has it, and the numbers to
//! put into it, as `prelude.cuh` lays them out.

use xla_ffi::{Code, Error};

/// Bytes of `xlaffi_failure`.
pub(crate) const SIZE: usize = 384;

const TEXT: core::ops::Range<usize> = 24..256;

/// The error of a record, if some thread has written one, and the element of the batch.
pub(crate) fn read(record: &[u8]) -> Option<(Error, usize)> {
    let word = |at: usize| -> i64 {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&record[at..at + 8]);
        i64::from_le_bytes(bytes)
    };
    let taken = word(0) as i32;
    if taken == 0 {
        return None;
    }
    let code = (word(0) >> 32) as i32;
    let count = usize::try_from(word(8)).unwrap_or(0).min(8);
    let values: Vec<(i64, i64)> = (0..count)
        .map(|at| (word(TEXT.end + at * 16), word(TEXT.end + at * 16 + 8)))
        .collect();
    let text = &record[TEXT];
    let length = text.iter().position(|&byte| byte == 0);
    let text = String::from_utf8_lossy(&text[..length.unwrap_or(text.len())]);
    let text = match formatted(&text, &values) {
        text if text.is_empty() => format!("the kernel failed with code {code}"),
        text => text,
    };
    let batch = usize::try_from(word(16)).unwrap_or(0);
    Some((Error::new(Code::from_raw(code), text), batch))
}

/// As `printf()` writes numbers: `%d`, `%u`, `%x`, `%c`, `%f`, `%e`, `%g` and their like, with flags,
/// width and precision. Anything else stays as it is.
fn formatted(format: &str, values: &[(i64, i64)]) -> String {
    let mut values = values.iter();
    let mut text = String::new();
    let mut rest = format;
    while let Some((before, behind)) = rest.split_once('%') {
        text.push_str(before);
        if let Some(behind) = behind.strip_prefix('%') {
            text.push('%');
            rest = behind;
            continue;
        }
        let end = behind.find(|c: char| !"-+ #0123456789.hlzjtL".contains(c));
        let directive = end.and_then(|end| Some((&behind[..end], behind[end..].chars().next()?)));
        let Some((options, letter)) = directive else {
            text.push('%');
            rest = behind;
            continue;
        };
        rest = &behind[options.len() + letter.len_utf8()..];
        let written = values.next().and_then(|&value| {
            number(
                options.trim_end_matches(|c| "hlzjtL".contains(c)),
                letter,
                value,
            )
        });
        match written {
            Some(written) => text.push_str(&written),
            None => text.extend(["%", options, &letter.to_string()]),
        }
    }
    text + rest
}

/// One number; `None` for a letter that stands for none.
fn number(options: &str, letter: char, (kind, bits): (i64, i64)) -> Option<String> {
    let sizes = options.trim_start_matches(['-', '+', ' ', '#', '0']);
    let flags = &options[..options.len() - sizes.len()];
    let (width, precision) = sizes
        .split_once('.')
        .map_or((sizes, None), |(width, digits)| {
            (width, Some(digits.parse().unwrap_or(0_usize)))
        });
    let width: usize = width.parse().unwrap_or(0);
    let float = match kind {
        1 => f64::from_bits(bits as u64),
        2 => bits as u64 as f64,
        _ => bits as f64,
    };
    let integer = if kind == 1 { float as i64 } else { bits };
    let digits = precision.unwrap_or(6);
    let body = match letter {
        'd' | 'i' if kind == 2 => (bits as u64).to_string(),
        'd' | 'i' => integer.to_string(),
        'u' => (integer as u64).to_string(),
        'x' => format!("{:x}", integer as u64),
        'X' => format!("{:X}", integer as u64),
        'o' => format!("{:o}", integer as u64),
        'c' => char::from(integer as u8).to_string(),
        'f' | 'F' | 'e' | 'E' | 'g' | 'G' if !float.is_finite() => {
            format!("{float}").to_lowercase()
        }
        'f' | 'F' => format!("{float:.digits$}"),
        'e' | 'E' => exponential(float, digits),
        'g' | 'G' => general(float, digits.max(1)),
        _ => return None,
    };
    let body = match flags.contains('+') && !body.starts_with('-') && letter != 'c' {
        true => format!("+{body}"),
        false => body,
    };
    Some(match (flags.contains('-'), flags.contains('0')) {
        (true, _) => format!("{body:<width$}"),
        (_, true) if body.len() < width => {
            let (sign, rest) = body.split_at(usize::from(body.starts_with(['-', '+'])));
            format!("{sign}{rest:0>0$}", width - sign.len())
        }
        _ => format!("{body:>width$}"),
    })
}

/// `1.5e+03`
fn exponential(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{mantissa}e{sign}{exponent:0>2}")
}

/// The shorter of both, without zeros at its end.
fn general(value: f64, digits: usize) -> String {
    let text = exponential(value, digits - 1);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let power: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if power < -4 || power >= digits as i32 {
        return format!("{}e{exponent}", trimmed(mantissa));
    }
    let places = usize::try_from(digits as i32 - 1 - power).unwrap_or(0);
    trimmed(&format!("{value:.places$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(value: i64) -> (i64, i64) {
        (0, value)
    }

    fn float(value: f64) -> (i64, i64) {
        (1, value.to_bits() as i64)
    }

    #[test]
    fn numbers_are_written_as_c_writes_them() {
        for (format, values, expected) in [
            ("x[%lld] is %g", vec![int(3), float(-2.5)], "x[3] is -2.5"),
            (
                "%d%% of %u",
                vec![int(50), (2, -1)],
                "50% of 18446744073709551615",
            ),
            (
                "%5d|%-5d|%05d|%+d",
                vec![int(-42); 4],
                "  -42|-42  |-0042|-42",
            ),
            ("%+d %x %X %o %c", vec![int(65); 5], "+65 41 41 101 A"),
            (
                "%g %g %g",
                vec![float(1e-5), float(123_456_789.0), float(100.0)],
                "1e-05 1.23457e+08 100",
            ),
            (
                "%.3g %.2f %e",
                vec![float(0.000_123_456), float(2.0), float(1500.0)],
                "0.000123 2.00 1.500000e+03",
            ),
            (
                "%f %g",
                vec![float(f64::NAN), float(f64::NEG_INFINITY)],
                "nan -inf",
            ),
            ("%s %d", vec![int(1), int(2)], "%s 2"),
            ("%d", vec![], "%d"),
            ("100%", vec![], "100%"),
        ] {
            assert_eq!(formatted(format, &values), expected, "{format}");
        }
    }

    #[test]
    fn a_record_that_nobody_wrote_is_no_error() {
        let mut record = [0; SIZE];
        assert!(read(&record).is_none());
        record[0] = 1;
        record[4] = 11;
        record[8] = 1;
        record[16] = 7;
        record[24..34].copy_from_slice(b"i is %lld!");
        record[256 + 8] = 5;
        let (error, batch) = read(&record).expect("an error");
        assert_eq!((error.code(), batch), (Code::OutOfRange, 7));
        assert_eq!(error.to_string(), "i is 5!");
    }
}
