//! Text that print_tensor left for R's thread.

use extendr_api::prelude::*;

// The texts printed since the last call, in order; NULL where there are none.
#[extendr]
fn printed() -> Robj {
    let texts = ops::print::drain();
    if texts.is_empty() {
        Robj::from(())
    } else {
        Robj::from(texts)
    }
}

extendr_module! {
    mod printed;
    fn printed;
}
