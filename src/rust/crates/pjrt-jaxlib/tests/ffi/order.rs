//! Calls in the order of the program, and in branches.

use super::shared::*;
use crate::common::*;
use crate::handlers::*;
use pjrt_api::*;
use xla_ffi::{handler, Host};

/// A program of calls whose operands come from products of all sizes, so that nothing but the
/// order of the program says which is first. Each call `n` is given the number `n`.
fn heavy(calls: &[(&str, &str)]) -> String {
    let mut text =
        String::from("func.func @main(%x: tensor<256x256xf32>) -> tensor<256x256xf32> {\n");
    for (n, (target, marks)) in calls.iter().enumerate() {
        let side = [256, 8, 128, 16, 64][n % 5];
        text += &format!(
            "%a{n} = stablehlo.slice %x [0:{side}, 0:{side}] : (tensor<256x256xf32>) -> tensor<{side}x{side}xf32>
             %b{n} = stablehlo.dot_general %a{n}, %a{n}, contracting_dims = [1] x [0]
               : (tensor<{side}x{side}xf32>, tensor<{side}x{side}xf32>) -> tensor<{side}x{side}xf32>
             %c{n} = stablehlo.slice %b{n} [0:1, 0:1] : (tensor<{side}x{side}xf32>) -> tensor<1x1xf32>
             %d{n} = stablehlo.constant dense<{n}.0> : tensor<1x1xf32>
             %e{n} = stablehlo.constant dense<0.0> : tensor<1x1xf32>
             %f{n} = stablehlo.multiply %c{n}, %e{n} : tensor<1x1xf32>
             %g{n} = stablehlo.add %d{n}, %f{n} : tensor<1x1xf32>
             stablehlo.custom_call @{target}(%g{n}) {{has_side_effect = true, api_version = 4 : i32{marks}}}
               : (tensor<1x1xf32>) -> ()\n"
        );
    }
    text + "return %x : tensor<256x256xf32>\n}"
}

const ORDERED: &str = ", mhlo.frontend_attributes = {xlaffi.ordered = \"true\"}";

#[test]
fn prints_of_any_handler_and_marked_calls_keep_their_order() {
    let client = client();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    // A handler of somebody else, which takes one operand and knows nothing of tokens.
    register("print_tensor", "host", Some(handler::<Look, Host>)).unwrap();
    register("test_ordered", "host", Some(handler::<Look, Host>)).unwrap();
    let x = f32s(client, &[256, 256], &vec![1.; 256 * 256]);
    let calls: Vec<(&str, &str)> = (0..20)
        .map(|n| match n % 3 {
            0 => ("print_tensor", ""),
            1 => ("test_ordered", ORDERED),
            _ => (
                "test_ordered",
                ", backend_config = {failure = \"\"}, mhlo.frontend_attributes = {xlaffi.ordered = \"true\"}",
            ),
        })
        .collect();
    let program = compile(client, &heavy(&calls));
    let expected: Vec<Vec<u8>> = (0..20).map(|n| (n as f32).to_ne_bytes().to_vec()).collect();
    for _ in 0..20 {
        LOOKS.lock().unwrap().clear();
        let outs = execute(program, &[x]).unwrap();
        assert_eq!(*LOOKS.lock().unwrap(), expected);
        outs.into_iter().for_each(destroy);
    }
    destroy_executable(program);
    destroy(x);
}

#[test]
fn ordered_calls_have_results_layouts_and_aliases() {
    let client = client();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    register("test_gate", "host", Some(handler::<GateOp, Host>)).unwrap();
    GATE.set(true);
    let call = |operand: &str, result: &str| {
        format!(
            "{result} = stablehlo.custom_call @test_gate({operand}) {{
               api_version = 4 : i32, has_side_effect = true,
               operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
               result_layouts = [dense<[0, 1]> : tensor<2xindex>],
               output_operand_aliases = [#stablehlo.output_operand_alias<
                 output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>],
               mhlo.frontend_attributes = {{xlaffi.ordered = \"true\"}}
             }} : (tensor<2x3xf32>) -> tensor<2x3xf32>\n"
        )
    };
    let program = compile(
        client,
        &format!(
            "func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {{\n{}{}{}
               return %c : tensor<2x3xf32>\n}}",
            call("%x", "%a"),
            call("%a", "%b"),
            call("%b", "%c")
        ),
    );
    let data = [1., 2., 3., 4., 5., 6.];
    let x = f32s(client, &[2, 3], &data);
    let out = execute(program, &[x]).unwrap()[0];
    assert_eq!(read::<f32>(out).unwrap(), data);
    assert_eq!(read::<f32>(x).unwrap(), data);
    [x, out].into_iter().for_each(destroy);
    destroy_executable(program);
}

#[test]
fn layouts_of_arrays_without_elements_do_no_harm() {
    let client = client();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    register("test_gate", "host", Some(handler::<GateOp, Host>)).unwrap();
    GATE.set(true);
    // XLA divides by the number of elements when it brings the operand into this layout.
    let program = compile(
        client,
        "func.func @main(%x: tensor<64x0x0xf32>) -> tensor<64x0x0xf32> {
           %0 = stablehlo.custom_call @test_gate(%x) {
             api_version = 4 : i32,
             operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>],
             result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>]
           } : (tensor<64x0x0xf32>) -> tensor<64x0x0xf32>
           return %0 : tensor<64x0x0xf32>
         }",
    );
    let x = f32s(client, &[64, 0, 0], &[]);
    let out = execute(program, &[x]).unwrap()[0];
    assert_eq!(dims(out), [64, 0, 0]);
    [x, out].into_iter().for_each(destroy);
    destroy_executable(program);
}

#[test]
fn a_branch_for_another_platform_fails_only_where_it_is_taken() {
    let client = client();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    register("test_gate", "host", Some(handler::<GateOp, Host>)).unwrap();
    GATE.set(true);
    let call = |target: &str| {
        format!(
            "%r = stablehlo.custom_call @{target}(%x) {{
               mhlo.backend_config = {{failure = \"\"}}
             }} : (tensor<2xf32>) -> tensor<2xf32>
             stablehlo.return %r : tensor<2xf32>"
        )
    };
    let text = |index: &str, other: &str| {
        format!(
            "func.func @main(%i: tensor<i32> {index}, %x: tensor<2xf32>) -> tensor<2xf32> {{
               %0 = \"stablehlo.case\"(%i) ({{ {} }}, {{ {} }}) : (tensor<i32>) -> tensor<2xf32>
               return %0 : tensor<2xf32>
             }}",
            call("test_gate"),
            call(other)
        )
    };
    let several = text(
        "{jax.global_constant = \"_platform_index\"}",
        "test_of_cuda",
    );
    let program = compile(client, &several);
    let x = f32s(client, &[2], &[1., 2.]);
    let index = |i: i32| upload(client, PJRT_Buffer_Type::S32, &[], &[i]);
    let (here, there) = (index(0), index(1));
    let out = execute(program, &[here, x]).unwrap()[0];
    assert_eq!(read::<f32>(out).unwrap(), [1., 2.]);
    let failure = execute(program, &[there, x]).unwrap_err();
    assert_eq!(failure.code, PJRT_Error_Code::NOT_FOUND);
    assert!(
        failure
            .message
            .contains("no handler `test_of_cuda` is registered for the CPU"),
        "{}",
        failure.message
    );
    destroy_executable(program);
    // In any other program a name that nobody answers is an error at once.
    let one = text("", "test_of_cuda");
    let failure = compile_with(client, one.as_bytes(), "mlir", b"").unwrap_err();
    assert!(
        failure.message.contains("test_of_cuda"),
        "{}",
        failure.message
    );
    [x, here, there, out].into_iter().for_each(destroy);
}
