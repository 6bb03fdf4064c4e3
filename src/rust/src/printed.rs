//! Text that print_tensor left for R's thread.

use extendr_api::prelude::*;
use extendr_ffi::R_NilValue;

use crate::fast::fast;

fast! {
    // The texts printed since the last call, in order; NULL where there are none.
    fn printed, wrap__printed, meta__printed () {
        let texts = ops::print::drain();
        // SAFETY: R's thread; nothing is allocated after the vector is released.
        Ok(unsafe {
            match texts.is_empty() {
                true => R_NilValue,
                false => Robj::from(texts).get(),
            }
        })
    }
}

extendr_module! {
    mod printed;
    fn printed;
}
