//! Text that print_tensor left for R's thread.

use crate::entry::routines;
use crate::value::Value;

routines! {
    // The texts printed since the last call, in order; NULL where there are none.
    fn printed() {
        let texts = ops::print::drain();
        Ok(match texts.is_empty() {
            true => Value::Null,
            false => Value::from(texts),
        })
    }
}
