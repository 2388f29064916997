//! Stored commands, as one node of a cluster sends them to another.

use std::time::Duration;

use reversi_engine::rules::{Color, Square};

use super::{
    StoredError,
    codec::{Numbered, narrow, read_code, read_player},
    required,
    v1::{self, command::Kind, seat_setting::Setting},
};
use crate::{
    command::{Claim, Command, Credentials, SeatSetting},
    event::Offer,
    settings::PasswordHash,
    text::{ChatText, DeclineReason},
    timestamp::Timestamp,
};

impl From<&Command> for v1::Command {
    fn from(command: &Command) -> Self {
        let kind = match command {
            Command::Play { game, ply, square, thought } => Kind::Play(v1::Play {
                game: *game,
                ply: (*ply).into(),
                square: square.index().into(),
                thought: thought.as_deref().map(|thought| Box::new(thought.into())),
            }),
            Command::Join(profile, credentials) => Kind::Join(v1::Join {
                profile: Some(profile.into()),
                code: credentials.code.map(|code| code.bits()),
                password: credentials.password.as_ref().map(|hash| hash.0.to_vec()),
            }),
            Command::Leave => Kind::Leave(()),
            Command::TakeSeat(seat) => Kind::TakeSeat(seat.number()),
            Command::JoinGame(profile, seat, request) => Kind::JoinGame(v1::JoinGame {
                profile: Some(profile.into()),
                seat: seat.number(),
                request: request.map(Into::into),
            }),
            Command::LeaveSeat => Kind::LeaveSeat(()),
            Command::Vacate => Kind::Vacate(()),
            Command::SwapSeats => Kind::SwapSeats(()),
            Command::SetSeat(seat, setting) => {
                Kind::SetSeat(v1::SeatSetting { seat: seat.number(), setting: setting_of(setting) })
            }
            Command::DeclineInvitation(reason) => {
                Kind::DeclineInvitation(reason.as_ref().map(ToString::to_string).unwrap_or_default())
            }
            Command::SetReady(ready) => Kind::SetReady(*ready),
            Command::Kick { player, ban } => Kind::Kick(v1::Kick { player: player.bits(), ban: *ban }),
            Command::Transfer(player) => Kind::Transfer(player.bits()),
            Command::Configure(settings, current) => Kind::Configure(Box::new(v1::Configure {
                settings: Some((&**settings).into()),
                current: current.as_deref().map(Into::into),
            })),
            Command::Start(None) => Kind::Start(()),
            Command::Start(Some(request)) => Kind::StartOnce((*request).into()),
            Command::EndSeries => Kind::EndSeries(()),
            Command::Close => Kind::Close(()),
            Command::Chat(text) => Kind::Chat(text.to_string()),
            Command::Strike { game, ply } => Kind::Strike(v1::Strike { game: *game, ply: (*ply).into() }),
            Command::Resign { game } => Kind::Resign(*game),
            Command::Abort { game } => Kind::Abort(*game),
            Command::Claim { game, claim } => Kind::Claim(v1::ClaimGame { game: *game, claim: claim.number() }),
            Command::Offer(offer, None) => Kind::Offer(offer.number()),
            Command::Offer(offer, Some(game)) => {
                Kind::OfferInGame(v1::OfferInGame { offer: offer.number(), game: *game })
            }
            Command::Answer(offer, game, accept) => {
                Kind::Answer(v1::Answer { offer: offer.number(), game: *game, accept: *accept })
            }
            Command::SetCoOwner(player, named) => {
                Kind::SetCoOwner(v1::CoOwnerChanged { player: player.bits(), named: *named })
            }
            Command::SetPresence(player, present) => {
                Kind::SetPresence(v1::PresenceChanged { player: player.bits(), present: *present })
            }
            Command::Credit { micros } => Kind::Credit(*micros),
            Command::Tick => Kind::Tick(()),
            Command::RemoveChat(posted) => Kind::RemoveChat(posted.0),
        };
        Self { kind: Some(kind) }
    }
}

/// `None` for an open seat.
fn setting_of(setting: &SeatSetting) -> Option<Setting> {
    match setting {
        SeatSetting::Open => None,
        SeatSetting::Reserved(guest) => Some(Setting::Reserved(guest.into())),
        SeatSetting::Invited { guest, lasts, by_rating } => Some(Setting::Invite(v1::Invite {
            guest: Some(guest.into()),
            millis: u64::try_from(lasts.as_millis()).unwrap_or(u64::MAX),
            by_rating: by_rating.map(Into::into),
        })),
        SeatSetting::Ai(ai) => Some(Setting::Ai(ai.into())),
    }
}

impl v1::Command {
    /// Reads what another node has sent.
    ///
    /// # Errors
    /// [`StoredError::Malformed`] for a message that no server sends.
    pub fn read(self) -> Result<Command, StoredError> {
        Ok(match required(self.kind, "command")? {
            Kind::Play(play) => Command::Play {
                game: play.game,
                ply: narrow(play.ply, "ply")?,
                square: required(Square::new(narrow(play.square, "square")?), "square")?,
                thought: play.thought.map(|thought| thought.read().map(Box::new)).transpose()?,
            },
            Kind::Join(join) => {
                let code = join.code.map(read_code).transpose()?;
                let password = join.password.map(|hash| PasswordHash(hash.into()));
                Command::Join(required(join.profile, "profile")?.read()?, Credentials { code, password })
            }
            Kind::Leave(()) => Command::Leave,
            Kind::TakeSeat(seat) => Command::TakeSeat(Color::read(seat)?),
            Kind::JoinGame(join) => Command::JoinGame(
                required(join.profile, "profile")?.read()?,
                Color::read(join.seat)?,
                join.request.map(v1::Request::read),
            ),
            Kind::LeaveSeat(()) => Command::LeaveSeat,
            Kind::Vacate(()) => Command::Vacate,
            Kind::SwapSeats(()) => Command::SwapSeats,
            Kind::SetSeat(v1::SeatSetting { seat, setting }) => {
                let setting = match setting {
                    None => SeatSetting::Open,
                    Some(Setting::Reserved(guest)) => SeatSetting::Reserved(guest.read()?),
                    Some(Setting::Invite(invite)) => SeatSetting::Invited {
                        guest: required(invite.guest, "guest")?.read()?,
                        lasts: Duration::from_millis(invite.millis),
                        by_rating: invite.by_rating.map(|rating| narrow(rating, "rating")).transpose()?,
                    },
                    Some(Setting::Ai(ai)) => SeatSetting::Ai(ai.read()?),
                };
                Command::SetSeat(Color::read(seat)?, setting)
            }
            Kind::DeclineInvitation(reason) => Command::DeclineInvitation(read_reason(&reason)?),
            Kind::SetReady(ready) => Command::SetReady(ready),
            Kind::Kick(kick) => Command::Kick { player: read_player(kick.player)?, ban: kick.ban },
            Kind::Transfer(player) => Command::Transfer(read_player(player)?),
            Kind::Configure(configure) => {
                let current = configure.current.map(|current| current.read().map(Box::new)).transpose()?;
                Command::Configure(Box::new(required(configure.settings, "settings")?.read()?), current)
            }
            Kind::Start(()) => Command::Start(None),
            Kind::StartOnce(request) => Command::Start(Some(request.read())),
            Kind::EndSeries(()) => Command::EndSeries,
            Kind::Close(()) => Command::Close,
            Kind::Chat(text) => {
                Command::Chat(ChatText::from_stored(&text).map_err(|_| StoredError::Malformed("chat"))?)
            }
            Kind::Strike(strike) => Command::Strike { game: strike.game, ply: narrow(strike.ply, "ply")? },
            Kind::Resign(game) => Command::Resign { game },
            Kind::Abort(game) => Command::Abort { game },
            Kind::Claim(claim) => Command::Claim { game: claim.game, claim: Claim::read(claim.claim)? },
            Kind::Offer(offer) => Command::Offer(Offer::read(offer)?, None),
            Kind::OfferInGame(made) => Command::Offer(Offer::read(made.offer)?, Some(made.game)),
            Kind::Answer(answer) => Command::Answer(Offer::read(answer.offer)?, answer.game, answer.accept),
            Kind::SetCoOwner(change) => Command::SetCoOwner(read_player(change.player)?, change.named),
            Kind::SetPresence(change) => Command::SetPresence(read_player(change.player)?, change.present),
            Kind::Credit(micros) => Command::Credit { micros },
            Kind::Tick(()) => Command::Tick,
            Kind::RemoveChat(posted) => Command::RemoveChat(Timestamp(posted)),
        })
    }
}

/// The reason of a player who declines, which may give none.
pub(super) fn read_reason(reason: &str) -> Result<Option<DeclineReason>, StoredError> {
    let parse = |reason| DeclineReason::from_stored(reason).map_err(|_| StoredError::Malformed("reason"));
    (!reason.is_empty()).then(|| parse(reason)).transpose()
}
