//! What runs where, and what is refused.

use crate::call;
use crate::common::several::*;
use crate::common::*;
use pjrt_api::*;

/// The sum over all replicas.
fn all_reduce(n: usize) -> String {
    let group: Vec<String> = (0..n).map(|i| i.to_string()).collect();
    format!(
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {{
           %0 = \"stablehlo.all_reduce\"(%x) ({{
             ^bb0(%a: tensor<f32>, %b: tensor<f32>):
               %s = stablehlo.add %a, %b : tensor<f32>
               stablehlo.return %s : tensor<f32>
           }}) {{replica_groups = dense<[[{}]]> : tensor<1x{n}xi64>}} : (tensor<2xf32>) -> tensor<2xf32>
           return %0 : tensor<2xf32>
         }}",
        group.join(", ")
    )
}

#[test]
fn replicas_sum_what_each_has() {
    let client = eight();
    for n in [1, 2, 4, 8] {
        let program = compile_over(client, &all_reduce(n), Over::replicas(n));
        let x: Vec<_> = (0..n)
            .map(|d| vec![f32s_on(client, d, &[2], &[d as f32, 10. * d as f32])])
            .collect();
        let out = execute_over(program, &x).unwrap();
        let sum = (0..n).sum::<usize>() as f32;
        for (d, of_device) in out.iter().enumerate() {
            assert_eq!(device_of(of_device[0]), devices(client)[d]);
            assert_eq!(read::<f32>(of_device[0]).unwrap(), [sum, 10. * sum]);
        }
        x.into_iter().chain(out).flatten().for_each(destroy);
        destroy_executable(program);
    }
}

/// A product whose left side is split by rows.
pub fn product(n: usize, shardy: bool) -> String {
    let (mesh, split, whole) = if shardy {
        let of = |dims: &str| format!("{{sdy.sharding = #sdy.sharding<@mesh, [{dims}]>}}");
        let mesh = format!("sdy.mesh @mesh = <[\"x\"={n}]>");
        (mesh, of("{\"x\"}, {}"), of("{}, {}"))
    } else {
        let split = format!("{{mhlo.sharding = \"{{devices=[{n},1]<=[{n}]}}\"}}");
        let whole = "{mhlo.sharding = \"{replicated}\"}".to_owned();
        (String::new(), split, whole)
    };
    format!(
        "module @product {{
           {mesh}
           func.func @main(%a: tensor<8x2xf32> {split}, %b: tensor<2x3xf32> {whole}) -> (tensor<8x3xf32> {split}) {{
             %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x2xf32>, tensor<2x3xf32>) -> tensor<8x3xf32>
             return %0 : tensor<8x3xf32>
           }}
         }}"
    )
}

#[test]
fn partitions_have_their_part_of_an_array() {
    let client = eight();
    for (n, shardy) in [(2, true), (4, true), (8, true), (2, false), (8, false)] {
        let program = compile_over(client, &product(n, shardy), Over::partitions(n, shardy));
        let rows = 8 / n;
        let b = [1., 2., 3., 4., 5., 6.];
        let x: Vec<_> = (0..n)
            .map(|d| {
                let a: Vec<f32> = (0..rows * 2).map(|i| (d * rows * 2 + i) as f32).collect();
                let rows = rows as i64;
                vec![
                    f32s_on(client, d, &[rows, 2], &a),
                    f32s_on(client, d, &[2, 3], &b),
                ]
            })
            .collect();
        let out = execute_over(program, &x).unwrap();
        for (d, of_device) in out.iter().enumerate() {
            assert_eq!(dims(of_device[0]), [rows as i64, 3]);
            let want: Vec<f32> = (0..rows)
                .map(|i| (d * rows + i) as f32 * 2.)
                .flat_map(|a| (0..3).map(move |j| a * b[j] + (a + 1.) * b[3 + j]))
                .collect();
            assert_eq!(read::<f32>(of_device[0]).unwrap(), want);
        }
        x.into_iter().chain(out).flatten().for_each(destroy);
        destroy_executable(program);
    }
}

#[test]
fn devices_are_those_of_the_assignment() {
    let client = eight();
    let ids = [5, 2, 7];
    let program = compile_over(
        client,
        &all_reduce(3),
        Over {
            devices: &ids,
            ..Over::replicas(3)
        },
    );
    let all = devices(client);
    let list = devices_of(program);
    assert_eq!(list, [all[5], all[2], all[7]]);
    let x: Vec<_> = ids
        .iter()
        .map(|&d| vec![f32s_on(client, d as usize, &[2], &[d as f32, 0.])])
        .collect();
    let out = execute_over(program, &x).unwrap();
    for (of_device, device) in out.iter().zip(list) {
        assert_eq!(device_of(of_device[0]), device);
        assert_eq!(read::<f32>(of_device[0]).unwrap(), [14., 0.]);
    }
    x.into_iter().chain(out).flatten().for_each(destroy);
    destroy_executable(program);
}

#[test]
fn wrong_arguments_name_argument_and_device() {
    let client = eight();
    let program = compile_over(client, &all_reduce(2), Over::replicas(2));
    let good = [0, 1].map(|d| f32s_on(client, d, &[2], &[1., 2.]));
    let long = f32s_on(client, 1, &[3], &[0.; 3]);
    let gone = f32s_on(client, 1, &[2], &[0.; 2]);
    call!(PJRT_Buffer_Delete, PJRT_Buffer_Delete_Args { buffer: gone }).unwrap();
    let fails = |arguments: &[Vec<*mut PJRT_Buffer>], want: &str| {
        let failure = execute_over(program, arguments).expect_err(want);
        assert_eq!(failure.code, PJRT_Error_Code::INVALID_ARGUMENT);
        let want = format!("PJRT_LoadedExecutable_Execute: {want}");
        assert_eq!(failure.message, want);
    };
    fails(
        &[vec![good[0]], vec![long]],
        "argument 1 of device CpuDevice(id=1) must have dtype and shape f32[2], got f32[3]",
    );
    fails(
        &[vec![good[0]], vec![good[0]]],
        "argument 1 of device CpuDevice(id=1) is on device CpuDevice(id=0), but the program was compiled for device CpuDevice(id=1)",
    );
    fails(
        &[vec![good[0]], vec![gone]],
        "called on deleted or donated buffer (argument 1 of device CpuDevice(id=1))",
    );
    fails(
        &[vec![good[0]], vec![std::ptr::null_mut()]],
        "`argument 1` is NULL",
    );
    fails(&[vec![], vec![]], "`main` takes 1 argument(s), got 0");
    fails(
        &[vec![good[0]]],
        "the program runs on 2 device(s), got arguments for 1",
    );
    let out = execute_over(program, &[vec![good[0]], vec![good[1]]]).unwrap();
    good.into_iter()
        .chain([long, gone])
        .chain(out.into_iter().flatten())
        .for_each(destroy);
    destroy_executable(program);
}

#[test]
fn too_many_devices_are_refused() {
    let failure = compile_with(
        eight(),
        all_reduce(16).as_bytes(),
        "mlir",
        &Over::replicas(16).options(),
    )
    .unwrap_err();
    assert!(
        failure
            .message
            .contains("16 replica(s) of 1 partition(s) need 16 device(s)"),
        "{}",
        failure.message
    );
}

/// What an all-gather over replicas, a permutation and the number of the replica give on 2 replicas of 2 partitions: the
/// argument is split, the results are not.
#[test]
fn replicas_and_partitions_together() {
    let client = eight();
    let code = "func.func @main(%x: tensor<2xf32> {mhlo.sharding = \"{devices=[2]<=[2]}\"})
         -> (tensor<4xf32> {mhlo.sharding = \"{replicated}\"}, tensor<2xf32> {mhlo.sharding = \"{replicated}\"}, tensor<ui32>) {
       %g = \"stablehlo.all_gather\"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
         : (tensor<2xf32>) -> tensor<4xf32>
       %p = \"stablehlo.collective_permute\"(%x) {source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}
         : (tensor<2xf32>) -> tensor<2xf32>
       %r = stablehlo.replica_id : tensor<ui32>
       return %g, %p, %r : tensor<4xf32>, tensor<2xf32>, tensor<ui32>
     }";
    let over = Over {
        replicas: 2,
        ..Over::partitions(2, false)
    };
    let program = compile_over(client, code, over);
    let x: Vec<_> = (0..4)
        .map(|d| vec![f32s_on(client, d, &[1], &[10. + d as f32])])
        .collect();
    let out = execute_over(program, &x).unwrap();
    for (d, of_device) in out.iter().enumerate() {
        let gathered = read::<f32>(of_device[0]).unwrap();
        assert_eq!(gathered, [10., 11., 12., 13.]);
        let permuted = read::<f32>(of_device[1]).unwrap();
        assert_eq!(permuted, if d < 2 { [0., 0.] } else { [10., 11.] });
        assert_eq!(read::<u32>(of_device[2]).unwrap(), [d as u32 / 2]);
    }
    x.into_iter().chain(out).flatten().for_each(destroy);
    destroy_executable(program);
}

#[test]
fn collectives_that_do_not_fit_the_devices_are_refused() {
    let client = eight();
    let over = Over::replicas(2).options();
    for groups in ["[[0, 1, 2]]", "[[0, 5]]", "[[0, 0]]"] {
        let shape = if groups.len() > 8 { "1x3" } else { "1x2" };
        let code = all_reduce(2)
            .replace("[[0, 1]]", groups)
            .replace("tensor<1x2xi64>", &format!("tensor<{shape}xi64>"));
        let failure = compile_with(client, code.as_bytes(), "mlir", &over);
        assert!(failure.is_err(), "{groups}");
    }
}
