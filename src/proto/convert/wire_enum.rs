//! Enums with the same variants in the room and on the wire.

use super::Malformed;
use crate::{
    proto::v1,
    room::{Claim, CloseReason, EndReason, LeaveReason, Offer, Phase, PlayerKind, UnratedReason, Visibility, Watching},
    rules::Color,
};

/// An enum of the room with the same variants on the wire.
pub trait WireEnum: Sized {
    /// The enum of the wire.
    type Wire;

    /// The variant, for the wire.
    fn wire(self) -> Self::Wire;

    /// Reads the number of a variant; `None` if it is unspecified.
    ///
    /// # Errors
    /// `BAD_ARGUMENT` for `field`.
    fn read(field: &str, number: i32) -> Result<Option<Self>, Malformed>;
}

/// One table for both directions; the compiler rejects one without all variants.
macro_rules! wire_enums {
    ($($name:ident as $wire:ident: $($variant:ident)+;)+) => {
        $(impl WireEnum for $name {
            type Wire = v1::$wire;

            fn wire(self) -> v1::$wire {
                match self { $(Self::$variant => v1::$wire::$variant),+ }
            }

            fn read(field: &str, number: i32) -> Result<Option<Self>, Malformed> {
                match v1::$wire::try_from(number) {
                    Ok(v1::$wire::Unspecified) => Ok(None),
                    $(Ok(v1::$wire::$variant) => Ok(Some(Self::$variant)),)+
                    Err(_) => Err(Malformed::argument(field, "must be a known value")),
                }
            }
        })+
    };
}

wire_enums! {
    Color as Side: Black White;
    PlayerKind as PlayerKind: Human Bot;
    Visibility as Visibility: Public Private;
    Watching as Watching: Everyone Members;
    Phase as RoomPhase: Lobby Playing Closed;
    Offer as Offer: Draw Rematch TakeBack;
    Claim as GameClaim: Win Draw;
    LeaveReason as LeaveReason: Left Kicked Banned Absent;
    CloseReason as RoomCloseReason: Empty Closed Idle Server;
    EndReason as GameEndReason: Discs Resignation Timeout Left Kicked Agreed Aborted Server AbortedByBlack AbortedByWhite
        AbortedByOwner AbortedByAdmin TakenBack;
    UnratedReason as UnratedReason: Unrated TooShort SameAddress Aborted HouseShort;
}
