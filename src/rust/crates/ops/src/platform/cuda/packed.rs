//! Unpacks what the build script packed; `pack.rs` describes the form.

/// The text, from the packed one.
pub(super) fn unpack(packed: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    let mut rest = packed.iter().copied();
    while let Some(count) = number(&mut rest) {
        text.extend(rest.by_ref().take(count));
        let (Some(count), Some(back)) = (number(&mut rest), number(&mut rest)) else {
            break;
        };
        // Byte by byte, as what is repeated may be repeated in itself.
        for at in text.len() - back..text.len() - back + count {
            text.push(text[at]);
        }
    }
    text
}

fn number(bytes: &mut impl Iterator<Item = u8>) -> Option<usize> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = bytes.next()?;
        number |= usize::from(byte & 127) << shift;
        if byte < 128 {
            return Some(number);
        }
        shift += 7;
    }
}
