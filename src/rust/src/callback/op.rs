//! Ops whose body is an R function, as R makes them.

use std::sync::Arc;
use std::time::Duration;

use custom_ops::signature::Signature;
use custom_ops::{Body, CustomOp, Instance, Options};

use crate::callback::evaluate;
use crate::callback::function::{released, Callback};
use crate::custom::op::registered as register;
use crate::custom::sets::sets_of;
use crate::host::called::note_name;
use crate::r::entry::routines;
use crate::r::failure::Failure;
use crate::r::value::Value;
use crate::runtime::attend::start;
use crate::runtime::serve::interrupted;

routines! {
    // Has the function `name` of the namespace serve programs.
    fn callback_open(name, namespace) {
        evaluate::serve_by(name, namespace);
        main_thread::close(false);
        Ok(())
    }

    // Programs that ask for R from now on are refused, as are those that do.
    fn callback_close() {
        main_thread::close(true);
        Ok(())
    }

    // An op whose body is the R function that R keeps under `number`.
    // `variables` for dtypes range over `sets`.
    fn callback_new(name: &str, text: &str, variables, sets, number: f64, vectorized: bool, patience: f64) {
        let signature = Signature::parse(text).map_err(Failure::from)?;
        let sets = sets_of(name, &signature, variables, sets)?;
        let callback = Arc::new(Callback {
            number: number as i32,
            vectorized,
            patience: Duration::from_secs_f64(patience.min(1e9)),
        });
        let instances = (0..sets.instances()).map(|instance| {
            let callback = callback.clone();
            Instance::new(sets.instance(instance), Body::Host(Box::new(move |call| callback.run(call))))
        });
        let options = Options {
            whole: true,
            ..Options::default()
        };
        start();
        note_name(name);
        let instances = instances.collect();
        // SAFETY: the bodies are no foreign functions.
        let op = unsafe { CustomOp::new(name, signature, sets, instances, options) };
        register(op?, None)
    }

    // Numbers of functions that no program can call any more.
    fn callback_released() {
        Ok(Value::from(released()))
    }

    // R was interrupted where no jump could tell it.
    fn callback_interrupted() {
        interrupted();
        Ok(())
    }
}
