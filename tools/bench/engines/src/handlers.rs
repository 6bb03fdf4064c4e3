//! The package's handlers, called as XLA calls them, without a thread pool.

use crate::number::Number;
use crate::{Batch, Op};
use xla_ffi::testing::{Call, Frame};

/// A frame and the handler that it is for.
struct Prepared {
    frame: Frame,
    handler: xla_ffi::HandlerFn,
}

impl Prepared {
    fn new<T: Number>(routine: &str, call: Call) -> Self {
        let target = format!("lapack_{}{routine}_ffi", T::LETTER);
        let handler = ops::find(&target, "host").expect("a target of the table");
        Prepared {
            frame: call.build(),
            handler,
        }
    }

    fn run(&mut self) {
        if let Err(failure) = self.frame.call(self.handler) {
            panic!("a handler of good operands: {failure}");
        }
    }
}

pub fn engine<T: Number>(batch: &Batch<T>) -> impl FnMut() + use<T> {
    let n = batch.n as i64;
    let count = (batch.x.len() / (batch.n * batch.n)) as i64;
    let (matrices, vectors, each) = ([count, n, n], [count, n], [count]);
    let call = Call::new().arg(&matrices, &batch.x);
    let mut calls = match batch.op {
        Op::Lu => {
            let call = call
                .ret::<T>(&matrices)
                .ret::<i32>(&vectors)
                .ret::<i32>(&each);
            vec![Prepared::new::<T>("getrf", call)]
        }
        Op::Cholesky => {
            let call = call
                .ret::<T>(&matrices)
                .ret::<i32>(&each)
                .attr("uplo", b'L');
            vec![Prepared::new::<T>("potrf", call)]
        }
        Op::Qr => {
            let mut factor =
                Prepared::new::<T>("geqrf", call.ret::<T>(&matrices).ret::<T>(&vectors));
            factor.run();
            let call = Call::new().arg(&matrices, factor.frame.ret::<T>(0));
            let call = call
                .arg(&vectors, factor.frame.ret::<T>(1))
                .ret::<T>(&matrices);
            let routine = if T::COMPLEX { "ungqr" } else { "orgqr" };
            vec![factor, Prepared::new::<T>(routine, call)]
        }
        Op::Eigh => {
            let call = call
                .ret::<T>(&matrices)
                .ret::<T::Part>(&vectors)
                .ret::<i32>(&each);
            let routine = if T::COMPLEX { "heevd" } else { "syevd" };
            vec![Prepared::new::<T>(
                routine,
                call.attr("mode", b'V').attr("uplo", b'L'),
            )]
        }
        Op::Svd => {
            let call = call.ret::<T>(&matrices).ret::<T::Part>(&vectors);
            let call = call
                .ret::<T>(&matrices)
                .ret::<T>(&matrices)
                .ret::<i32>(&each);
            vec![Prepared::new::<T>("gesdd", call.attr("mode", b'S'))]
        }
    };
    move || calls.iter_mut().for_each(Prepared::run)
}
