//! The score of a series in pairs as text.

use crate::{
    client::{Room, SeriesScore, Settings},
    match_statistics::Difference,
};

/// Such as `ann: 12 won, 3 drawn, 5 lost, +127 Elo (+12 to +271)`.
pub(in crate::cli) fn describe(room: &Room, score: &SeriesScore) -> String {
    let difference = Difference::of(&score.score).map(|difference| format!(", {difference}"));
    format!("{}: {}{}", room.seats[score.first].occupant, score.score, difference.unwrap_or_default())
}

/// The result of the SPRT, if it has ended.
pub(in crate::cli) fn verdict(settings: &Settings, score: Option<&SeriesScore>) -> Option<String> {
    let sprt = settings.sprt?;
    let elo = sprt.believed(sprt.verdict(&score?.score)?);
    Some(format!("a difference of {elo:+} Elo is accepted"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{client::fixture, match_statistics::Score, rules::Color};

    #[test]
    fn a_score_is_shown_for_the_first_black_player() {
        let score = Score { wins: 9, losses: 1, pairs: [0, 0, 1, 0, 4], ..Score::default() };
        let score = SeriesScore { first: Color::White, score };
        assert_eq!(describe(&fixture::room(), &score), "open: 9 won, 0 drawn, 1 lost, +382 Elo (+65 to +877)");
        let settings = Settings { sprt: "0,300".parse().ok(), ..Settings::default() };
        assert_eq!(verdict(&settings, Some(&score)), None);
        let surer = SeriesScore { score: Score { pairs: [0, 0, 1, 0, 14], ..score.score }, ..score };
        assert_eq!(verdict(&settings, Some(&surer)).as_deref(), Some("a difference of +300 Elo is accepted"));
        assert_eq!(verdict(&Settings::default(), Some(&surer)), None);
    }
}
