//! Settings: sent in full, read over defaults or over the current ones.

use std::{sync::LazyLock, time::Duration};

use prost_reflect::{DynamicMessage, FieldDescriptor, MessageDescriptor};
use prost_types::FieldMask;

use super::{Malformed, WireEnum, duration, read_duration};
use crate::{
    match_statistics::Sprt,
    proto::{POOL, v1},
    room::{DisplayName, Opening, Opponents, PasswordHash, PlayerKind, RoomName, Settings, TimeControl},
    rules::Transcript,
};

/// The fields that an update mask may name.
static MESSAGE: LazyLock<MessageDescriptor> = LazyLock::new(|| {
    POOL.get_message_by_name("reversi.v1.RoomSettings").expect("the embedded descriptors have the settings")
});

/// Settings, for the wire, with every field set and without the password.
#[must_use]
pub fn room_settings(settings: &Settings) -> v1::RoomSettings {
    v1::RoomSettings {
        name: settings.name.to_string(),
        visibility: settings.visibility.wire().into(),
        watching: settings.watching.wire().into(),
        move_limit: Some(duration(settings.time.per_move.unwrap_or(Duration::ZERO))),
        total_time: settings.time.total.map(duration),
        increment: Some(duration(settings.time.increment)),
        ai_pause: Some(duration(settings.ai_pause)),
        games: settings.games.into(),
        swap_sides: Some(settings.swap_sides),
        opening: Some(opening(&settings.opening)),
        auto_start: settings.auto_start,
        rated: settings.rated,
        sprt: settings.sprt.map(sprt),
        opponents: opponents(settings.opponents),
        spectator_delay: Some(duration(settings.spectator_delay)),
    }
}

/// The players who may take an open seat, for the wire; `None` for all.
#[must_use]
pub fn opponents(opponents: Opponents) -> Option<v1::Opponents> {
    let Opponents { people, bots, min_rating, max_rating } = opponents;
    let kinds = [(people, PlayerKind::Human), (bots, PlayerKind::Bot)];
    let named = kinds.into_iter().filter(|(accepted, _)| *accepted && !(people && bots));
    let wire = v1::Opponents {
        kinds: named.map(|(_, kind)| kind.wire().into()).collect(),
        min_rating: min_rating.unwrap_or(0).into(),
        max_rating: max_rating.unwrap_or(0).into(),
    };
    (opponents != Opponents::default()).then_some(wire)
}

pub(crate) fn sprt(sprt: Sprt) -> v1::Sprt {
    v1::Sprt { elo0: sprt.elo0(), elo1: sprt.elo1(), alpha: sprt.alpha(), beta: sprt.beta() }
}

fn opening(opening: &Opening) -> v1::Opening {
    use v1::opening::Opening as Wire;

    let opening = match opening {
        Opening::Standard => Wire::Standard(v1::StandardOpening {}),
        Opening::Moves(moves) => Wire::Moves(moves.to_string()),
        Opening::Random { plies, seed } => Wire::Random(v1::RandomOpening { plies: (*plies).into(), seed: *seed }),
        Opening::Balanced { seed } => Wire::Balanced(v1::BalancedOpening { seed: *seed }),
    };
    v1::Opening { opening: Some(opening) }
}

/// Checked settings for a new room, without a password. Unset fields have their defaults; the default name is the
/// owner's.
///
/// # Errors
/// `BAD_SETTINGS` for a path below `settings`.
pub fn read_new_settings(wire: Option<v1::RoomSettings>, owner: &DisplayName) -> Result<Settings, Malformed> {
    let mut wire = wire.unwrap_or_default();
    if wire.name.is_empty() {
        wire.name = owner.to_string();
    }
    let name = read_name(&wire.name)?;
    read_settings(&wire, name, None)
}

/// The current settings with the fields in `mask` replaced, checked; unset fields get their defaults, as in
/// [`read_new_settings`]. Without a mask the fields that are set are replaced. The password is unchanged.
///
/// # Errors
/// `BAD_SETTINGS` for a path below `settings`, or for a path of the mask that names no field.
pub fn read_changed_settings(
    wire: Option<&v1::RoomSettings>,
    mask: Option<&FieldMask>,
    current: &Settings,
    owner: &DisplayName,
) -> Result<Settings, Malformed> {
    let paths = mask.map_or(&[][..], |mask| &mask.paths);
    let known = |path: &String| path == "*" || MESSAGE.get_field_by_name(path).is_some();
    if let Some(unknown) = paths.iter().position(|path| !known(path)) {
        return Err(Malformed::new(
            Malformed::BAD_SETTINGS,
            format!("update_mask.paths[{unknown}]"),
            "must name a field of RoomSettings",
        ));
    }
    let unset = v1::RoomSettings::default();
    let mut merged = merge(&room_settings(current), wire.unwrap_or(&unset), paths);
    if merged.name.is_empty() {
        merged.name = owner.to_string();
    }
    // An unchanged name may be of a version with other rules for names.
    let is_kept = merged.name == current.name.as_str();
    let name = if is_kept { current.name.clone() } else { read_name(&merged.name)? };
    read_settings(&merged, name, current.password.clone())
}

/// `current` with the fields in `paths` as in `given`, set or unset; without paths, with those that `given` sets.
fn merge(current: &v1::RoomSettings, given: &v1::RoomSettings, paths: &[String]) -> v1::RoomSettings {
    let dynamic = |wire: &v1::RoomSettings| {
        let mut message = DynamicMessage::new(MESSAGE.clone());
        message.transcode_from(wire).expect("the message has this descriptor");
        message
    };
    let (mut merged, given) = (dynamic(current), dynamic(given));
    let is_chosen = |field: &FieldDescriptor| match paths {
        [] => given.has_field(field),
        paths => paths.iter().any(|path| path == "*" || path == field.name()),
    };
    for field in MESSAGE.fields().filter(is_chosen) {
        merged.clear_field(&field);
        if given.has_field(&field) {
            merged.set_field(&field, given.get_field(&field).into_owned());
        }
    }
    merged.transcode_to().expect("the message has this descriptor")
}

/// Checked settings with this name, and not that of `wire`.
fn read_settings(
    wire: &v1::RoomSettings,
    name: RoomName,
    password: Option<PasswordHash>,
) -> Result<Settings, Malformed> {
    let settings = Settings {
        name,
        visibility: read_enum("visibility", wire.visibility)?,
        watching: read_enum("watching", wire.watching)?,
        password,
        time: read_time(wire)?,
        ai_pause: read_length("ai_pause", wire.ai_pause)?.unwrap_or_default(),
        games: read_games(wire.games)?,
        swap_sides: wire.swap_sides.unwrap_or(true),
        opening: read_opening(wire.opening.as_ref())?,
        auto_start: wire.auto_start,
        rated: wire.rated,
        sprt: wire.sprt.as_ref().map(read_sprt).transpose()?,
        opponents: wire
            .opponents
            .as_ref()
            .map(|wire| read_opponents("opponents", wire))
            .transpose()?
            .unwrap_or_default(),
        spectator_delay: read_length("spectator_delay", wire.spectator_delay)?.unwrap_or_default(),
    };
    settings.check_new()?;
    Ok(settings)
}

/// The default limit of a move depends on the total time.
fn read_time(wire: &v1::RoomSettings) -> Result<TimeControl, Malformed> {
    let total = read_length("total_time", wire.total_time)?.filter(|total| !total.is_zero());
    let per_move = match read_length("move_limit", wire.move_limit)? {
        Some(limit) => (!limit.is_zero()).then_some(limit),
        None => total.is_none().then_some(TimeControl::DEFAULT_MOVE),
    };
    let increment = read_length("increment", wire.increment)?.unwrap_or_default();
    Ok(TimeControl { per_move, total, increment })
}

fn read_name(text: &str) -> Result<RoomName, Malformed> {
    RoomName::parse(text).map_err(|error| Malformed::setting("name", error.to_string()))
}

fn read_enum<T: WireEnum + Default>(field: &str, wire: i32) -> Result<T, Malformed> {
    T::read(field, wire).map(Option::unwrap_or_default).map_err(|error| Malformed::setting(field, error.problem))
}

fn read_length(field: &str, wire: Option<prost_types::Duration>) -> Result<Option<Duration>, Malformed> {
    let read = |wire| read_duration(field, wire).map_err(|error| Malformed::setting(field, error.problem));
    wire.map(read).transpose()
}

fn read_games(wire: i32) -> Result<u16, Malformed> {
    match u16::try_from(wire) {
        Ok(0) => Ok(1),
        Ok(games) => Ok(games),
        Err(_) => Err(Malformed::setting("games", "must be 1 to 1000")),
    }
}

pub(crate) fn read_sprt(wire: &v1::Sprt) -> Result<Sprt, Malformed> {
    let error = |error: f64| if error == 0.0 { Sprt::USUAL_ERROR } else { error };
    Sprt::new(wire.elo0, wire.elo1, error(wire.alpha), error(wire.beta))
        .map_err(|error| Malformed::setting("sprt", format!("must make sense: {error}")))
}

/// The players who are welcome, at a path below `settings`.
///
/// # Errors
/// `BAD_SETTINGS` for the path.
pub fn read_opponents(path: &str, wire: &v1::Opponents) -> Result<Opponents, Malformed> {
    let (mut people, mut bots) = (wire.kinds.is_empty(), wire.kinds.is_empty());
    for kind in &wire.kinds {
        match PlayerKind::read(path, *kind) {
            Ok(Some(PlayerKind::Human)) => people = true,
            Ok(Some(PlayerKind::Bot)) => bots = true,
            Ok(None) | Err(_) => {
                return Err(Malformed::setting(&format!("{path}.kinds"), "must be known kinds of players"));
            }
        }
    }
    let read = |field, rating| match u16::try_from(rating) {
        Ok(rating) => Ok((rating > 0).then_some(rating)),
        Err(_) => Err(Malformed::setting(&format!("{path}.{field}"), "must be 0 to 65535")),
    };
    let min_rating = read("min_rating", wire.min_rating)?;
    let max_rating = read("max_rating", wire.max_rating)?;
    Ok(Opponents { people, bots, min_rating, max_rating })
}

fn read_opening(wire: Option<&v1::Opening>) -> Result<Opening, Malformed> {
    use v1::opening::Opening as Wire;

    match wire.and_then(|wire| wire.opening.as_ref()) {
        None | Some(Wire::Standard(_)) => Ok(Opening::Standard),
        Some(Wire::Moves(text)) => text
            .parse::<Transcript>()
            .map(Opening::Moves)
            .map_err(|error| Malformed::setting("opening.moves", format!("must be a game's first moves: {error}"))),
        Some(Wire::Random(random)) => match u8::try_from(random.plies) {
            Ok(plies) => Ok(Opening::Random { plies, seed: random.seed }),
            Err(_) => Err(Malformed::setting("opening.random.plies", "must be 1 to 20")),
        },
        Some(Wire::Balanced(balanced)) => Ok(Opening::Balanced { seed: balanced.seed }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::{option, prelude::*};

    use super::*;
    use crate::proto::convert::fixture;

    fn owner() -> DisplayName {
        fixture::owner().name
    }

    fn mask(paths: &[&str]) -> FieldMask {
        FieldMask { paths: paths.iter().map(ToString::to_string).collect() }
    }

    fn paths() -> Vec<String> {
        MESSAGE.fields().map(|field| field.name().to_owned()).collect()
    }

    fn any_length() -> impl Strategy<Value = Option<prost_types::Duration>> {
        let whole = (any::<i64>(), any::<i32>());
        let near = (-2..90_000_i64, -2..1_000_000_002_i32);
        option::of(prop_oneof![whole, near].prop_map(|(seconds, nanos)| prost_types::Duration { seconds, nanos }))
    }

    fn any_wire_opening() -> impl Strategy<Value = Option<v1::Opening>> {
        use v1::opening::Opening as Wire;
        let random = (prop_oneof![any::<i32>(), 0..22_i32], any::<u64>());
        option::of(
            option::of(prop_oneof![
                Just(Wire::Standard(v1::StandardOpening {})),
                ".{0,12}".prop_map(Wire::Moves),
                "([a-h][1-8]){0,9}".prop_map(Wire::Moves),
                random.prop_map(|(plies, seed)| Wire::Random(v1::RandomOpening { plies, seed })),
                any::<u64>().prop_map(|seed| Wire::Balanced(v1::BalancedOpening { seed })),
            ])
            .prop_map(|opening| v1::Opening { opening }),
        )
    }

    prop_compose! {
        fn any_wire()(
            name in ".{0,50}",
            (visibility, watching) in (prop_oneof![-1..4_i32, any::<i32>()], prop_oneof![-1..4_i32, any::<i32>()]),
            (move_limit, total_time) in (any_length(), any_length()),
            (increment, ai_pause, spectator_delay) in (any_length(), any_length(), any_length()),
            games in prop_oneof![-1..1_002_i32, any::<i32>()],
            swap_sides: Option<bool>,
            opening in any_wire_opening(),
            [auto_start, rated] in any::<[bool; 2]>(),
            numbers in option::of(any::<[f64; 4]>()),
            opponents in option::of((any::<Vec<i32>>(), -1..3_000_i32, any::<i32>())),
        ) -> v1::RoomSettings {
            v1::RoomSettings {
                name, visibility, watching, move_limit, total_time, increment, ai_pause, games, swap_sides, opening, auto_start,
                rated, sprt: numbers.map(|[elo0, elo1, alpha, beta]| v1::Sprt { elo0, elo1, alpha, beta }),
                opponents: opponents
                    .map(|(kinds, min_rating, max_rating)| v1::Opponents { kinds, min_rating, max_rating }),
                spectator_delay,
            }
        }
    }

    proptest! {
        #[test]
        fn settings_round_trip(settings in Settings::any(), other in Settings::any()) {
            settings.check().unwrap();
            let wire = room_settings(&settings);
            let new = Settings { password: None, ..settings.clone() };
            prop_assert_eq!(read_new_settings(Some(wire.clone()), &owner()), Ok(new));
            let changed = Settings { password: other.password.clone(), ..settings };
            prop_assert_eq!(read_changed_settings(Some(&wire), Some(&mask(&["*"])), &other, &owner()), Ok(changed.clone()));
            let paths = paths();
            prop_assert_eq!(read_changed_settings(Some(&wire), Some(&FieldMask { paths }), &other, &owner()), Ok(changed));
        }

        #[test]
        fn without_a_mask_a_set_field_is_as_if_named(wire in any_wire(), current in Settings::any()) {
            let (unset, current) = (v1::RoomSettings::default(), room_settings(&current));
            for path in paths() {
                let only = merge(&unset, &wire, std::slice::from_ref(&path));
                let named = if only == unset { current.clone() } else { merge(&current, &only, &[path]) };
                prop_assert_eq!(merge(&current, &only, &[]), named);
            }
        }

        #[test]
        fn any_settings_are_read_without_panic(
            wire in any_wire(),
            paths in proptest::collection::vec(proptest::sample::select(paths()), 0..5),
        ) {
            let current = fixture::settings();
            let bad = |error: Malformed| error.reason == Malformed::BAD_SETTINGS && error.field.starts_with("settings.");
            match read_new_settings(Some(wire.clone()), &owner()) {
                Ok(settings) => prop_assert_eq!(settings.check_new(), Ok(())),
                Err(error) => prop_assert!(bad(error)),
            }
            match read_changed_settings(Some(&wire), Some(&FieldMask { paths }), &current, &owner()) {
                Ok(settings) => prop_assert_eq!(settings.check_new(), Ok(())),
                Err(error) => prop_assert!(bad(error)),
            }
        }
    }

    #[test]
    fn an_unset_field_gets_its_default() {
        let settings = read_new_settings(None, &owner()).unwrap();
        assert_eq!(settings, Settings::named(RoomName::parse("Ada").unwrap()));

        let total_time = Some(prost_types::Duration { seconds: 300, nanos: 0 });
        let blitz = v1::RoomSettings { total_time, ..Default::default() };
        let time = read_new_settings(Some(blitz), &owner()).unwrap().time;
        assert_eq!((time.per_move, time.total), (None, Some(Duration::from_secs(300))));
    }

    #[test]
    fn a_mask_chooses_what_changes() {
        let current = fixture::settings();
        let wire = v1::RoomSettings { name: "New".into(), games: 3, ..Default::default() };
        let changed = read_changed_settings(Some(&wire), Some(&mask(&["games"])), &current, &owner());
        assert_eq!(changed, Ok(Settings { games: 3, ..current.clone() }));
        assert_eq!(read_changed_settings(None, None, &current, &owner()), Ok(current.clone()));
        let whole = read_changed_settings(Some(&wire), Some(&mask(&["*"])), &current, &owner()).unwrap();
        assert_eq!((whole.name.as_str(), whole.games), ("New", 3));
        let unnamed = v1::RoomSettings { name: String::new(), ..wire };
        for mask in [mask(&["name"]), mask(&["*"])] {
            let renamed = read_changed_settings(Some(&unnamed), Some(&mask), &current, &owner()).unwrap();
            assert_eq!(renamed.name.as_str(), "Ada", "the default");
        }
    }

    #[test]
    fn a_name_of_older_rules_stays_until_it_is_changed() {
        let current = Settings::named(RoomName::from_stored("a\u{ad}b").unwrap());
        let wire = v1::RoomSettings { name: "c\u{ad}d".into(), games: 3, ..Default::default() };
        let changed = read_changed_settings(Some(&wire), Some(&mask(&["games"])), &current, &owner());
        assert_eq!(changed, Ok(Settings { games: 3, ..current.clone() }));
        assert_eq!(read_changed_settings(Some(&wire), None, &current, &owner()).unwrap_err().field, "settings.name");
    }

    #[test]
    fn every_field_can_be_set_without_a_mask() {
        let length = Some(prost_types::Duration { seconds: 1, nanos: 0 });
        let all = v1::RoomSettings {
            auto_start: true,
            rated: true,
            total_time: length,
            sprt: Some(v1::Sprt::default()),
            opponents: Some(v1::Opponents::default()),
            ..room_settings(&fixture::settings())
        };
        let unset = v1::RoomSettings::default();
        for path in paths() {
            assert_ne!(merge(&unset, &all, std::slice::from_ref(&path)), unset, "{path}");
        }
        assert_eq!(merge(&unset, &all, &[]), all);
    }

    #[test]
    fn without_a_mask_only_set_fields_change() {
        let total_time = Some(prost_types::Duration { seconds: 60, nanos: 0 });
        let all = v1::RoomSettings { rated: true, auto_start: true, total_time, ..room_settings(&fixture::settings()) };
        let current = read_new_settings(Some(all.clone()), &owner()).unwrap();
        let nothing = v1::RoomSettings::default();
        assert_eq!(read_changed_settings(Some(&nothing), None, &current, &owner()), Ok(current.clone()));
        assert_eq!(
            read_changed_settings(Some(&all), None, &Settings::named(current.name.clone()), &owner()),
            Ok(current.clone())
        );
        let wire = v1::RoomSettings { games: 3, ..nothing };
        assert_eq!(read_changed_settings(Some(&wire), None, &current, &owner()), Ok(Settings { games: 3, ..current }));
    }

    #[test]
    fn an_invalid_field_is_named() {
        let current = fixture::settings();
        let unknown = read_changed_settings(None, Some(&mask(&["games", "seats"])), &current, &owner()).unwrap_err();
        assert_eq!((unknown.reason, unknown.field.as_str()), (Malformed::BAD_SETTINGS, "update_mask.paths[1]"));

        let moves = |text: &str| v1::Opening { opening: Some(v1::opening::Opening::Moves(text.into())) };
        let wire = v1::RoomSettings { opening: Some(moves("f5f5")), ..Default::default() };
        assert_eq!(read_new_settings(Some(wire), &owner()).unwrap_err().field, "settings.opening.moves");
        let zero = Some(prost_types::Duration::default());
        let wire = v1::RoomSettings { move_limit: zero, ..Default::default() };
        assert_eq!(read_new_settings(Some(wire), &owner()).unwrap_err().field, "settings.move_limit");
    }
}
