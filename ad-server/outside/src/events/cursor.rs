//! Cursors: positions in the sequence of events, as clients know them.

use ad_core::{model::EventPosition, service::Access};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};

/// The first byte of a cursor. A cursor of another shape gets another number.
const VERSION: u8 = 1;

/// Bytes of the three numbers.
const NUMBERS: usize = 3 * size_of::<i64>();

/// Bytes of the hash, which makes the whole a multiple of three bytes.
const HASH: usize = 8;

const BYTES: usize = 1 + NUMBERS + HASH;

/// The dealer or group whose events are read. A cursor is of one scope, so that a client that mixes up those of several is told so.
#[derive(Debug, Clone)]
pub struct CursorScope(Sha256);

/// Not a cursor of the scope: mangled, or of another scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a cursor of the scope")]
pub struct NotACursor;

impl CursorScope {
    /// The scope of a token's access.
    pub fn of(access: &Access) -> Self {
        Self(Sha256::new().chain_update(format!("{} {} ", access.claim(), access.name())))
    }

    pub fn encode(&self, position: EventPosition) -> String {
        let mut bytes = Vec::with_capacity(BYTES);
        bytes.push(VERSION);
        for number in [position.transaction, position.ad, position.sequence] {
            bytes.extend(number.to_be_bytes());
        }
        let hash = self.hash(&bytes);
        bytes.extend(hash);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The position of a cursor.
    ///
    /// # Errors
    /// [`NotACursor`].
    pub fn decode(&self, cursor: &str) -> Result<EventPosition, NotACursor> {
        let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| NotACursor)?;
        let (text, hash) = bytes.split_at_checked(1 + NUMBERS).ok_or(NotACursor)?;
        if text[0] != VERSION || hash != self.hash(text) {
            return Err(NotACursor);
        }
        let mut numbers = text[1..]
            .chunks_exact(size_of::<i64>())
            .map(|bytes| bytes.iter().fold(0, |number, byte| number << 8 | i64::from(*byte)));
        let mut next = || numbers.next().filter(|number| *number >= 0).ok_or(NotACursor);
        Ok(EventPosition { transaction: next()?, ad: next()?, sequence: next()? })
    }

    fn hash(&self, text: &[u8]) -> [u8; HASH] {
        let hash = self.0.clone().chain_update(text).finalize();
        std::array::from_fn(|place| hash[place])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_of_one_scope_and_every_change_of_it_is_noticed() {
        let dealer = CursorScope::of(&Access::Dealer("north".to_owned()));
        let group = CursorScope::of(&Access::Group("north".to_owned()));
        for position in [
            EventPosition::default(),
            EventPosition { transaction: 7_000_000_000, ad: 81, sequence: 3 },
            EventPosition::end_of(i64::MAX),
        ] {
            let cursor = dealer.encode(position);
            assert_eq!(dealer.decode(&cursor), Ok(position));
            assert_eq!(group.decode(&cursor), Err(NotACursor));
            for place in 0..cursor.len() {
                let mut mangled = cursor.clone().into_bytes();
                mangled[place] = if mangled[place] == b'A' { b'B' } else { b'A' };
                assert_eq!(dealer.decode(std::str::from_utf8(&mangled).unwrap()), Err(NotACursor), "{place}");
                assert_eq!(dealer.decode(&cursor[..place]), Err(NotACursor));
            }
            assert_eq!(dealer.decode(&format!("{cursor}A")), Err(NotACursor));
        }
        for wrong in ["", "now", "å", "{}", "AAAA"] {
            assert_eq!(dealer.decode(wrong), Err(NotACursor), "{wrong}");
        }
    }
}
