//! Draws the pictures of the demo: cars and boats in simple scenes, as real JPEG and PNG files. What is drawn depends on
//! the subject and the view alone, so that the same address always has the same bytes.
//!
//! For the demo only: the service itself never touches a picture.

mod boat;
mod canvas;
mod car;

use std::io::Cursor;

use ad_core::ports::Format;
use image::{
    ExtendedColorType, ImageEncoder, ImageError,
    codecs::{jpeg::JpegEncoder, png::PngEncoder},
};

use canvas::{Canvas, Colour, HEIGHT, Outline, Paint, Placing, WIDTH};

/// What is drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// Whether it floats; it drives otherwise.
    pub is_boat: bool,
    /// Its body type, as the catalogue calls it; an unknown one is drawn like a common one.
    pub body_type: String,
    /// Its colour, in English or Swedish; an unknown one is grey.
    pub colour: String,
    /// What its licence plate shows.
    pub plate: String,
    /// Varies the scene.
    pub seed: u32,
}

/// From where it is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// From the side, heading right.
    Side,
    /// From the front.
    Front,
    /// From behind.
    Rear,
    /// From the other side, closer.
    OtherSide,
}

impl View {
    /// The view of an ad's picture, counted from 1.
    pub fn nth(n: u32) -> Self {
        match n % 4 {
            1 => Self::Side,
            2 => Self::Front,
            3 => Self::Rear,
            _ => Self::OtherSide,
        }
    }
}

/// Draws a subject into a file.
///
/// # Errors
/// When it cannot be encoded.
pub fn draw(subject: &Subject, view: View, format: Format) -> Result<Vec<u8>, ImageError> {
    let canvas = paint(subject, view);
    let (width, height, pixels) = canvas.pixels();
    let mut file = Cursor::new(Vec::new());
    match format {
        Format::Jpeg => {
            JpegEncoder::new_with_quality(&mut file, 85).write_image(pixels, width, height, ExtendedColorType::Rgb8)?;
        }
        Format::Png => PngEncoder::new(&mut file).write_image(pixels, width, height, ExtendedColorType::Rgb8)?,
    }
    Ok(file.into_inner())
}

fn paint(subject: &Subject, view: View) -> Canvas {
    let mut canvas = Canvas::new();
    let light = Light::of(subject.seed, view);
    canvas.fill(&Outline::rectangle(0.0, 0.0, WIDTH, 300.0), Paint::down(light.sky, light.horizon));
    if light.sun {
        canvas.fill(&Outline::circle((92.0, 196.0), 30.0), Paint::from(Colour([255, 236, 190])).strength(0.9));
    }
    let colour = named(&subject.colour);
    if subject.is_boat {
        sea(&mut canvas, subject.seed, &light);
    } else if subject.seed.is_multiple_of(2) {
        forest(&mut canvas, subject.seed, &light);
        road(&mut canvas);
    } else {
        town(&mut canvas, subject.seed, &light);
        road(&mut canvas);
    }
    let closer = if subject.is_boat && boat::has_mast(&subject.body_type) { 0.03 } else { 0.18 };
    canvas.placing = match view {
        View::Side => Placing::default(),
        View::Front | View::Rear => Placing { mirrored: false, closer },
        View::OtherSide => Placing { mirrored: true, closer: closer * 0.6 },
    };
    if subject.is_boat {
        boat::draw(&mut canvas, subject, view, colour);
    } else {
        car::draw(&mut canvas, subject, view, colour);
    }
    canvas
}

/// The time of day.
struct Light {
    sky: Colour,
    horizon: Colour,
    far: Colour,
    sun: bool,
}

impl Light {
    fn of(seed: u32, view: View) -> Self {
        let (sky, horizon, far, sun) = match (seed + u32::from(view == View::OtherSide)) % 4 {
            0 => ([74, 140, 214], [214, 232, 246], [88, 120, 112], false),
            1 => ([120, 150, 200], [252, 220, 190], [104, 108, 128], true),
            2 => ([150, 164, 178], [226, 230, 232], [112, 126, 130], false),
            _ => ([62, 84, 150], [250, 178, 132], [74, 74, 110], true),
        };
        Self { sky: Colour(sky), horizon: Colour(horizon), far: Colour(far), sun }
    }
}

/// Evenly spread numbers from 0 to 1, always the same for a seed.
struct Varied(u32);

impl Varied {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let [.., high, highest] = self.0.to_le_bytes();
        f32::from(u16::from_le_bytes([high, highest])) / f32::from(u16::MAX)
    }
}

fn forest(canvas: &mut Canvas, seed: u32, light: &Light) {
    let mut varied = Varied(seed);
    for (row, share) in [(0.0, 0.0), (14.0, 0.45)] {
        let colour = light.far.mix(Colour([24, 48, 40]), share);
        let mut x = -20.0;
        while x < WIDTH {
            let (height, half) = (56.0 + 50.0 * varied.next(), 13.0 + 6.0 * varied.next());
            let (top, foot) = (268.0 + row - height, 300.0 + row);
            let spruce = Outline::of(&[
                (x, top),
                (x + half * 0.55, top + height * 0.4),
                (x + half * 0.3, top + height * 0.4),
                (x + half, foot),
                (x - half, foot),
                (x - half * 0.3, top + height * 0.4),
                (x - half * 0.55, top + height * 0.4),
            ]);
            canvas.fill(&spruce, colour);
            x += half * (1.0 + varied.next());
        }
    }
}

fn town(canvas: &mut Canvas, seed: u32, light: &Light) {
    const FACADES: [[u8; 3]; 4] = [[158, 74, 62], [214, 186, 120], [196, 204, 208], [120, 134, 150]];
    let mut varied = Varied(seed);
    let (mut x, mut facade) = (-30.0, seed);
    while x < WIDTH {
        let (width, height) = (70.0 + 60.0 * varied.next(), 60.0 + 60.0 * varied.next());
        let colour = Colour(FACADES[(facade % 4) as usize]).mix(light.far, 0.45);
        let top = 310.0 - height;
        canvas.fill(&Outline::of(&[(x, top), (x + width / 2.0, top - 22.0), (x + width, top)]), light.far.darker(0.25));
        canvas.fill(&Outline::rectangle(x, top, width, height), colour);
        let mut window = x + 12.0;
        while window < x + width - 16.0 {
            for floor in [top + 14.0, top + 42.0] {
                canvas.fill(&Outline::rectangle(window, floor, 10.0, 15.0), light.horizon.mix(colour, 0.25));
            }
            window += 24.0;
        }
        x += width + 3.0;
        facade += 1;
    }
}

fn road(canvas: &mut Canvas) {
    let far = Paint::down(Colour([122, 124, 126]), Colour([74, 76, 80]));
    canvas.fill(&Outline::rectangle(0.0, 300.0, WIDTH, HEIGHT - 300.0), far);
    canvas.fill(&Outline::rectangle(0.0, 300.0, WIDTH, 7.0), Colour([164, 162, 154]));
    for stripe in [-60.0, 150.0, 360.0, 570.0] {
        let stripe =
            Outline::of(&[(stripe + 14.0, 436.0), (stripe + 124.0, 436.0), (stripe + 110.0, 446.0), (stripe, 446.0)]);
        canvas.fill(&stripe, Paint::from(Colour([232, 230, 220])).strength(0.85));
    }
}

fn sea(canvas: &mut Canvas, seed: u32, light: &Light) {
    let mut varied = Varied(seed);
    let mut x = -80.0;
    while x < WIDTH {
        let (width, height) = (130.0 + 150.0 * varied.next(), 14.0 + 30.0 * varied.next());
        let island = Outline::from((x, 302.0))
            .curve((x + width * 0.2, 300.0 - height * 1.6), (x + width * 0.55, 300.0 - height))
            .curve((x + width * 0.9, 300.0 - height * 0.7), (x + width, 302.0));
        canvas.fill(&island, light.far.mix(Colour([40, 70, 60]), 0.3));
        x += width + 60.0 * varied.next();
    }
    let water = Paint::down(light.horizon.mix(Colour([70, 120, 150]), 0.6), Colour([26, 66, 96]));
    canvas.fill(&Outline::rectangle(0.0, 300.0, WIDTH, HEIGHT - 300.0), water);
    for _ in 0..46 {
        let depth = varied.next();
        let (x, y) = (WIDTH * varied.next(), 306.0 + 170.0 * depth * depth);
        let half = 6.0 + 34.0 * depth;
        let glint = Outline::ellipse((x, y), half, 0.8 + 1.4 * depth);
        canvas.fill(&glint, Paint::from(light.horizon).strength(0.3));
    }
}

/// A licence plate around a point, its marks like letters seen from afar.
fn plate(canvas: &mut Canvas, text: &str, (x, y): canvas::Point) {
    canvas.fill(&Outline::rounded(x - 43.0, y - 10.0, 86.0, 20.0, 3.0), Colour([40, 42, 46]));
    canvas.fill(&Outline::rounded(x - 42.0, y - 9.0, 84.0, 18.0, 3.0), Colour([244, 244, 240]));
    canvas.fill(&Outline::rectangle(x - 41.0, y - 8.0, 8.0, 16.0), Colour([30, 70, 170]));
    let mut left = x - 28.0;
    for (index, mark) in text.bytes().filter(u8::is_ascii_alphanumeric).take(6).enumerate() {
        if index == 3 {
            left += 5.0;
        }
        for (bit, (dx, dy, width, height)) in [
            (0.0, -6.0, 2.0, 12.0),
            (6.0, -6.0, 2.0, 12.0),
            (0.0, -6.0, 8.0, 2.0),
            (0.0, -1.0, 8.0, 2.0),
            (0.0, 4.0, 8.0, 2.0),
        ]
        .into_iter()
        .enumerate()
        {
            if bit == 0 || (mark >> (bit - 1)) & 1 == 1 {
                canvas.fill(&Outline::rectangle(left + dx, y + dy, width, height), Colour([24, 24, 28]));
            }
        }
        left += 11.0;
    }
}

/// The colour of a name: the first one that it holds, so that `mörkblå metallic` is blue.
fn named(name: &str) -> Colour {
    const NAMES: &[(&[&str], [u8; 3])] = &[
        (&["black", "svart"], [40, 42, 46]),
        (&["white", "vit"], [240, 241, 240]),
        (&["silver"], [186, 190, 196]),
        (&["blue", "blå"], [42, 88, 160]),
        (&["red", "röd"], [176, 34, 40]),
        (&["green", "grön"], [46, 98, 72]),
        (&["brown", "brun"], [104, 76, 56]),
        (&["beige"], [206, 192, 164]),
        (&["yellow", "gul"], [232, 188, 44]),
        (&["orange"], [222, 112, 38]),
        (&["turquoise", "turkos"], [52, 150, 156]),
        (&["mahogny", "trä"], [132, 74, 40]),
    ];
    let name = name.to_lowercase();
    let found = NAMES.iter().find(|(words, _)| words.iter().any(|word| name.contains(word)));
    Colour(found.map_or([116, 120, 126], |(_, colour)| *colour))
}

#[cfg(test)]
mod tests {
    use ad_core::ports::Image;

    use super::*;

    fn subject(is_boat: bool, body_type: &str) -> Subject {
        let text = str::to_owned;
        Subject { is_boat, body_type: text(body_type), colour: text("mörkblå"), plate: text("KLM41C"), seed: 7 }
    }

    #[test]
    fn a_picture_is_a_whole_file_and_always_the_same() {
        for (is_boat, body_type) in [(false, "suv"), (false, "convertible"), (true, "sailing_boat"), (true, "rib")] {
            for (n, format) in [(1, Format::Jpeg), (2, Format::Png), (3, Format::Png), (4, Format::Jpeg)] {
                let subject = subject(is_boat, body_type);
                let file = draw(&subject, View::nth(n), format).unwrap();
                assert_eq!(file, draw(&subject, View::nth(n), format).unwrap(), "{body_type} {n}");
                let pixels = image::load_from_memory(&file).unwrap();
                assert_eq!((pixels.width(), pixels.height()), (640, 480));
                assert_eq!(Image::new(file.into()).unwrap().format, format);
            }
        }
    }

    #[test]
    fn colours_are_known_by_their_swedish_names() {
        assert_eq!(named("Mörkblå metallic"), named("blue"));
        assert_ne!(named("Röd"), named("Grå"));
    }
}
