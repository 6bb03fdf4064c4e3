//! All entries of a matrix are told by its products with the vectors of its colours.

use sparse::{column_colouring, star_colouring, Columns};

use crate::matrices::{all, product, Random};

/// The products of a dense matrix with the vector of each colour, by colour
fn compressed(dense: &[Vec<f64>], colours: &[usize], count: usize) -> Vec<Vec<f64>> {
    let seeds: Vec<Vec<f64>> = colours
        .iter()
        .map(|&own| (0..count).map(|c| f64::from(u8::from(own == c))).collect())
        .collect();
    product(dense, &seeds)
}

#[test]
fn symmetric_matrices_are_told_by_star_colourings() {
    for (name, matrix) in all() {
        let pattern = matrix.pattern();
        let (colouring, places) = star_colouring(&pattern);
        assert_eq!(colouring.colours.len(), pattern.n(), "{name}");
        assert_eq!(places.len(), pattern.nnz(), "{name}");
        let dense = matrix.dense(&matrix.values);
        let products = compressed(&dense, &colouring.colours, colouring.count);
        let columns = pattern.columns();
        let entries =
            (0..pattern.n()).flat_map(|j| columns.column(j).iter().map(move |&i| (i as usize, j)));
        for ((i, j), &(row, colour)) in entries.zip(&places) {
            // One entry alone, so nothing was rounded
            assert_eq!(products[row][colour], dense[i][j], "{name}: {i}, {j}");
        }
    }
}

#[test]
fn colours_are_few() {
    let count = |name: &str| {
        let matrices = all();
        let (_, matrix) = matrices.iter().find(|(other, _)| other == name).unwrap();
        star_colouring(&matrix.pattern()).0.count
    };
    assert_eq!(count("arrow"), 2);
    assert!(count("grid") <= 8);
}

#[test]
fn matrices_of_any_shape_are_told_by_column_colourings() {
    let mut random = Random(5);
    for (rows, columns, share) in [
        (0, 0, 0.5),
        (0, 3, 0.5),
        (1, 1, 1.0),
        (9, 7, 0.2),
        (30, 40, 0.05),
        (12, 12, 1.0),
    ] {
        let (mut starts, mut rowind) = (vec![0], Vec::new());
        let mut dense = vec![vec![0.0; columns]; rows];
        for j in 0..columns {
            for (i, row) in dense.iter_mut().enumerate() {
                if random.next() < share {
                    row[j] = random.next();
                    rowind.push(i as i32);
                }
            }
            starts.push(rowind.len() as i32);
        }
        let pattern = Columns::new(rows as i64, columns as i64, &starts, &rowind).unwrap();
        let colouring = column_colouring(&pattern);
        let products = compressed(&dense, &colouring.colours, colouring.count);
        for (i, row) in dense.iter().enumerate() {
            for (j, &entry) in row.iter().enumerate().filter(|(_, &entry)| entry != 0.0) {
                assert_eq!(
                    products[i][colouring.colours[j]], entry,
                    "{rows} x {columns}: {i}, {j}"
                );
            }
        }
    }
}
