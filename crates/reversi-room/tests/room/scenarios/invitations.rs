//! Invitations: seats that are kept for a player for some time.

use reversi_engine::rules::Color::{Black, White};
use reversi_room::{
    Command, Credentials, DeclineReason, Fact, Invitation, InvitationEnd, Issuer, Occupant, Rejection, SeatSetting,
    Settings, Visibility,
};

use crate::fixtures::test_room::{TestRoom, ban, default_settings, id, profile, secs};

fn invite(who: &str, seconds: u64) -> Command {
    let invited = SeatSetting::Invited { guest: profile(who), lasts: secs(seconds), by_rating: Some(1_612) };
    Command::SetSeat(White, invited)
}

fn ended(end: InvitationEnd) -> Fact {
    Fact::InvitationEnded { seat: White, guest: profile("bob"), end }
}

fn private() -> Settings {
    Settings { visibility: Visibility::Private, ..default_settings() }
}

#[test]
fn an_invitation_admits_its_guest_until_it_ends() {
    let mut test = TestRoom::of(private()).sit("ada", Black);
    test.ok("ada", invite("bob", 120));
    let until = test.now.after(secs(120));
    let invitation = Invitation { guest: profile("bob"), by: id("ada"), by_rating: Some(1_612), until };
    assert_eq!(test.room.seats().white.occupant, Occupant::Invited(invitation));
    assert_eq!(test.room.deadline(), Some(until));
    test.wait(secs(119));
    let mut joined = test.room.clone();
    let join = Command::Join(profile("bob"), Credentials::default());
    for command in [join.clone(), Command::TakeSeat(White)] {
        for event in joined.decide(test.now, Issuer::Player(id("bob")), command).expect("admitted") {
            joined.apply(&event);
        }
    }
    assert_eq!(joined.seat_of(id("bob")), Some(White));
    let not_ready = Fact::ReadyChanged { seat: Black, ready: false, request: None };
    assert_eq!(
        test.wait(secs(1)),
        [ended(InvitationEnd::Expired), not_ready],
        "who was ready for bob is not for others"
    );
    assert_eq!(test.room.seats().white.occupant, Occupant::Open);
    assert_eq!(test.refused("bob", join), Rejection::RoomNotFound);
    assert!(joined.deadline() > Some(until), "the seat is taken");
}

#[test]
fn a_player_with_a_seat_is_not_invited() {
    let mut test = TestRoom::seated(default_settings());
    test.ok("ada", Command::LeaveSeat);
    let invited = SeatSetting::Invited { guest: profile("bob"), lasts: secs(120), by_rating: None };
    assert!(matches!(test.refused("ada", Command::SetSeat(Black, invited)), Rejection::WrongPhase(_)));
}

#[test]
fn only_the_guest_declines() {
    let mut test = TestRoom::lobby().join("cy");
    let reason = DeclineReason::parse("I play a long game").ok();
    let decline = Command::DeclineInvitation(reason.clone());
    for seat in [invite("bob", 60), Command::SetSeat(White, SeatSetting::Reserved(profile("bob")))] {
        test.ok("ada", seat);
        for other in ["ada", "cy", "eve", "admin"] {
            assert!(matches!(test.refused(other, decline.clone()), Rejection::WrongPhase(_)), "{other}");
        }
        assert_eq!(test.ok("bob", decline.clone()), [ended(InvitationEnd::Declined(reason.clone()))]);
        assert!(matches!(test.refused("bob", decline.clone()), Rejection::WrongPhase(_)), "once");
    }
    let mut hidden = TestRoom::of(private());
    assert_eq!(hidden.refused("bob", decline), Rejection::RoomNotFound);
}

#[test]
fn others_do_not_take_the_seat_of_a_guest() {
    let mut test = TestRoom::lobby().join("cy");
    test.ok("ada", invite("bob", 60));
    assert_eq!(test.refused("cy", Command::TakeSeat(White)), Rejection::SeatTaken);
    assert_eq!(test.refused("cy", invite("cy", 60)), Rejection::NotOwner);
    test.ok("admin", ban("bob"));
    assert_eq!(test.room.seats().white.occupant, Occupant::Open);
    assert_eq!(test.refused("ada", invite("bob", 60)), Rejection::Banned);
}

#[test]
fn a_time_is_within_bounds_and_a_seat_that_is_only_reserved_stays() {
    let mut test = TestRoom::lobby();
    for (asked, kept) in [(0, 10), (u64::from(u32::MAX), 86_400)] {
        test.ok("ada", invite("bob", asked));
        let until = test.room.seats().white.occupant.invitation().map(|invitation| invitation.until);
        assert_eq!(until, Some(test.now.after(secs(kept))));
    }
    test.ok("ada", Command::SetSeat(White, SeatSetting::Reserved(profile("bob"))));
    assert_eq!(test.wait(secs(300)), []);
    assert!(test.room.seats().white.occupant.guest().is_some());
}
