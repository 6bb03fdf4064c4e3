//! What all kinds of vectors have in common.

/// What kernels share, of vectors whose instructions need not be asked for.
macro_rules! shared {
    ($float:ty) => {
        #[inline(never)]
        fn gather(matrices: &[$float], to: &mut [Self]) {
            block::gather_full(matrices, to);
        }
        #[inline(never)]
        fn scatter(from: &mut [Self], matrices: &mut [$float]) {
            block::scatter_full(from, matrices);
        }
        #[inline(never)]
        fn product(columns: &mut [Self], step: &Product<'_, Self>, work: &mut [Self]) {
            rows::product(columns, step, work);
        }
        #[inline(never)]
        fn follow(columns: &mut [Self], step: &Step<'_, Self>, work: &mut [Self]) {
            rows::follow(columns, step, work);
        }
        #[inline(never)]
        fn reflect(columns: &mut [Self], stride: usize, blocks: &[Block<'_, Self>]) {
            rows::reflect(columns, stride, blocks);
        }
        #[inline(never)]
        fn prepare(
            panel: &[Self],
            stride: usize,
            rows: (usize, usize),
            tau: (&[$float], Task),
            memory: &mut [Self],
        ) {
            rows::prepare(panel, stride, rows, tau, memory);
        }
        #[inline(never)]
        fn project(
            left: &[Self],
            columns: &[Self],
            stride: usize,
            which: Range<usize>,
            to: &mut [Self],
        ) {
            rows::project(left, columns, stride, which, to);
        }
    };
}
pub(crate) use shared;
