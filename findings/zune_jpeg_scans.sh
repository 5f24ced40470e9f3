#!/usr/bin/env bash
# zune-jpeg 0.5.15 (the JPEG decoder of image 0.25.10) decodes two kinds of valid JPEG into other pictures, and returns no error:
# - sequential JPEG with one scan for each component and 4:2:0 (`cjpeg -scans`, libjpeg-turbo 2.1.5): what has four quarters in red, green,
#   blue and yellow becomes green throughout;
# - JPEG whose chroma is denser than its luma (`convert -sampling-factor 1x1,2x2,2x2`, ImageMagick 6.9.11): darker, and in the wrong places.
# Pillow 13.0.0 (libjpeg-turbo) decodes both as browsers do. The same pictures in progressive scans are right in both.
#
# Seen (mean colours of the quarters):
#   several-scans.jpg Pillow [[200, 61, 51], [62, 171, 82], [58, 78, 186], [198, 188, 68]]
#   several-scans.jpg image  [[0, 187, 0], [0, 197, 0], [0, 189, 0], [0, 198, 0]]
#   dense-chroma.jpg Pillow [[202, 61, 51], [61, 171, 82], [58, 79, 188], [198, 188, 67]]
#   dense-chroma.jpg image  [[151, 31, 26], [31, 107, 41], [29, 40, 146], [108, 98, 32]]
#
# It fails when image shows the same as Pillow, or returns an error.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

base64 -d > several-scans.jpg <<'END'
/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgICAgMCAgIDAwMDBAYEBAQEBAgGBgUGCQgKCgkICQkKDA8MCgsOCwkJDRENDg8QEBEQCgwSExIQEw8QEBD/2wBDAQMDAwQDBAgEBAgQCwkLEBAQEB
AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBD/wAARCAB4AKADASIAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUF
BAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmq
KjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/9oACAEBAAA/AOUt5l45q9HMvrT2mXFVp5l9azbiZeeazpplz1qDzlz1qaKZc9a0LeZTjmtKCZfW
vUFmXFJJMuOtUbiZazLiZeeaoyTLmmrMuetWoJl4rSt5lGOa0Yplx1qbzlxXiFve9OavR3vHWnte8darT3vvWbcXvvWdNe+9QfbeetTRXvvWhb3vTmtKC9969QW9460kl7x1qjcXvvWZcXvXmqMl7z
1pq3vPWrUF705rSt73pzWjFe+9TfbeOteJW8jcc1ejlapGlbHWqs8jetZtxK3IrOmkbNQeY2etTRSNnrWhbyMMVpQStXqCyNikklbFUbiRqzLiVuTVGSRs01ZGz1q1BI2a0reVuK0YpGqbzWxXl1vb
Hjir0dscdKe1scdKqz2x54rOuLY88VnTWx9Kg+zHPSporY56VoW9seOK0oLY+leoLbHHSkktjjpVG4tj6VmXFsc9KoyWxz0pq2xz0q1BbH0rSt7Y8cVow2xx0qb7McdK4O3sxxxV6OzHpT2sxjpVWe
zHPFZtxZjnis+azHpVf7GM9KnisxnpWhb2Y44rSgsx6V6gtmMdKbJZjHSqU9mPSsy4sxzxVGSzHpTFsxnpVuGzHpWlb2Y44rQisx6VP9j46V5xbheKvRhcU9gMVWnC1m3AXtWdMFzUGFzU0QWtC3C8
VpQBa9QULjikkC4qjcBeazLgLzVGQLmmqFzVqALmtK3C8VowhcVNgY7V43b3Y45q9Hdj1p7XYx1qrPdjnms24uxzzWfNdjPWq/2sZ61PFdjPWtC3uxxzWlBdjjmvUFuxjrSSXYx1qjcXY9azLi7HrV
GS7GetNW7GetWoLsetaVvdjjmtGK7GOtTfbBjrXz1b+JDx/o//AI//APWq9H4kP/Pv/wCP/wD1qe3iQ4/49/8Ax/8A+tVWfxGef9H/APH/AP61Z1x4jPP+j/8Aj/8A9as6bxIc/wDHv/4//wDWqA+J
Dn/j3/8AH/8A61TReJDn/j3/APH/AP61aFv4kPH+j/8Aj/8A9atKDxIf+ff/AMf/APrV9UL8Kzj/AJGL/wAlP/s6ST4VnH/Ixf8Akp/9nVGf4Vn/AKGL/wAlP/s6zLj4Vn/oYv8AyU/+zqjJ8Kzn/k
Yv/JT/AOzpq/Cs5/5GL/yU/wDs6tQfCs/9DF/5Kf8A2daVv8Kzx/xUX/kp/wDZ1oxfCs4/5GL/AMlP/s6m/wCFVnH/ACMX/kp/9nXxpbo3FXo0ansjYqrOjVm3CNzWfMjZqDY2cYqaJGzWhbo3FaUC
NX6AKjYpsiNiqVwjVmXCNzVGRGzTVVs9KtQI2a0rdG4rRiRqm2Nivgu3s/ar8dnx0p7WfHSqs9n14rNuLPrxWdNZ+1QfY+elTRWZz0rQt7PpxWlBZ+1foCtnx0pslnx0qjcWfXis24s+vFUJLPnpTV
s+elWoLP2rSt7PpxWjDZnHSpvsfHSvhK3gHHFXo7cY6U9oFx0qrPAOeKzbi3Xnis+a3HpVf7OM1PFAuelaFvbr6VpQQD0r9AFgGOlNkt1x0qlcW49KzLiAelUZLcelNWAZq1Bbj0rSt7deOK0Irdcd
Kn8hcdK/Pq3mXjmr0cy+tPaZcVVnmX1rNuJl55rOmmWoPOHrU8Uy561oW8ynHNaUEy+tfoAsy4602SZcdao3Ey+tZtxMvPNUZJlz1pizLnrVuCZfWtK3mUY5rQimX1qfzl9a/OC3venNXo733p7XvH
Wqs9771m3F715rOmveetQfbefvVNFe89a0be96c1pQXnvX6ALe8dabJe8dao3F771m3F715qjJe89aYt7z1q3Be+9aVvee9aEV7x1qf7bx1r84reRuKvRytT2lbHWqs8jetZtxK3IrPmkbNQeY3rU0
UjZ61oW8jDFaUEjcV+gCyNimyStiqVxI1ZlxK3JqjJI2aasjZ61agkbitK3lbitGKRqm81sV+f1vbHjir0dsfSnm2OOlVZ7Y88Vm3FseeKzprY56VB9mOelTxWxz0rQt7Y+laUFsfSv0AW2OOlNktj
jpVKe2PpWZcWxz0qjJbHPSmLbHPSrcFsfStK3tjxxWhDbNjpU/2Y46V//EAB8BAAMBAQEBAQEBAQEAAAAAAAABAgMEBQYHCAkKC//EALURAAIBAgQEAwQHBQQEAAECdwABAgMRBAUhMQYSQVEHYXET
IjKBCBRCkaGxwQkjM1LwFWJy0QoWJDThJfEXGBkaJicoKSo1Njc4OTpDREVGR0hJSlNUVVZXWFlaY2RlZmdoaWpzdHV2d3h5eoKDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxM
XGx8jJytLT1NXW19jZ2uLj5OXm5+jp6vLz9PX29/j5+v/aAAgBAhEAPwD8yAAA6AAAOcAADoAAA5wAAOgAAD7L/iGvFH/QL/5PT/8Akw/4hrxR/wBAv/k9P/5MP+Ia8Uf9Av8A5PT/APkw/wCIa8Uf
9Av/AJPT/wDkw/4hrxR/0C/+T0//AJM/Nf7fy7/n5+Ev8g/t/Lv+fn4S/wAg/t/Lv+fn4S/yD+38u/5+fhL/ACD+38u/5+fhL/I/vgAAD/L8AAD/AFAAAA/y/AAA/wBQAAAP8vwAAP8AUAAAD/L8AA
D/2gAIAQMRAD8A/r0AAD/MIAAD/T0AAD/MIAAD/T0AAD/MIAAD/QH/AIibwr/0Ff8AklT/AOQD/iJvCv8A0Ff+SVP/AJAP+Im8K/8AQV/5JU/+QD/iJvCv/QV/5JU/+QD/AIibwr/0Ff8AklT/AOQP
4o/1Jz3/AJ8f+TQ/+SD/AFJz3/nx/wCTQ/8Akg/1Jz3/AJ8f+TQ/+SD/AFJz3/nx/wCTQ/8Akg/1Jz3/AJ8f+TQ/+SPowAAP1sAAD8kAAA/WwAAPyQAAD9bAAA/JAAAP1sAAD//Z
END
base64 -d > dense-chroma.jpg <<'END'
/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgICAgMCAgIDAwMDBAYEBAQEBAgGBgUGCQgKCgkICQkKDA8MCgsOCwkJDRENDg8QEBEQCgwSExIQEw8QEBD/2wBDAQMDAwQDBAgEBAgQCwkLEBAQEB
AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBD/wAARCAB4AKADAREAAiIBAyIB/8QAGgABAAIDAQAAAAAAAAAAAAAABQMEBwgJBv/EACgQAAAFBAIBBAMBAQAAAAAA
AAABAwQSAgUhMQYRQaKk0dIkJTU0I//EABoBAQEBAQEBAQAAAAAAAAAAAAAHCQYECAP/xAAcEQEAAQUBAQAAAAAAAAAAAAAAF2Sio+LjFmP/2gAMAwEAAhEDEQA/APHs7pREsiZAPr0BK4ulENkAAA
AfXSjs8kAAAppXSieyAAAOW+6UdFkgAAGWKrpRDZD0AMwgBFwulGcgAABqrpRPZAAAErfdKOyyAAAdRulENgAAMJs0l4lsecBp6AmcJLw8gAAPPvkl+z2AAAppJLT8gAAHLekv0WwAAGWKkloeR6AG
YQAi4JL52AAAGqSXn5AAAJMEluy2AAAdRSXh5AAAeYZMUolgh5wGnoCVwyShogAAAD5il2eCAAAU0mKU9EAAAcYMUuiwQAADLBsUYaIegBmEAHuDFLOCAAAD1MUp5IgAACVvYpdlggAADqLFKGiAAA
YWZ8pZRL8j0n8Dzi6QtXYuhC1di6NPRB5tocvMm2hy80rjlLOH+j0n8CFi6QtXYuhC1di6LwIPNtDl5k20OXmAfcpZ9n+R6T+BCxdIWrsXQhauxdF4EHm2hy8ybaHLzU0uUsp/6PSfwIWLpC1di6EL
V2LovAg820OXmTbQ5eZxhyll0X/f0n8CFi6QtXYuhC1di6LwIPNtDl5k20OXm2Eq4nzCH8n3CX2ETHH+s+N2p6z43avjoVSM6qzcjOqs3D3DifMc/qfcJfYdgOP9Z8btT1nxu1SsVSM6qzcjOqs3D1
cT5hP+T7hL7DsBx/rPjdqes+N2qViqRnVWbkZ1Vm5JhxPmHZfqfcJfYdgOP9Z8btT1nxu1SsVSM6qzcjOqs3Oo8T5jD+T7hL7DsBx/rPjdqes+N2qViqRnVWbkZ1Vm7V1nblYlgxogA/ABK4t6sNGA
AAAfW9Xs8GAAApJW9WejAAAO2+3q9FgwAAHQiq3qQ0Yy/AVsAPcLernBgAABqrerPQAABNhb1eywYAABxG3qw0YAADSdmSES0NQAEkASuKUY+AAAAD6lDs9AAAKSRIT8AAAHbeSPRaAAAdCDJCHgZf
gK2AHuFKGdAAAB6iQn4AAAJMCQ7LQAAB1GlCHgAABzgZ3JSJZMagAJIAlcXJSGzAAAAPrkp2eTAAAUkrkpPZgAAHWFyU6LJgAAOhB3JSGxl+ArYAe4XNTOTAAAD1XJSewAACTC5KdlkAAA6jclIbMA
ABoCybpxLA1AASQBK4bpx0AAAAfN0+zwAAAppN05d9AAAHLe3TxgAAB0Jqbpw0Yy/AVsAPcG6ecAAABq26ZVaAAAJMG6fZYAAAOot04lgAAB/9k=
END

mkdir -p probe/src
cat > probe/Cargo.toml <<'END'
[package]
name = "probe"
version = "0.0.0"
edition = "2024"
[dependencies]
image = { version = "=0.25.10", default-features = false, features = ["jpeg"] }
zune-jpeg = "=0.5.15"
END
cat > probe/src/main.rs <<'END'
fn main() {
    let name = std::env::args().nth(1).unwrap();
    let image = image::open(&name).expect("it decodes without an error").into_rgb8();
    let (width, height) = (image.width() / 2, image.height() / 2);
    let quarters = [(0, 0), (width, 0), (0, height), (width, height)].map(|(x, y)| {
        let part = image::imageops::crop_imm(&image, x, y, width, height).to_image();
        [0, 1, 2].map(|color| part.pixels().map(|pixel| u32::from(pixel.0[color])).sum::<u32>() / (width * height))
    });
    println!("{quarters:?}");
}
END
CARGO_TARGET_DIR="$folder/target" cargo build --quiet --release --manifest-path probe/Cargo.toml
python3 -m venv venv
venv/bin/pip install --quiet pillow==13.0.0
cat > quarters.py <<'END'
import sys
from PIL import Image
image = Image.open(sys.argv[1]).convert("RGB")
width, height = image.width // 2, image.height // 2
def mean(part):
    pixels = list(part.getdata())
    return [sum(pixel[color] for pixel in pixels) // len(pixels) for color in range(3)]
boxes = [(x, y, x + width, y + height) for y in (0, height) for x in (0, width)]
print([mean(image.crop(box)) for box in boxes])
END
for name in several-scans.jpg dense-chroma.jpg; do
    pillow=$(venv/bin/python -W ignore quarters.py $name)
    rust=$(target/release/probe $name)
    echo "$name Pillow $pillow"
    echo "$name image  $rust"
    python3 - "$pillow" "$rust" <<'END'
import ast, sys
pillow, rust = map(ast.literal_eval, sys.argv[1:])
off = max(abs(one - other) for a, b in zip(pillow, rust) for one, other in zip(a, b))
assert off > 50, f"the pictures are the same but for {off}: this finding is out of date"
END
done
