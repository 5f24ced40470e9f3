//! Boats, from the side, from ahead and from astern.

use super::{
    Subject, View,
    canvas::{Canvas, Colour, Outline, Paint, Point},
};

const WATERLINE: f32 = 362.0;
const GLASS: [Colour; 2] = [Colour([78, 104, 122]), Colour([28, 40, 52])];
const GELCOAT: Colour = Colour([244, 244, 240]);
const STEEL: Colour = Colour([188, 194, 200]);
const MOTOR: Colour = Colour([38, 41, 47]);
const TEAK: Colour = Colour([178, 132, 84]);

/// What stands on the hull.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rig {
    /// Mast and sails.
    Sails,
    /// A cabin or wheelhouse.
    Cabin,
    /// A windscreen or a console.
    Open,
    /// Tubes around a console.
    Rib,
}

impl Rig {
    fn of(body_type: &str) -> Self {
        match body_type {
            "sailing_boat" | "motor_sailer" | "catamaran" | "trimaran" => Self::Sails,
            "rib" | "inflatable" => Self::Rib,
            "bowrider" | "center_console" | "walkaround" | "daycruiser" | "dinghy" | "rowing_boat" => Self::Open,
            _ => Self::Cabin,
        }
    }
}

/// Whether there is a mast, for which the picture needs room.
pub(super) fn has_mast(body_type: &str) -> bool {
    Rig::of(body_type) == Rig::Sails
}

pub(super) fn draw(canvas: &mut Canvas, subject: &Subject, view: View, colour: Colour) {
    let rig = Rig::of(&subject.body_type);
    match view {
        View::Side | View::OtherSide => side(canvas, rig, colour),
        View::Front => along(canvas, rig, colour, true),
        View::Rear => along(canvas, rig, colour, false),
    }
}

fn side(canvas: &mut Canvas, rig: Rig, colour: Colour) {
    let (stern, bow) = (96.0, 560.0);
    let shade = Outline::ellipse((320.0, WATERLINE + 10.0), 250.0, 20.0);
    canvas.fill(&shade, Paint::from(colour.darker(0.6)).strength(0.35));
    match rig {
        Rig::Sails => sails(canvas),
        Rig::Cabin => cabin(canvas),
        Rig::Open => screen(canvas),
        Rig::Rib => console(canvas),
    }
    if rig != Rig::Sails && rig != Rig::Cabin {
        outboard(canvas, (stern + 2.0, WATERLINE - 62.0));
    }
    if rig == Rig::Rib {
        tube(canvas, colour);
    } else {
        hull(canvas, stern, bow, if rig == Rig::Sails { 306.0 } else { 292.0 }, colour);
    }
    let foam = Outline::from((stern - 46.0, WATERLINE + 3.0))
        .curve((stern + 30.0, WATERLINE - 5.0), (bow - 40.0, WATERLINE + 2.0))
        .curve((bow - 160.0, WATERLINE + 9.0), (stern - 46.0, WATERLINE + 3.0));
    canvas.fill(&foam, Paint::from(Colour::WHITE).strength(0.65));
}

fn hull(canvas: &mut Canvas, stern: f32, bow: f32, deck: f32, colour: Colour) {
    let sheer = |drop: f32| {
        Outline::from((stern, deck + 6.0 + drop))
            .curve((360.0, deck + 8.0 + drop), (bow, deck - 24.0 + drop * 0.9))
            .curve((bow - 46.0, WATERLINE - 8.0), (bow - 104.0, WATERLINE + 4.0))
            .line((stern + 14.0, WATERLINE + 4.0))
    };
    canvas.fill(&sheer(0.0), Paint::down(colour.lighter(0.25), colour.darker(0.3)));
    let stripe = Outline::from((stern, deck + 8.0))
        .curve((360.0, deck + 10.0), (bow - 2.0, deck - 22.0))
        .line((bow - 6.0, deck - 15.0))
        .curve((360.0, deck + 19.0), (stern + 1.0, deck + 16.0));
    canvas.fill(&stripe, TEAK);
    let boot = Outline::of(&[
        (stern + 12.0, WATERLINE - 9.0),
        (bow - 88.0, WATERLINE - 9.0),
        (bow - 104.0, WATERLINE + 4.0),
        (stern + 14.0, WATERLINE + 4.0),
    ]);
    canvas.fill(&boot, Colour([150, 38, 40]));
    for post in [bow - 16.0, bow - 62.0, bow - 108.0] {
        let foot = deck - 24.0 + (bow - post) * 0.16;
        canvas.fill(&Outline::stroke((post, foot), (post, foot - 24.0), 2.2), STEEL);
    }
    canvas.fill(&Outline::stroke((bow - 16.0, deck - 46.0), (bow - 108.0, deck - 31.0), 2.6), STEEL);
}

fn cabin(canvas: &mut Canvas) {
    let low =
        Outline::from((250.0, 300.0)).line((262.0, 256.0)).line((404.0, 254.0)).curve((450.0, 258.0), (490.0, 292.0));
    canvas.fill(&low, Paint::down(GELCOAT, GELCOAT.darker(0.15)));
    for x in [386.0, 420.0] {
        canvas.fill(&Outline::ellipse((x, 276.0), 12.0, 6.0), GLASS[1]);
    }
    let house = |inset: f32| {
        Outline::from((206.0 + inset, 300.0 - inset))
            .line((214.0 + inset, 204.0 + inset))
            .line((346.0 - inset * 0.6, 204.0 + inset))
            .line((398.0 - inset * 1.8, 262.0 - inset))
            .line((396.0 - inset * 1.8, 300.0 - inset))
    };
    canvas.fill(&house(0.0), Paint::down(GELCOAT, GELCOAT.darker(0.12)));
    let glass = Outline::of(&[(224.0, 216.0), (340.0, 216.0), (382.0, 260.0), (222.0, 260.0)]);
    canvas.fill(&glass, Paint::down(GLASS[0], GLASS[1]));
    for x in [268.0, 318.0] {
        canvas.fill(&Outline::rectangle(x, 214.0, 7.0, 48.0), GELCOAT);
    }
    canvas.fill(&Outline::rounded(188.0, 196.0, 178.0, 12.0, 6.0), GELCOAT.darker(0.08));
    canvas.fill(&Outline::stroke((230.0, 196.0), (222.0, 150.0), 3.0), STEEL);
    canvas.fill(&Outline::stroke((264.0, 196.0), (264.0, 178.0), 6.0), STEEL);
    canvas.fill(&Outline::ellipse((264.0, 174.0), 20.0, 5.0), GELCOAT);
}

fn screen(canvas: &mut Canvas) {
    canvas.fill(&Outline::rounded(156.0, 262.0, 46.0, 50.0, 10.0), Colour([216, 208, 190]));
    canvas.fill(&Outline::rounded(236.0, 258.0, 36.0, 52.0, 10.0), Colour([216, 208, 190]));
    let console = Outline::from((300.0, 306.0)).line((312.0, 268.0)).curve((420.0, 262.0), (486.0, 290.0));
    canvas.fill(&console, Paint::down(GELCOAT, GELCOAT.darker(0.15)));
    let glass = Outline::of(&[(290.0, 226.0), (304.0, 224.0), (372.0, 270.0), (308.0, 272.0)]);
    canvas.fill(&glass, Paint::down(GLASS[0], GLASS[1]).strength(0.85));
    canvas.fill(&Outline::stroke((288.0, 226.0), (308.0, 224.0), 4.0), STEEL);
    canvas.fill(&Outline::stroke((304.0, 224.0), (374.0, 270.0), 4.0), STEEL);
}

fn console(canvas: &mut Canvas) {
    canvas.fill(&Outline::rounded(196.0, 258.0, 62.0, 70.0, 10.0), Colour([70, 74, 80]));
    let stand = Outline::of(&[(286.0, 330.0), (290.0, 252.0), (336.0, 256.0), (352.0, 330.0)]);
    canvas.fill(&stand, Paint::down(GELCOAT, GELCOAT.darker(0.2)));
    let glass = Outline::of(&[(288.0, 222.0), (300.0, 220.0), (338.0, 258.0), (290.0, 254.0)]);
    canvas.fill(&glass, Paint::down(GLASS[0], GLASS[1]).strength(0.8));
    canvas.fill(&Outline::stroke((180.0, 320.0), (190.0, 208.0), 5.0), STEEL);
    canvas.fill(&Outline::stroke((186.0, 210.0), (236.0, 210.0), 5.0), STEEL);
}

fn tube(canvas: &mut Canvas, colour: Colour) {
    let keel =
        Outline::from((120.0, 340.0)).line((520.0, 336.0)).curve((470.0, 366.0), (430.0, 366.0)).line((130.0, 366.0));
    canvas.fill(&keel, GELCOAT.darker(0.1));
    let tube = Outline::from((100.0, 312.0))
        .line((430.0, 312.0))
        .curve((520.0, 308.0), (566.0, 278.0))
        .curve((584.0, 284.0), (570.0, 298.0))
        .curve((510.0, 350.0), (430.0, 350.0))
        .line((100.0, 350.0))
        .curve((82.0, 331.0), (100.0, 312.0));
    canvas.fill(&tube, Paint::down(colour.lighter(0.35), colour.darker(0.35)));
    canvas.fill(&Outline::rounded(104.0, 328.0, 340.0, 5.0, 2.0), Paint::from(Colour::BLACK).strength(0.45));
    for x in [190.0, 290.0, 390.0] {
        canvas.fill(&Outline::rectangle(x, 312.0, 6.0, 38.0), Paint::from(Colour::BLACK).strength(0.25));
    }
}

fn sails(canvas: &mut Canvas) {
    let coach = Outline::from((214.0, 312.0))
        .curve((232.0, 276.0), (270.0, 276.0))
        .line((390.0, 278.0))
        .curve((430.0, 282.0), (456.0, 306.0));
    canvas.fill(&coach, Paint::down(GELCOAT, GELCOAT.darker(0.15)));
    for x in [280.0, 320.0, 360.0] {
        canvas.fill(&Outline::rounded(x, 286.0, 24.0, 9.0, 4.0), GLASS[1]);
    }
    let main = Outline::from((322.0, 42.0)).curve((232.0, 150.0), (150.0, 256.0)).line((322.0, 260.0));
    canvas.fill(&main, Paint::down(Colour::WHITE, Colour([222, 226, 230])));
    let jib = Outline::from((334.0, 66.0)).curve((420.0, 190.0), (540.0, 274.0)).curve((430.0, 262.0), (348.0, 268.0));
    canvas.fill(&jib, Paint::down(Colour([250, 250, 248]), Colour([206, 212, 220])));
    for (share, length) in [(0.3, 40.0), (0.55, 80.0), (0.8, 128.0)] {
        let y = 42.0 + 216.0 * share;
        canvas.fill(&Outline::stroke((322.0 - length, y + 4.0), (322.0, y), 1.4), Colour([190, 196, 204]));
    }
    canvas.fill(&Outline::stroke((328.0, 30.0), (328.0, 296.0), 6.0), STEEL);
    canvas.fill(&Outline::stroke((140.0, 264.0), (328.0, 266.0), 6.0), STEEL);
    canvas.fill(&Outline::stroke((328.0, 34.0), (556.0, 282.0), 1.2), Colour([90, 96, 104]));
    canvas.fill(&Outline::stroke((328.0, 34.0), (104.0, 306.0), 1.2), Colour([90, 96, 104]));
}

fn outboard(canvas: &mut Canvas, (x, y): Point) {
    canvas.fill(&Outline::rectangle(x - 22.0, y + 30.0, 13.0, 50.0), MOTOR.darker(0.3));
    canvas.fill(&Outline::rounded(x - 36.0, y - 22.0, 42.0, 56.0, 12.0), Paint::down(MOTOR.lighter(0.25), MOTOR));
    canvas.fill(&Outline::rectangle(x - 35.0, y + 4.0, 40.0, 4.0), STEEL);
}

/// Seen along the boat: from ahead, or from astern.
fn along(canvas: &mut Canvas, rig: Rig, colour: Colour, ahead: bool) {
    const MIDDLE: f32 = 320.0;
    canvas
        .fill(&Outline::ellipse((MIDDLE, WATERLINE + 8.0), 130.0, 16.0), Paint::from(colour.darker(0.6)).strength(0.4));
    above(canvas, MIDDLE, rig);
    let keel = if ahead { 26.0 } else { 84.0 };
    let hull = Outline::from((MIDDLE - 112.0, 282.0))
        .curve((MIDDLE, if ahead { 262.0 } else { 290.0 }), (MIDDLE + 112.0, 282.0))
        .curve((MIDDLE + 98.0, 340.0), (MIDDLE + keel, WATERLINE + 4.0))
        .line((MIDDLE - keel, WATERLINE + 4.0))
        .curve((MIDDLE - 98.0, 340.0), (MIDDLE - 112.0, 282.0));
    canvas.fill(&hull, Paint::down(colour.lighter(0.3), colour.darker(0.35)));
    for sign in [-1.0, 1.0] {
        let rail = Outline::from((MIDDLE + sign * 112.0, 278.0))
            .curve(
                (MIDDLE + sign * 40.0, if ahead { 264.0 } else { 284.0 }),
                (MIDDLE, if ahead { 268.0 } else { 284.0 }),
            )
            .line((MIDDLE, if ahead { 275.0 } else { 291.0 }))
            .curve((MIDDLE + sign * 40.0, if ahead { 271.0 } else { 291.0 }), (MIDDLE + sign * 112.0, 287.0));
        canvas.fill(&rail, if rig == Rig::Rib { colour.darker(0.4) } else { TEAK });
    }
    if ahead {
        canvas.fill(
            &Outline::stroke((MIDDLE, 272.0), (MIDDLE, WATERLINE + 2.0), 3.0),
            Paint::from(Colour::WHITE).strength(0.5),
        );
    } else {
        canvas
            .fill(&Outline::rounded(MIDDLE - 70.0, 312.0, 140.0, 10.0, 4.0), Paint::from(Colour::BLACK).strength(0.25));
        if rig != Rig::Sails {
            outboard(canvas, (MIDDLE + 15.0, 296.0));
        }
    }
    let foam = Outline::ellipse((MIDDLE, WATERLINE + 5.0), 108.0, 5.0);
    canvas.fill(&foam, Paint::from(Colour::WHITE).strength(0.6));
}

/// What rises above the hull, seen along the boat.
fn above(canvas: &mut Canvas, middle: f32, rig: Rig) {
    match rig {
        Rig::Sails => {
            canvas.fill(&Outline::rounded(middle - 62.0, 252.0, 124.0, 40.0, 14.0), GELCOAT.darker(0.05));
            canvas.fill(&Outline::stroke((middle, 40.0), (middle, 270.0), 6.0), STEEL);
            let sail = Outline::from((middle + 3.0, 52.0))
                .curve((middle + 58.0, 160.0), (middle + 46.0, 250.0))
                .line((middle + 3.0, 254.0));
            canvas.fill(&sail, Paint::down(Colour::WHITE, Colour([216, 222, 228])));
            for sign in [-1.0, 1.0] {
                canvas
                    .fill(&Outline::stroke((middle, 60.0), (middle + sign * 106.0, 280.0), 1.2), Colour([90, 96, 104]));
            }
        }
        Rig::Cabin => {
            let house = Outline::of(&[
                (middle - 86.0, 288.0),
                (middle - 70.0, 196.0),
                (middle + 70.0, 196.0),
                (middle + 86.0, 288.0),
            ]);
            canvas.fill(&house, Paint::down(GELCOAT, GELCOAT.darker(0.12)));
            let glass = Outline::of(&[
                (middle - 68.0, 248.0),
                (middle - 60.0, 208.0),
                (middle + 60.0, 208.0),
                (middle + 68.0, 248.0),
            ]);
            canvas.fill(&glass, Paint::down(GLASS[0], GLASS[1]));
            canvas.fill(&Outline::rectangle(middle - 3.0, 206.0, 6.0, 44.0), GELCOAT);
            canvas.fill(&Outline::rounded(middle - 82.0, 188.0, 164.0, 11.0, 5.0), GELCOAT.darker(0.08));
            canvas.fill(&Outline::stroke((middle, 188.0), (middle, 148.0), 3.0), STEEL);
        }
        Rig::Open | Rig::Rib => {
            let half = if rig == Rig::Rib { 40.0 } else { 84.0 };
            let glass = Outline::of(&[
                (middle - half, 284.0),
                (middle - half * 0.8, 224.0),
                (middle + half * 0.8, 224.0),
                (middle + half, 284.0),
            ]);
            canvas.fill(&glass, Paint::down(GLASS[0], GLASS[1]).strength(0.85));
            canvas.fill(&Outline::stroke((middle - half * 0.82, 224.0), (middle + half * 0.82, 224.0), 4.0), STEEL);
            for sign in [-1.0, 1.0] {
                canvas.fill(
                    &Outline::stroke((middle + sign * half * 0.8, 224.0), (middle + sign * half, 284.0), 4.0),
                    STEEL,
                );
            }
        }
    }
}
