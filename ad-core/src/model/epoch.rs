//! Epochs: histories of a store without a loss.

/// Bits that an epoch's number leaves to what is counted within it. The statements of the store have the same number.
pub(crate) const EPOCH_SHIFT: u32 = 40;

/// A count that goes on in an epoch: its numbers are higher than those of earlier epochs, and so never the same as numbers that a restore
/// or the promotion of a standby has lost.
pub(crate) fn counted_in(epoch: i64, count: i64) -> i64 {
    (epoch << EPOCH_SHIFT) | (count & ((1 << EPOCH_SHIFT) - 1))
}
