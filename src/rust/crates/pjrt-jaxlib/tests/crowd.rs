//! Many programs under way, over one device and over several, and many threads.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every look at C memory is one"
)]
mod common;
use common::several::*;
use common::*;
use pjrt_api::*;

const PRODUCT: &str = "%p = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0]
  : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>";

/// Takes a while, on one device.
fn alone() -> String {
    format!("func.func @main(%x: tensor<256x256xf32>) -> tensor<256x256xf32> {{ {PRODUCT} return %p : tensor<256x256xf32> }}")
}

/// The mean over `n` devices of what takes a while on each.
fn together(n: usize) -> String {
    let group: Vec<String> = (0..n).map(|i| i.to_string()).collect();
    let (group, scale) = (group.join(", "), 1. / (256. * n as f32));
    format!(
        "func.func @main(%x: tensor<256x256xf32>) -> tensor<256x256xf32> {{
           {PRODUCT}
           %s = \"stablehlo.all_reduce\"(%p) ({{
             ^bb0(%a: tensor<f32>, %b: tensor<f32>):
               %s = stablehlo.add %a, %b : tensor<f32>
               stablehlo.return %s : tensor<f32>
           }}) {{replica_groups = dense<[[{group}]]> : tensor<1x{n}xi64>}} : (tensor<256x256xf32>) -> tensor<256x256xf32>
           %c = stablehlo.constant dense<{scale:e}> : tensor<256x256xf32>
           %m = stablehlo.multiply %s, %c : tensor<256x256xf32>
           return %m : tensor<256x256xf32>
         }}"
    )
}

fn ones(client: *mut PJRT_Client, n: usize) -> Vec<Vec<*mut PJRT_Buffer>> {
    let data = vec![1f32; 256 * 256];
    let on = |d| vec![f32s_on(client, d, &[256, 256], &data)];
    (0..n).map(on).collect()
}

#[test]
fn no_device_is_too_crowded_for_a_program_over_all() {
    find_python();
    // XLA's pool has sixteen threads then, and more programs are under way.
    let options = [
        int_option("cpu_device_count", 2),
        int_option("num_threads", 1),
    ];
    let client = new_client(&options).unwrap();
    let x = ones(client, 2);
    let alone: Vec<_> = (0..2)
        .map(|d| {
            let over = Over {
                devices: &[d],
                ..Over::replicas(1)
            };
            compile_over(client, &alone(), over)
        })
        .collect();
    let together = compile_over(client, &together(2), Over::replicas(2));
    let mut out = Vec::new();
    let mut last = x.clone();
    for i in 0..30 {
        for _ in 0..10 {
            for d in 0..2 {
                let (result, event) = execute_with(alone[d], &x[d], How::default()).unwrap();
                destroy_event(event);
                out.extend(result);
            }
        }
        if i % 2 == 0 {
            let (result, events) = launch_over(together, &last, &[]).unwrap();
            events.into_iter().for_each(destroy_event);
            out.extend(result.iter().flatten());
            last = result;
        }
    }
    for of_device in &last {
        assert_eq!(read::<f32>(of_device[0]).unwrap(), vec![1.; 256 * 256]);
    }
    out.into_iter()
        .chain(x.into_iter().flatten())
        .for_each(destroy);
    alone
        .into_iter()
        .chain([together])
        .for_each(destroy_executable);
    call!(PJRT_Client_Destroy, PJRT_Client_Destroy_Args { client }).unwrap();
}

/// XLA itself does not come to an end with that.
#[test]
fn a_loop_may_launch_ahead() {
    let client = eight();
    let code = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %s = \"stablehlo.all_reduce\"(%x) ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %s = stablehlo.maximum %a, %b : tensor<f32>
          stablehlo.return %s : tensor<f32>
      }) {replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>} : (tensor<2xf32>) -> tensor<2xf32>
      %c = stablehlo.constant dense<1.0> : tensor<2xf32>
      %n = stablehlo.add %s, %c : tensor<2xf32>
      return %n : tensor<2xf32>
    }";
    let program = compile_over(client, code, Over::replicas(8));
    let mut last: Vec<_> = (0..8)
        .map(|d| vec![f32s_on(client, d, &[2], &[d as f32, 0.])])
        .collect();
    for _ in 0..200 {
        let (out, events) = launch_over(program, &last, &[]).unwrap();
        events.into_iter().for_each(destroy_event);
        last.into_iter().flatten().for_each(destroy);
        last = out;
    }
    for of_device in &last {
        assert_eq!(read::<f32>(of_device[0]).unwrap(), [207., 200.]);
    }
    last.into_iter().flatten().for_each(destroy);
    destroy_executable(program);
}

#[test]
fn threads_may_launch_in_any_order() {
    let client = eight();
    let programs: Vec<usize> = [2, 4, 8]
        .iter()
        .map(|&n| compile_over(client, &together(n), Over::replicas(n)) as usize)
        .collect();
    let c = client as usize;
    std::thread::scope(|scope| {
        for t in 0..4 {
            let programs = &programs;
            scope.spawn(move || {
                let x = ones(c as *mut PJRT_Client, 8);
                for i in 0..6 {
                    let which = (t + i) % 3;
                    let program = programs[which] as *mut PJRT_LoadedExecutable;
                    let out = execute_over(program, &x[..2 << which]).unwrap();
                    assert_eq!(read::<f32>(out[1][0]).unwrap(), vec![1.; 256 * 256]);
                    out.into_iter().flatten().for_each(destroy);
                }
                x.into_iter().flatten().for_each(destroy);
            });
        }
    });
    programs
        .into_iter()
        .for_each(|p| destroy_executable(p as *mut PJRT_LoadedExecutable));
}
