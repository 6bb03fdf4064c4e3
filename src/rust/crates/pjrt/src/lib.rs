//! A host for PJRT plugins: load one, compile StableHLO, move buffers, execute.
