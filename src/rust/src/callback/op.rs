//! Ops whose body is an R function, as R makes them.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use custom_ops::signature::Signature;
use custom_ops::{Body, CustomOp, Instance, Options};
use pjrt_jaxlib::Others;

use crate::callback::call::Callback;
use crate::callback::{evaluate, serve};
use crate::entry::routines;
use crate::failure::Failure;
use crate::own_op::{registered, sets_of};
use crate::pace::called;
use crate::value::Value;

/// The names that ops of R functions had.
static NAMES: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// The names that a program calls; none are known of one that cannot be read.
pub struct Called {
    names: Option<BTreeSet<String>>,
    /// What it calls of other hosts' handlers.
    others: Others,
}

impl Called {
    /// Those of a program.
    pub fn by(code: &[u8], others: Others) -> Self {
        let text = std::str::from_utf8(code).ok();
        let text = text.filter(|text| !text.contains('\0'));
        let targets = text.map(|text| text.split("custom_call").skip(1).map(called));
        let names = targets.map(|targets| targets.map(str::to_owned).collect());
        Called { names, others }
    }

    /// Whether it calls handlers of others that can only be on R's thread if R's thread runs the program.
    pub fn needs_r_to_run_it(&self) -> bool {
        self.others == Others::Unserved
    }

    /// Has R serve the program.
    pub fn be_served(&self) {
        if self.others == Others::Served {
            serve::start();
        }
    }

    /// Whether one of them was the name of an R function. One that cannot be read may be.
    pub fn names_r(&self) -> bool {
        let names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        self.names.as_ref().map_or(true, |targets| {
            let mut targets = targets.iter();
            targets.any(|target| target.is_empty() || names.contains(target))
        })
    }

    /// Whether the program may need R as names are now. It is waited for where it is started, on
    /// another thread than R's. If it were not, those that wait for R could fill XLA's room for
    /// programs under way, and a program that their functions run would never start.
    pub fn may_need_r(&self) -> bool {
        self.others == Others::Served || (serve::in_use() && self.names_r())
    }
}

/// Numbers of functions whose ops are gone.
static RELEASED: Mutex<Vec<i32>> = Mutex::new(Vec::new());

impl Drop for Callback {
    fn drop(&mut self) {
        let released = &mut RELEASED.lock().unwrap_or_else(PoisonError::into_inner);
        released.push(self.number);
    }
}

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
        serve::start();
        NAMES.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
        let instances = instances.collect();
        // SAFETY: the bodies are no foreign functions.
        let op = unsafe { CustomOp::new(name, signature, sets, instances, options) };
        registered(op?, None)
    }

    // Numbers of functions that no program can call any more.
    fn callback_released() {
        let mut released = RELEASED.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Value::from(std::mem::take(&mut *released)))
    }

    // R was interrupted where no jump could tell it.
    fn callback_interrupted() {
        serve::interrupted();
        Ok(())
    }
}
