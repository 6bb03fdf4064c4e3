//! How accurate `kepler` is: ten million points per element type, against a reference with 30
//! digits. Fails where an error is above what the documentation says.
//!
//! `cargo run --release -p ops --example kepler_accuracy [points]`

#[path = "../tests/all/kepler/reference.rs"]
mod reference;

use ops::kepler::{Kepler, Point};
use reference::Reference;
use xla_ffi::testing::Call;
use xla_ffi::Host;

/// The largest error allowed, in the reference's unit.
const ALLOWED: f64 = 3.0;

struct Random(u64);

impl Random {
    /// In [0, 1).
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// In ±π.
    fn angle(&mut self) -> f64 {
        (2.0 * self.next() - 1.0) * std::f64::consts::PI
    }

    /// Between `10^low` and `10^high`, evenly in the exponent.
    fn log(&mut self, low: f64, high: f64) -> f64 {
        10f64.powf(low + (high - low) * self.next())
    }
}

type Draw = fn(&mut Random) -> (f64, f64);

const REGIONS: [(&str, Draw); 8] = [
    ("M in ±π, e < 0.9", |r| (r.angle(), r.next() * 0.9)),
    ("M in ±π, e in 0.9 to 1", |r| {
        (r.angle(), 0.9 + r.next() * 0.1)
    }),
    ("M in ±π, 1 - e from 1e-8", |r| {
        (r.angle(), 1.0 - r.log(-8.0, -1.0))
    }),
    ("M from 1e-12, 1 - e from 1e-8", |r| {
        (r.log(-12.0, 0.5), 1.0 - r.log(-8.0, 0.0))
    }),
    ("M from 1e-30, 1 - e from 1e-16", |r| {
        (r.log(-30.0, 0.5), 1.0 - r.log(-16.0, 0.0))
    }),
    ("M from 1e-44, 1 - e from 1e-16", |r| {
        (r.log(-44.0, -30.0), 1.0 - r.log(-16.0, 0.0))
    }),
    ("M in ±1e6, any e", |r| (r.next() * 2e6 - 1e6, r.next())),
    ("M near multiples of 2π to 1e13", |r| {
        let turns = r.log(0.0, 12.2).floor();
        (turns * std::f64::consts::TAU, r.next())
    }),
];

fn measure<T: Point + Into<f64>>(name: &str, digits: i32, count: usize, of: fn(f64) -> T) -> bool
where
    ops::kepler::Kepler: xla_ffi::Kernel<Host, T>,
{
    let mut fine = true;
    for (region, draw) in REGIONS {
        let mut random = Random(7);
        let mut worst = [(0.0, 0.0, 0.0); 2];
        let mut left = count / REGIONS.len();
        while left > 0 {
            let now = left.min(100_000);
            left -= now;
            let points: Vec<(T, T)> = (0..now)
                .map(|_| draw(&mut random))
                .map(|(m, e)| (of(m), of(e)))
                .filter(|&(_, e)| e.into() < 1.0)
                .collect();
            let (m, e): (Vec<T>, Vec<T>) = points.into_iter().unzip();
            let dims = [m.len() as i64];
            let mut frame = Call::new()
                .arg(&dims, &m)
                .arg(&dims, &e)
                .ret::<T>(&dims)
                .ret::<T>(&dims)
                .build();
            frame
                .call(xla_ffi::handler::<Kepler, Host>)
                .expect("kepler of good operands");
            let (sin, cos) = (frame.ret::<T>(0), frame.ret::<T>(1));
            for i in 0..m.len() {
                let (m, e) = (m[i].into(), e[i].into());
                let reference = Reference::of(m, e);
                let (s, c) = (sin[i].into(), cos[i].into());
                let errors = reference.errors(s, c, digits);
                for (worst, error) in worst.iter_mut().zip(errors) {
                    // A NaN is the worst of all.
                    if error.is_nan() || error > worst.0 {
                        *worst = (error, m, e);
                    }
                }
            }
        }
        let [sin, cos] = worst;
        fine &= sin.0 <= ALLOWED && cos.0 <= ALLOWED;
        println!("| {name} | {region} | {:.2} | {:.2} |", sin.0, cos.0);
        eprintln!("  worst: sin {sin:?} cos {cos:?}");
    }
    fine
}

fn main() {
    let count = std::env::args().nth(1).and_then(|count| count.parse().ok());
    let count = count.unwrap_or(10_000_000);
    println!("| type | points | sin | cos |");
    println!("|---|---|---|---|");
    let fine =
        measure::<f64>("f64", 53, count, |x| x) & measure::<f32>("f32", 24, count, |x| x as f32);
    assert!(fine, "an error above {ALLOWED} units");
}
