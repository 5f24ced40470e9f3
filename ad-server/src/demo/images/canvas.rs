//! A small canvas: outlines filled with smooth edges. Nothing more than the pictures of the demo need, and quick enough
//! without optimisation: what lies inside an outline is copied by the row, and only its edge is computed.

use std::f32::consts::TAU;

/// Pixels of a picture's width; drawing is measured in them.
pub(super) const WIDTH: f32 = 640.0;
/// Pixels of a picture's height.
pub(super) const HEIGHT: f32 = 480.0;

/// Lines at which each row of pixels is sampled.
const SAMPLES: u8 = 4;

/// A place on the canvas, from the left and from the top.
pub(super) type Point = (f32, f32);

/// Red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Colour(pub(super) [u8; 3]);

impl Colour {
    pub(super) const WHITE: Self = Self([255; 3]);
    pub(super) const BLACK: Self = Self([0; 3]);

    /// This colour with a share of another, 0 to 1.
    pub(super) fn mix(self, other: Self, share: f32) -> Self {
        let mut mixed = self.0;
        for (channel, other) in mixed.iter_mut().zip(other.0) {
            *channel = blend(*channel, other, share);
        }
        Self(mixed)
    }

    pub(super) fn lighter(self, share: f32) -> Self {
        self.mix(Self::WHITE, share)
    }

    pub(super) fn darker(self, share: f32) -> Self {
        self.mix(Self::BLACK, share)
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between two channels is a channel")]
fn blend(channel: u8, other: u8, share: f32) -> u8 {
    let (from, to) = (f32::from(channel), f32::from(other));
    (from + (to - from) * share + 0.5) as u8
}

/// How an outline is filled.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paint {
    top: Colour,
    bottom: Colour,
    strength: f32,
}

impl Paint {
    /// From one colour at the top of the outline to another at its bottom.
    pub(super) fn down(top: Colour, bottom: Colour) -> Self {
        Self { top, bottom, strength: 1.0 }
    }

    /// Lets what lies below shine through; 1 lets nothing through.
    pub(super) fn strength(self, strength: f32) -> Self {
        Self { strength, ..self }
    }
}

impl From<Colour> for Paint {
    fn from(colour: Colour) -> Self {
        Self::down(colour, colour)
    }
}

/// A closed outline.
#[derive(Debug, Clone)]
pub(super) struct Outline(Vec<Point>);

impl Outline {
    pub(super) fn from(start: Point) -> Self {
        Self(vec![start])
    }

    /// A polygon.
    pub(super) fn of(corners: &[Point]) -> Self {
        Self(corners.to_vec())
    }

    /// A straight line to a point.
    pub(super) fn line(mut self, to: Point) -> Self {
        self.0.push(to);
        self
    }

    /// A curve to a point, drawn towards `pull` on its way.
    pub(super) fn curve(mut self, pull: Point, to: Point) -> Self {
        const STEPS: u8 = 10;
        let from = self.0.last().copied().unwrap_or(to);
        for step in 1..=STEPS {
            let t = f32::from(step) / f32::from(STEPS);
            let along =
                |from: f32, pull: f32, to: f32| (1.0 - t).powi(2) * from + 2.0 * t * (1.0 - t) * pull + t * t * to;
            self.0.push((along(from.0, pull.0, to.0), along(from.1, pull.1, to.1)));
        }
        self
    }

    pub(super) fn ellipse(centre: Point, across: f32, down: f32) -> Self {
        const CORNERS: u8 = 44;
        let corner = |index: u8| {
            let angle = TAU * f32::from(index) / f32::from(CORNERS);
            (centre.0 + across * angle.cos(), centre.1 + down * angle.sin())
        };
        Self((0..CORNERS).map(corner).collect())
    }

    pub(super) fn circle(centre: Point, radius: f32) -> Self {
        Self::ellipse(centre, radius, radius)
    }

    /// Cut off below this height.
    pub(super) fn above(mut self, bottom: f32) -> Self {
        for point in &mut self.0 {
            point.1 = point.1.min(bottom);
        }
        self
    }

    /// A rectangle with corners of this radius.
    pub(super) fn rounded(left: f32, top: f32, width: f32, height: f32, radius: f32) -> Self {
        let (right, bottom) = (left + width, top + height);
        Self::from((left + radius, top))
            .line((right - radius, top))
            .curve((right, top), (right, top + radius))
            .line((right, bottom - radius))
            .curve((right, bottom), (right - radius, bottom))
            .line((left + radius, bottom))
            .curve((left, bottom), (left, bottom - radius))
            .line((left, top + radius))
            .curve((left, top), (left + radius, top))
    }

    pub(super) fn rectangle(left: f32, top: f32, width: f32, height: f32) -> Self {
        Self::of(&[(left, top), (left + width, top), (left + width, top + height), (left, top + height)])
    }

    /// A line of this thickness.
    pub(super) fn stroke(from: Point, to: Point, thickness: f32) -> Self {
        let (x, y) = (to.0 - from.0, to.1 - from.1);
        let half = thickness / 2.0 / x.hypot(y).max(f32::EPSILON);
        let (x, y) = (-y * half, x * half);
        Self::of(&[(from.0 + x, from.1 + y), (to.0 + x, to.1 + y), (to.0 - x, to.1 - y), (from.0 - x, from.1 - y)])
    }
}

/// Where what is drawn comes to stand.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Placing {
    /// Left and right changed.
    pub(super) mirrored: bool,
    /// Larger by this share around the middle of the lower edge, 0 for as it is.
    pub(super) closer: f32,
}

impl Placing {
    fn place(self, (x, y): Point) -> Point {
        let scale = 1.0 + self.closer;
        let x = if self.mirrored { WIDTH - x } else { x };
        (WIDTH / 2.0 + (x - WIDTH / 2.0) * scale, HEIGHT * 0.7 + (y - HEIGHT * 0.7) * scale)
    }
}

/// A side of an outline: where it begins and ends, and how far it leans.
struct Side {
    top: f32,
    bottom: f32,
    x: f32,
    lean: f32,
}

/// The picture.
#[derive(Debug)]
pub(super) struct Canvas {
    pixels: Vec<u8>,
    /// A row of one colour, to copy from.
    ink: Vec<u8>,
    /// How much of it is of that colour.
    inked: usize,
    pub(super) placing: Placing,
}

const COLUMNS: usize = 640;
const ROWS: usize = 480;

impl Canvas {
    pub(super) fn new() -> Self {
        Self { pixels: vec![255; COLUMNS * ROWS * 3], ink: vec![0; COLUMNS * 3], inked: 0, placing: Placing::default() }
    }

    /// Width and height in pixels, and the pixels from the top left, three bytes each.
    pub(super) fn pixels(&self) -> (u32, u32, &[u8]) {
        (640, 480, &self.pixels)
    }

    /// Fills an outline.
    pub(super) fn fill(&mut self, outline: &Outline, paint: impl Into<Paint>) {
        let paint = paint.into();
        let points: Vec<_> = outline.0.iter().map(|point| self.placing.place(*point)).collect();
        let sides = sides(&points);
        let top = sides.iter().map(|side| side.top).fold(HEIGHT, f32::min);
        let bottom = sides.iter().map(|side| side.bottom).fold(0.0, f32::max);
        let mut changes = Vec::new();
        for row in index(top)..index(bottom.ceil()).min(ROWS) {
            let y = place(row);
            let near: Vec<_> = sides.iter().filter(|side| side.top < y + 1.0 && side.bottom > y).collect();
            changes.clear();
            // Where steep sides run through, one line says as much as several.
            let plain = near.iter().all(|side| side.top <= y && side.bottom >= y + 1.0 && side.lean.abs() < 0.3);
            let samples = if plain { 1 } else { SAMPLES };
            for sample in 0..samples {
                let weight = 1.0 / f32::from(samples);
                cover(&near, y + (f32::from(sample) + 0.5) * weight, weight, &mut changes);
            }
            let share = ((y + 0.5 - top) / (bottom - top)).clamp(0.0, 1.0);
            self.row(row, &mut changes, paint.top.mix(paint.bottom, share), paint.strength);
        }
    }

    /// Paints one row, given the columns at which it comes to be covered more or less.
    fn row(&mut self, row: usize, changes: &mut [(usize, f32)], colour: Colour, strength: f32) {
        changes.sort_unstable_by_key(|(column, _)| *column);
        let mut covered = 0.0;
        for (at, change) in changes.iter().enumerate() {
            covered += change.1;
            let end = changes.get(at + 1).map_or(COLUMNS, |next| next.0);
            if end > change.0 && covered > 0.003 {
                self.span(row, change.0, end, colour, covered * strength);
            }
        }
    }

    /// Brings the first `length` bytes of the ink to a colour.
    fn dip(&mut self, colour: Colour, length: usize) {
        if self.inked == 0 || self.ink[..3] != colour.0 {
            self.ink[..3].copy_from_slice(&colour.0);
            self.inked = 3;
        }
        while self.inked < length {
            let more = self.inked.min(self.ink.len() - self.inked);
            self.ink.copy_within(..more, self.inked);
            self.inked += more;
        }
    }

    fn span(&mut self, row: usize, from: usize, to: usize, colour: Colour, strength: f32) {
        let start = row * COLUMNS * 3;
        let range = start + from * 3..start + to * 3;
        if strength > 0.99 {
            self.dip(colour, range.len());
            let pixels = &mut self.pixels[range];
            pixels.copy_from_slice(&self.ink[..pixels.len()]);
            return;
        }
        for pixel in self.pixels[range].chunks_exact_mut(3) {
            for (channel, other) in pixel.iter_mut().zip(colour.0) {
                *channel = blend(*channel, other, strength);
            }
        }
    }
}

fn sides(points: &[Point]) -> Vec<Side> {
    let next = points.iter().cycle().skip(1);
    let pairs = points.iter().zip(next).filter(|(from, to)| (from.1 - to.1).abs() > f32::EPSILON);
    pairs
        .map(|(from, to)| {
            let (upper, lower) = if from.1 < to.1 { (from, to) } else { (to, from) };
            Side { top: upper.1, bottom: lower.1, x: upper.0, lean: (lower.0 - upper.0) / (lower.1 - upper.1) }
        })
        .collect()
}

/// Notes where the outline covers the line at `y`: per column by how much more or less, a column cut by a side in part.
fn cover(sides: &[&Side], y: f32, weight: f32, changes: &mut Vec<(usize, f32)>) {
    let crossed = sides.iter().filter(|side| side.top <= y && y < side.bottom);
    let mut crossings: Vec<f32> = crossed.map(|side| (side.x + (y - side.top) * side.lean).clamp(0.0, WIDTH)).collect();
    crossings.sort_unstable_by(f32::total_cmp);
    for pair in crossings.chunks_exact(2) {
        for (x, weight) in [(pair[0], weight), (pair[1], -weight)] {
            let column = index(x);
            let rest = x - place(column);
            for (column, weight) in [(column, weight * (1.0 - rest)), (column + 1, weight * rest)] {
                if column < COLUMNS {
                    changes.push((column, weight));
                }
            }
        }
    }
}

/// The row or column of a place.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast of floats saturates")]
fn index(place: f32) -> usize {
    place as usize
}

/// The place at which a row or column begins.
#[expect(clippy::cast_precision_loss, reason = "rows and columns are below 2^23")]
fn place(index: usize) -> f32 {
    index as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pixel(canvas: &Canvas, column: usize, row: usize) -> u8 {
        canvas.pixels[(row * COLUMNS + column) * 3]
    }

    #[test]
    fn an_edge_between_two_pixels_is_mixed_and_the_inside_is_not() {
        let mut canvas = Canvas::new();
        canvas.fill(&Outline::rectangle(10.25, 20.5, 5.0, 5.0), Colour::BLACK);
        assert_eq!(pixel(&canvas, 12, 22), 0);
        assert_eq!(pixel(&canvas, 9, 22), 255);
        assert_eq!(pixel(&canvas, 10, 22), 64);
        assert_eq!(pixel(&canvas, 15, 22), 191);
        assert_eq!(pixel(&canvas, 12, 20), 128);
        assert_eq!(pixel(&canvas, 12, 25), 128);
    }

    #[test]
    fn what_reaches_beyond_the_canvas_is_cut() {
        let mut canvas = Canvas::new();
        canvas.fill(&Outline::rectangle(-50.0, -50.0, 900.0, 900.0), Colour::BLACK);
        assert!(canvas.pixels.iter().all(|channel| *channel == 0));
        canvas.fill(&Outline::circle((-100.0, -100.0), 20.0), Colour::WHITE);
        canvas.fill(&Outline::circle((2000.0, 2000.0), 20.0), Colour::WHITE);
        assert!(canvas.pixels.iter().all(|channel| *channel == 0));
    }
}
