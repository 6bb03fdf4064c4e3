//! Many threads, many rounds: results stay right and nothing stays behind.
mod common;
#[cfg(target_os = "linux")]
use common::several::*;
use common::*;
use pjrt_api::*;

/// Handles as numbers, which threads may share.
#[test]
fn eight_threads_execute_at_once() {
    let client = client();
    let program = compile(client, ADD);
    let (c, p) = (client as usize, program as usize);
    std::thread::scope(|scope| {
        for t in 0..8 {
            scope.spawn(move || {
                let (client, program) = (c as *mut PJRT_Client, p as *mut PJRT_LoadedExecutable);
                for i in 0..200 {
                    let value = (t * 1000 + i) as f32;
                    let x = f32s(client, &[2, 3], &[value; 6]);
                    let y = f32s(client, &[2, 3], &[1.; 6]);
                    let out = execute(program, &[x, y]).unwrap()[0];
                    assert_eq!(read::<f32>(out).unwrap(), [value + 1.; 6]);
                    [x, y, out].into_iter().for_each(destroy);
                }
            });
        }
    });
    destroy_executable(program);
}

#[test]
fn threads_may_compile_and_share_one_buffer() {
    let client = client();
    let x = f32s(client, &[2, 3], &[2.; 6]);
    let (c, x) = (client as usize, x as usize);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(move || {
                let (client, x) = (c as *mut PJRT_Client, x as *mut PJRT_Buffer);
                for _ in 0..5 {
                    let program = compile(client, ADD);
                    let out = execute(program, &[x, x]).unwrap()[0];
                    destroy_executable(program);
                    assert_eq!(read::<f32>(out).unwrap(), [4.; 6]);
                    destroy(out);
                }
            });
        }
    });
    destroy(x as *mut PJRT_Buffer);
}

/// Whoever measures memory does so alone.
#[cfg(target_os = "linux")]
static MEASURING: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// Bytes of memory that this process holds.
#[cfg(target_os = "linux")]
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

/// Every way through the plugin, failures too, over and over.
#[cfg(target_os = "linux")]
#[test]
fn nothing_stays_behind() {
    let _alone = MEASURING.lock().unwrap_or_else(|e| e.into_inner());
    let client = client();
    let donating = compile(
        client,
        "func.func @main(%x: tensor<64x64xf64> {tf.aliasing_output = 0 : i32}) -> (tensor<64x64xf64>, tensor<f32>) {
           %0 = stablehlo.add %x, %x : tensor<64x64xf64>
           %1 = stablehlo.constant dense<1.0> : tensor<f32>
           return %0, %1 : tensor<64x64xf64>, tensor<f32>
         }",
    );
    let data = vec![1f64; 64 * 64];
    let other = devices(client)[1];
    let round = || {
        let x = upload(client, PJRT_Buffer_Type::F64, &[64, 64], &data);
        let kept = How {
            kept: &[0],
            ..How::default()
        };
        let (outs, event) = execute_with(donating, &[x], kept).unwrap();
        wait(event).unwrap();
        destroy_event(event);
        let copy = call!(
            PJRT_Buffer_CopyToDevice,
            PJRT_Buffer_CopyToDevice_Args {
                buffer: x,
                dst_device: other
            }
        )
        .unwrap()
        .dst_buffer;
        assert!(execute(donating, &[copy]).is_err());
        let donated = execute(donating, &[x]).unwrap();
        assert!(execute(donating, &[x]).is_err());
        assert!(compile_with(client, b"nonsense", "mlir", b"").is_err());
        read::<f64>(donated[0]).unwrap();
        let unused = call!(
            PJRT_Buffer_ReadyEvent,
            PJRT_Buffer_ReadyEvent_Args { buffer: donated[0] }
        )
        .unwrap()
        .event;
        [x, copy, outs[0], outs[1], donated[0], donated[1]]
            .into_iter()
            .for_each(destroy);
        destroy_event(unused);
    };
    (0..300).for_each(|_| round());
    let before = resident();
    (0..1000).for_each(|_| round());
    let grown = resident().saturating_sub(before);
    // A round handles 160 kB in five arrays; losing one of them each time would be 32 MB.
    assert!(grown < 8 << 20, "grew by {grown} bytes");
    destroy_executable(donating);
}

/// The same over two devices: runs that donate, that keep, and that are refused.
#[cfg(target_os = "linux")]
#[test]
fn nothing_stays_behind_on_several_devices() {
    let _alone = MEASURING.lock().unwrap_or_else(|e| e.into_inner());
    let client = eight();
    let program = compile_over(
        client,
        "func.func @main(%x: tensor<128x128xf32> {tf.aliasing_output = 0 : i32}) -> tensor<128x128xf32> {
           %0 = stablehlo.add %x, %x : tensor<128x128xf32>
           return %0 : tensor<128x128xf32>
         }",
        Over::replicas(2),
    );
    let data = vec![1f32; 128 * 128];
    let round = || {
        let x: Vec<_> = (0..2)
            .map(|d| vec![f32s_on(client, d, &[128, 128], &data)])
            .collect();
        let (kept, events) = launch_over(program, &x, &[0]).unwrap();
        events.into_iter().for_each(destroy_event);
        let out = execute_over(program, &x).unwrap();
        assert!(execute_over(program, &x).is_err());
        assert_eq!(read::<f32>(out[1][0]).unwrap()[0], 2.);
        x.into_iter()
            .chain(kept)
            .chain(out)
            .flatten()
            .for_each(destroy);
    };
    (0..100).for_each(|_| round());
    let before = resident();
    (0..300).for_each(|_| round());
    let grown = resident().saturating_sub(before);
    // A round handles 384 kB in six arrays; losing one of them each time would be 19 MB.
    assert!(grown < 8 << 20, "grew by {grown} bytes");
    destroy_executable(program);
}
