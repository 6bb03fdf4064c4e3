// xlaffi: rms_norm(x: T[..., n]; eps: f64 = 1e-5 -> y: T[..., n]) dtypes T = f32, f64
fn rms_norm(x: &[T], eps: f64, y: &mut [T]) -> Result<(), String> {
    if eps.is_nan() || eps < 0.0 {
        return Err(format!("`eps` is {eps}"));
    }
    let sum: f64 = x.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    let scale = (sum / x.len() as f64 + eps).sqrt().recip();
    for (y, &x) in y.iter_mut().zip(x) {
        *y = (f64::from(x) * scale) as T;
    }
    Ok(())
}
