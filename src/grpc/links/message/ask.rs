//! Asks and news.

use super::{read_player, read_room, required};
use crate::{
    proto::cluster::{self, ask::Question as Asked, command_issued::Issuer as IssuedBy, exchange_request::Kind},
    room::{Issuer, PlayerId, stored::StoredError},
    runtime::{Ask, News, PlayerStreams, Question},
    tournament::stored::{encode_command, read_command},
};

impl cluster::Ask {
    /// An ask with id 0. It gets its id when it is sent.
    pub(crate) fn new(ask: Ask) -> Self {
        let mut first = None;
        let question = match ask.what {
            Question::Command(issuer, command) => {
                let issuer = match issuer {
                    Issuer::Player(player) => Some(IssuedBy::Player(player.bits())),
                    Issuer::Admin => Some(IssuedBy::Admin(())),
                    Issuer::Server => None,
                };
                Asked::Command(cluster::CommandIssued { command: Some((&command).into()), issuer })
            }
            Question::Snapshot => Asked::Snapshot(()),
            Question::Create(creation, command) => {
                first = command.as_ref().map(Into::into);
                Asked::Create(Box::new((&*creation).into()))
            }
            Question::Tournament(player, command) => Asked::Tournament(Box::new(cluster::TournamentCommandIssued {
                command: encode_command(&command),
                player: player.map(PlayerId::bits),
            })),
        };
        Self { id: 0, room: ask.room.bits(), first, question: Some(question) }
    }

    pub(crate) fn read(self) -> Result<Ask, StoredError> {
        let what = match required(self.question, "ask")? {
            Asked::Command(cluster::CommandIssued { command, issuer }) => {
                let issuer = match issuer {
                    Some(IssuedBy::Player(player)) => Issuer::Player(read_player(player)?),
                    Some(IssuedBy::Admin(())) => Issuer::Admin,
                    None => Issuer::Server,
                };
                Question::Command(issuer, required(command, "command")?.read()?)
            }
            Asked::Snapshot(()) => Question::Snapshot,
            Asked::Create(creation) => {
                let first = self.first.map(|first| first.read()).transpose()?;
                Question::Create(Box::new(creation.read()?), first)
            }
            Asked::Tournament(issued) => {
                let cluster::TournamentCommandIssued { command, player } = *issued;
                let player = player.map(read_player).transpose()?;
                Question::Tournament(player, Box::new(read_command(required(command, "command")?)?))
            }
        };
        Ok(Ask { room: read_room(self.room)?, what })
    }
}

impl From<News> for cluster::ExchangeRequest {
    fn from(news: News) -> Self {
        let kind = match news {
            News::Streams(players) => {
                let changed = players.into_iter().map(|(player, PlayerStreams { present, turns })| {
                    cluster::PlayerStreams { player: player.bits(), present, turns }
                });
                Kind::StreamsChanged(cluster::StreamsChanged { players: changed.collect() })
            }
            News::Notice(player, notice) => {
                Kind::NoticeSent(cluster::NoticeSent { player: player.bits(), notice: Some(notice.into()) })
            }
            News::Account(player) => Kind::AccountChanged(player.bits()),
            News::LoggedOut(player) => Kind::LoggedOut(player.bits()),
            News::Bans => Kind::BansChanged(()),
            News::ShardsGiven => Kind::ShardsGiven(()),
            News::ShardsServed(shards) => {
                Kind::ShardsServed(cluster::ShardsServed { shards: shards.into_iter().map(Into::into).collect() })
            }
            News::Heartbeat { sent, received } => Kind::Heartbeat(cluster::Heartbeat { sent, received }),
        };
        Self { kind: Some(kind) }
    }
}

/// Reads the news in a message. A hello or an ask is an error.
pub(crate) fn read_news(kind: Kind) -> Result<News, StoredError> {
    Ok(match kind {
        Kind::StreamsChanged(cluster::StreamsChanged { players }) => {
            let read = |cluster::PlayerStreams { player, present, turns }| {
                Ok((read_player(player)?, PlayerStreams { present, turns }))
            };
            News::Streams(players.into_iter().map(read).collect::<Result<_, StoredError>>()?)
        }
        Kind::AccountChanged(player) => News::Account(read_player(player)?),
        Kind::NoticeSent(sent) => News::Notice(read_player(sent.player)?, required(sent.notice, "notice")?.read()?),
        Kind::LoggedOut(player) => News::LoggedOut(read_player(player)?),
        Kind::BansChanged(()) => News::Bans,
        Kind::ShardsGiven(()) => News::ShardsGiven,
        Kind::ShardsServed(cluster::ShardsServed { shards }) => {
            News::ShardsServed(shards.into_iter().map(cluster::Ownership::read).collect::<Result<_, _>>()?)
        }
        Kind::Heartbeat(cluster::Heartbeat { sent, received }) => News::Heartbeat { sent, received },
        Kind::Hello(_) | Kind::Ask(_) => return Err(StoredError::Malformed("news")),
    })
}
