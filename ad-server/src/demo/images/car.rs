//! Cars, from the side, from the front and from behind.

use super::{
    Subject, View,
    canvas::{Canvas, Colour, Outline, Paint, Point},
    plate,
};

const RUBBER: Colour = Colour([28, 29, 32]);
const LAMP: Colour = Colour([238, 244, 250]);
const TAIL_LAMP: Colour = Colour([206, 30, 34]);
/// Where the wheels stand.
const GROUND: f32 = 392.0;
/// Lower edge of the body.
const SILL: f32 = 366.0;

fn glass() -> Paint {
    Paint::down(Colour([70, 92, 108]), Colour([28, 38, 48]))
}

/// The measures in which bodies differ. Seen from the side, the car heads right.
struct Body {
    tail: f32,
    nose: f32,
    /// Lower edge of the windows.
    belt: f32,
    roof: f32,
    /// Rear window: its foot and its top.
    rear: (f32, f32),
    /// Windscreen: its top and its foot.
    front: (f32, f32),
    /// Height of what is behind the rear window.
    deck: f32,
    wheel: f32,
    open: bool,
}

impl Body {
    fn of(body_type: &str) -> Self {
        let sedan = Self {
            tail: 74.0,
            nose: 568.0,
            belt: 272.0,
            roof: 214.0,
            rear: (132.0, 214.0),
            front: (356.0, 440.0),
            deck: 282.0,
            wheel: 40.0,
            open: false,
        };
        match body_type {
            "suv" | "off_road" => Self {
                tail: 84.0,
                nose: 562.0,
                belt: 250.0,
                roof: 182.0,
                rear: (100.0, 138.0),
                front: (362.0, 430.0),
                deck: 256.0,
                wheel: 46.0,
                ..sedan
            },
            "estate" => Self { rear: (88.0, 140.0), deck: 276.0, roof: 212.0, ..sedan },
            "hatchback" => Self {
                tail: 110.0,
                nose: 548.0,
                belt: 264.0,
                roof: 200.0,
                rear: (122.0, 174.0),
                front: (356.0, 432.0),
                deck: 270.0,
                ..sedan
            },
            "mpv" | "other" => {
                Self { belt: 254.0, roof: 170.0, rear: (86.0, 106.0), front: (392.0, 486.0), deck: 258.0, ..sedan }
            }
            "pickup" => Self {
                belt: 254.0,
                roof: 186.0,
                rear: (250.0, 262.0),
                front: (388.0, 446.0),
                deck: 266.0,
                wheel: 46.0,
                ..sedan
            },
            "coupe" => Self { roof: 220.0, rear: (112.0, 236.0), front: (330.0, 430.0), ..sedan },
            "convertible" | "roadster" => Self {
                tail: 96.0,
                nose: 552.0,
                front: (366.0, 424.0),
                roof: 226.0,
                rear: (170.0, 190.0),
                deck: 276.0,
                open: true,
                ..sedan
            },
            _ => sedan,
        }
    }
}

pub(super) fn draw(canvas: &mut Canvas, subject: &Subject, view: View, colour: Colour) {
    let body = Body::of(&subject.body_type);
    match view {
        View::Side | View::OtherSide => side(canvas, &body, colour),
        View::Front => ahead(canvas, &body, colour, subject, true),
        View::Rear => ahead(canvas, &body, colour, subject, false),
    }
}

fn side(canvas: &mut Canvas, body: &Body, colour: Colour) {
    let middle = f32::midpoint(body.tail, body.nose);
    let shadow = Outline::ellipse((middle, GROUND), (body.nose - body.tail) * 0.54, 15.0);
    canvas.fill(&shadow, Paint::from(Colour::BLACK).strength(0.35));
    if body.open {
        cockpit(canvas, body);
    } else {
        cabin(canvas, body, colour);
    }
    shell(canvas, body, colour);
    let axle = GROUND - body.wheel;
    for x in [body.tail + 96.0, body.nose - 92.0] {
        canvas.fill(&Outline::circle((x, axle), body.wheel + 7.0).above(SILL + 2.0), Colour([20, 21, 24]));
        wheel(canvas, (x, axle), body.wheel);
    }
}

/// Roof, pillars and windows.
fn cabin(canvas: &mut Canvas, body: &Body, colour: Colour) {
    let Body { belt, roof, rear, front, .. } = *body;
    let house = |inset: f32| {
        Outline::from((rear.0 + inset * 1.6, belt + 6.0 - inset))
            .curve((rear.1 - 12.0 + inset, roof + 8.0 + inset), (rear.1 + inset, roof + inset))
            .curve((f32::midpoint(rear.1, front.0), roof - 9.0 + inset), (front.0 - inset * 0.6, roof + 2.0 + inset))
            .curve((front.0 + 34.0 - inset, roof + 16.0 + inset), (front.1 - inset * 1.8, belt + 6.0 - inset))
    };
    canvas.fill(&house(0.0), Paint::down(colour.lighter(0.3), colour));
    canvas.fill(&house(8.0), glass());
    let shine = Outline::of(&[
        (front.0 - 70.0, roof + 12.0),
        (front.0 - 40.0, roof + 12.0),
        (front.0 - 78.0, belt - 4.0),
        (front.0 - 116.0, belt - 4.0),
    ]);
    canvas.fill(&shine, Paint::from(Colour::WHITE).strength(0.16));
    let pillars = [0.37, 0.72].map(|share| rear.1 + (front.0 + 26.0 - rear.1) * share);
    for x in pillars.into_iter().filter(|x| *x - rear.1 > 44.0) {
        canvas.fill(&Outline::stroke((x, roof), (x - 3.0, belt + 4.0), 8.0), colour.darker(0.25));
    }
}

/// Windscreen and seats of an open car.
fn cockpit(canvas: &mut Canvas, body: &Body) {
    for x in [262.0, 322.0] {
        canvas.fill(&Outline::rounded(x, body.belt - 34.0, 22.0, 50.0, 9.0), Colour([92, 62, 44]));
        canvas.fill(&Outline::rounded(x + 3.0, body.belt - 48.0, 16.0, 18.0, 6.0), Colour([104, 72, 52]));
    }
    let screen = Outline::of(&[
        (body.front.0, body.roof),
        (body.front.0 + 8.0, body.roof),
        (body.front.1 + 6.0, body.belt + 6.0),
        (body.front.1 - 22.0, body.belt + 6.0),
    ]);
    canvas.fill(&screen, glass().strength(0.75));
    canvas.fill(&Outline::stroke((body.front.0 + 4.0, body.roof), (body.front.1, body.belt + 6.0), 5.0), RUBBER);
}

/// Everything below the windows.
fn shell(canvas: &mut Canvas, body: &Body, colour: Colour) {
    let Body { tail, nose, belt, deck, rear, front, .. } = *body;
    let bonnet = belt + 16.0;
    let outline = Outline::from((tail + 8.0, SILL))
        .curve((tail - 5.0, SILL - 24.0), (tail, deck + 30.0))
        .curve((tail + 1.0, deck + 2.0), (tail + 16.0, deck))
        .line((rear.0.max(tail + 18.0), belt + 2.0))
        .line((front.1, belt + 2.0))
        .curve((nose - 34.0, bonnet - 8.0), (nose - 12.0, bonnet + 26.0))
        .curve((nose + 3.0, bonnet + 40.0), (nose, SILL - 20.0))
        .curve((nose - 1.0, SILL), (nose - 16.0, SILL));
    canvas.fill(&outline, Paint::down(colour.lighter(0.22), colour.darker(0.38)));
    let crease = Outline::from((tail + 10.0, belt + 34.0))
        .curve((f32::midpoint(tail, nose), belt + 20.0), (nose - 40.0, belt + 36.0))
        .curve((f32::midpoint(tail, nose), belt + 26.0), (tail + 10.0, belt + 34.0));
    canvas.fill(&crease, Paint::from(Colour::WHITE).strength(0.35));
    canvas.fill(&Outline::rounded(tail + 20.0, SILL - 11.0, nose - tail - 40.0, 11.0, 4.0), Colour([34, 35, 38]));
    doors(canvas, body, colour);
    let lamp = Outline::from((nose - 44.0, bonnet + 18.0))
        .curve((nose - 16.0, bonnet + 18.0), (nose - 7.0, bonnet + 36.0))
        .curve((nose - 30.0, bonnet + 38.0), (nose - 44.0, bonnet + 18.0));
    canvas.fill(&lamp, LAMP);
    canvas.fill(&Outline::rounded(tail - 1.0, deck + 14.0, 24.0, 18.0, 6.0), TAIL_LAMP);
    canvas.fill(&Outline::rounded(front.1 - 34.0, belt - 10.0, 22.0, 15.0, 6.0), colour.darker(0.2));
}

fn doors(canvas: &mut Canvas, body: &Body, colour: Colour) {
    let line = Paint::from(colour.darker(0.6)).strength(0.6);
    let seams: &[f32] = if body.open { &[246.0, 404.0] } else { &[206.0, 306.0, 412.0] };
    for (index, x) in seams.iter().enumerate() {
        if *x <= body.rear.0 {
            continue;
        }
        canvas.fill(&Outline::stroke((*x, body.belt + 6.0), (x - 4.0, SILL - 12.0), 1.8), line);
        if index > 0 {
            canvas.fill(&Outline::rounded(x - 92.0, body.belt + 18.0, 24.0, 6.0, 3.0), colour.lighter(0.35));
        }
    }
}

fn wheel(canvas: &mut Canvas, centre: Point, radius: f32) {
    canvas.fill(&Outline::circle(centre, radius), RUBBER);
    canvas.fill(&Outline::circle(centre, radius * 0.7), Colour([176, 180, 186]));
    canvas.fill(&Outline::circle(centre, radius * 0.62), Colour([58, 60, 66]));
    for spoke in 0..5_u8 {
        let angle = std::f32::consts::TAU * (f32::from(spoke) / 5.0 + 0.05);
        let tip = (centre.0 + radius * 0.66 * angle.cos(), centre.1 + radius * 0.66 * angle.sin());
        canvas.fill(&Outline::stroke(centre, tip, radius * 0.17), Colour([196, 200, 206]));
    }
    canvas.fill(&Outline::circle(centre, radius * 0.15), Colour([120, 124, 130]));
}

/// The front, or the rear.
fn ahead(canvas: &mut Canvas, body: &Body, colour: Colour, subject: &Subject, front: bool) {
    const MIDDLE: f32 = 320.0;
    let half = if body.wheel > 42.0 { 132.0 } else { 126.0 };
    let Body { belt, roof, .. } = *body;
    let both = [-1.0, 1.0];
    canvas.fill(&Outline::ellipse((MIDDLE, GROUND), half * 1.15, 14.0), Paint::from(Colour::BLACK).strength(0.35));
    for sign in both {
        canvas.fill(&Outline::rounded(MIDDLE + sign * (half - 24.0) - 17.0, 330.0, 34.0, 62.0, 8.0), RUBBER);
    }
    house(canvas, MIDDLE, half, body, colour);
    let shell = Outline::from((MIDDLE - half * 0.86, belt))
        .curve((MIDDLE, belt - 10.0), (MIDDLE + half * 0.86, belt))
        .curve((MIDDLE + half, belt + 14.0), (MIDDLE + half, belt + 52.0))
        .line((MIDDLE + half * 0.98, SILL - 8.0))
        .curve((MIDDLE + half * 0.96, SILL + 4.0), (MIDDLE + half * 0.84, SILL + 4.0))
        .line((MIDDLE - half * 0.84, SILL + 4.0))
        .curve((MIDDLE - half * 0.96, SILL + 4.0), (MIDDLE - half * 0.98, SILL - 8.0))
        .line((MIDDLE - half, belt + 52.0))
        .curve((MIDDLE - half, belt + 14.0), (MIDDLE - half * 0.86, belt));
    canvas.fill(&shell, Paint::down(colour.lighter(0.25), colour.darker(0.35)));
    for sign in both {
        let ear = Outline::ellipse((MIDDLE + sign * (half + 5.0), belt - 2.0), 15.0, 9.0);
        canvas.fill(&ear, colour.darker(0.25));
    }
    canvas.fill(&Outline::rounded(MIDDLE - half * 0.8, SILL - 18.0, half * 1.6, 20.0, 8.0), Colour([36, 37, 41]));
    if front {
        face(canvas, MIDDLE, half, belt);
    } else {
        back(canvas, MIDDLE, half, belt, colour);
    }
    plate(canvas, &subject.plate, (MIDDLE, if front { SILL - 14.0 } else { belt + 62.0 }));
    canvas.fill(
        &Outline::stroke((MIDDLE - 40.0, roof + 3.0), (MIDDLE + 40.0, roof + 3.0), 2.0),
        Paint::from(Colour::WHITE).strength(if body.open { 0.0 } else { 0.4 }),
    );
}

/// Roof and window, seen along the car.
fn house(canvas: &mut Canvas, middle: f32, half: f32, body: &Body, colour: Colour) {
    let Body { belt, roof, .. } = *body;
    let frame = |inset: f32| {
        let (foot, top) = (half * 0.88 - inset * 1.3, half * 0.62 - inset);
        Outline::from((middle - foot, belt + 8.0 - inset * 0.5))
            .curve((middle - top - 8.0, roof + 10.0 + inset), (middle - top + 8.0, roof + inset))
            .curve((middle, roof - 8.0 + inset), (middle + top - 8.0, roof + inset))
            .curve((middle + top + 8.0, roof + 10.0 + inset), (middle + foot, belt + 8.0 - inset * 0.5))
    };
    let paint = if body.open { Paint::from(RUBBER) } else { Paint::down(colour.lighter(0.2), colour) };
    canvas.fill(&frame(0.0), paint);
    canvas.fill(&frame(if body.open { 5.0 } else { 10.0 }), glass());
    let shine = Outline::of(&[
        (middle - half * 0.3, roof + 14.0),
        (middle - half * 0.1, roof + 14.0),
        (middle - half * 0.34, belt - 4.0),
        (middle - half * 0.58, belt - 4.0),
    ]);
    canvas.fill(&shine, Paint::from(Colour::WHITE).strength(0.14));
}

fn face(canvas: &mut Canvas, middle: f32, half: f32, belt: f32) {
    canvas.fill(&Outline::rounded(middle - half * 0.42, belt + 32.0, half * 0.84, 30.0, 9.0), Colour([30, 32, 36]));
    for bar in [39.0, 47.0, 55.0] {
        canvas.fill(&Outline::rectangle(middle - half * 0.38, belt + bar, half * 0.76, 2.0), Colour([120, 124, 130]));
    }
    canvas.fill(&Outline::circle((middle, belt + 47.0), 9.0), Colour([200, 204, 210]));
    canvas.fill(&Outline::circle((middle, belt + 47.0), 6.0), Colour([60, 64, 72]));
    for sign in [-1.0, 1.0] {
        let lamp = Outline::from((middle + sign * half * 0.5, belt + 40.0))
            .curve((middle + sign * half * 0.8, belt + 26.0), (middle + sign * half * 0.95, belt + 30.0))
            .curve((middle + sign * half * 0.96, belt + 52.0), (middle + sign * half * 0.86, belt + 56.0))
            .curve((middle + sign * half * 0.6, belt + 58.0), (middle + sign * half * 0.5, belt + 40.0));
        canvas.fill(&lamp, LAMP);
        canvas.fill(&Outline::circle((middle + sign * half * 0.78, belt + 43.0), 8.0), Colour([168, 186, 204]));
        canvas.fill(&Outline::circle((middle + sign * half * 0.78, belt + 43.0), 4.0), Colour::WHITE);
    }
}

fn back(canvas: &mut Canvas, middle: f32, half: f32, belt: f32, colour: Colour) {
    for sign in [-1.0, 1.0] {
        let lamp = Outline::from((middle + sign * half * 0.98, belt + 24.0))
            .line((middle + sign * half * 0.56, belt + 30.0))
            .curve((middle + sign * half * 0.54, belt + 48.0), (middle + sign * half * 0.66, belt + 50.0))
            .line((middle + sign * half, belt + 58.0));
        canvas.fill(&lamp, Paint::down(TAIL_LAMP.lighter(0.15), TAIL_LAMP.darker(0.25)));
        let pipe = Outline::ellipse((middle + sign * half * 0.58, SILL - 2.0), 11.0, 6.0);
        canvas.fill(&pipe, Colour([150, 152, 156]));
    }
    let seam = Paint::from(colour.darker(0.6)).strength(0.5);
    canvas.fill(&Outline::rectangle(middle - half * 0.56, belt + 38.0, half * 1.12, 2.0), seam);
    canvas.fill(&Outline::rectangle(middle - half * 0.74, belt + 84.0, half * 1.48, 2.0), seam);
}
