//! From a client to a result.
mod common;
use common::*;

#[test]
fn a_program_runs() {
    let Some(client) = client() else { return };
    let program = compile(client, ADD);
    let x = f32s(client, &[2, 3], &[1., 2., 3., 4., 5., 6.]);
    let y = f32s(client, &[2, 3], &[10., 20., 30., 40., 50., 60.]);
    let results = execute(program, &[x, y]).unwrap();
    assert_eq!(results.len(), 1);
    assert_eq!(dims(results[0]), [2, 3]);
    assert_eq!(
        read::<f32>(results[0]).unwrap(),
        [11., 22., 33., 44., 55., 66.]
    );
    // Inputs stay what they were.
    assert_eq!(read::<f32>(x).unwrap(), [1., 2., 3., 4., 5., 6.]);
    [x, y, results[0]].into_iter().for_each(destroy);
    destroy_executable(program);
}
