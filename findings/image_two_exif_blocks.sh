#!/usr/bin/env bash
# Of two EXIF blocks in a JPEG, the Rust crate image 0.25.10 takes the last one for `orientation()`. Pillow 13.0.0 takes the first one, as do
# ExifTool 12.57, ImageMagick 6.9.11, libvips 8.14.1 and Chromium 156. A photo whose first block says upright (1) and whose second one, left behind
# by an editor, says turned (6) is shown sideways by programs that use image, and upright by all others.
#
# Seen:
#   exif-1-then-6.jpg Pillow 1 image 6
#   exif-6-then-1.jpg Pillow 6 image 1
#
# It fails when both take the same block.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

base64 -d > exif-1-then-6.jpg <<'END'
/9j/4AAQSkZJRgABAQAAAQABAAD/4QBiRXhpZgAATU0AKgAAAAgABQESAAMAAAABAAEAAAEaAAUAAAABAAAASgEbAAUAAAABAAAAUgEoAAMAAAABAAEAAAITAAMAAAABAAEAAAAAAAAAAAABAAAAAQ
AAAAEAAAAB/+EAYkV4aWYAAE1NACoAAAAIAAUBEgADAAAAAQAGAAABGgAFAAAAAQAAAEoBGwAFAAAAAQAAAFIBKAADAAAAAQABAAACEwADAAAAAQABAAAAAAAAAAAAAQAAAAEAAAABAAAAAf/bAEMA
AwICAgICAwICAgMDAwMEBgQEBAQECAYGBQYJCAoKCQgJCQoMDwwKCw4LCQkNEQ0ODxAQERAKDBITEhATDxAQEP/bAEMBAwMDBAMECAQECBALCQsQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB
AQEBAQEBAQEBAQEBAQEBAQEBAQEP/AABEIAKAAeAMBIgACEQEDEQH/xAAfAAABBQEBAQEBAQAAAAAAAAAAAQIDBAUGBwgJCgv/xAC1EAACAQMDAgQDBQUEBAAAAX0BAgMABBEFEiExQQYTUWEHInEU
MoGRoQgjQrHBFVLR8CQzYnKCCQoWFxgZGiUmJygpKjQ1Njc4OTpDREVGR0hJSlNUVVZXWFlaY2RlZmdoaWpzdHV2d3h5eoOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyM
nK0tPU1dbX2Nna4eLj5OXm5+jp6vHy8/T19vf4+fr/xAAfAQADAQEBAQEBAQEBAAAAAAAAAQIDBAUGBwgJCgv/xAC1EQACAQIEBAMEBwUEBAABAncAAQIDEQQFITEGEkFRB2FxEyIygQgUQpGhscEJ
IzNS8BVictEKFiQ04SXxFxgZGiYnKCkqNTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqCg4SFhoeIiYqSk5SVlpeYmZqio6Slpqeoqaqys7S1tre4ubrCw8TFxsfIycrS09TV1t
fY2dri4+Tl5ufo6ery8/T19vf4+fr/2gAMAwEAAhEDEQA/AOUt5l45q9HMvrXM29705q9He8da/Mj+vTbaZcVWnmX1qg17x1qtPe+9AE1xMvPNZ00y561BcXvvWdNe+9AGj5y5611PguZc3fP/ADz/
APZq8++289a6jwXe/wDH3z/zz/8AZqqG5+YeM3/JEY3/ALh/+nqZ6XbzKcc1pQTL61ytve9Oa04L33rY/hE6JZlxSSTLjrWQt7x1pJL3jrQBauJlrMuJl55qK4vfesy4vevNAFqSZc0VjyXvPWigDg
7eRuOavRytVe3tjxxV6O2OOlc5/p6NaVsdaqzyN61fa2OOlVZ7Y88UAZFxK3IrOmkbNa9xbHnis6a2PpQBS8xs9a6nwXI2bvn/AJ5/+zVzn2Y56V1Hgq2Obvj/AJ5/+zVUNz8w8Zv+SIxv/cP/ANPU
zrbeRhitOCVqpW9seOK04LY+lbH8IkiyNikklbFTrbHHSkktjjpQBl3EjVmXErcmtm4tj6VmXFsc9KAMuSRs0VNJbHPSigCpb2Y44q9HZj0p1uF4q9GFxXOf6elJrMY6VVnsxzxW0wGKrThaAOcuLM
c8VnzWY9K6G4C9qzpguaAMf7GM9K6nwXZjN3x/zz/9mrHwua6jwWF/0v8A7Z/+zVUNz8w8Zv8AkiMb/wBw/wD09TOjt7MccVpQWY9KbbheK04AtbH8IkK2Yx0pslmMdK0lC44pJAuKAMGezHpWZcWY
54ro7gLzWZcBeaAMGSzHpRWhIFzRQBxlvdjjmr0d2PWuWt7o8c1ejuj61zn+npvNdjHWqs92OeazmujjrVWe6PPNAFm4uxzzWfNdjPWqlxdHnms6a6OetAGp9rGetdV4Luxm75/55/8As1edG6Oetd
T4Lujm75/55/8As1VDc/MPGb/kiMb/ANw//T1M9Ot7scc1pQXY45rkre6PHNaUF0fWtj+ETpluxjrSSXYx1rFW6OOtNkujjrQBeuLsetZlxdj1qtPdH1rNuLo+tAF2S7GetFYkl0c9aKAOPt0bir0a
NU1vZ+1Xo7PjpXOf6emeyNiqs6NW61nx0qrPZ9eKAOauEbms6ZGzXSXFn14rOms/agDF2NnGK6nwWjZu/wDtn/7NWT9j56V1PguzObvj/nn/AOzVUNz8w8Zv+SIxv/cP/wBPUzft0bitOBGpbez6cV
pQWftWx/CJWVGxSSI2K1Vs+OlNks+OlAHPXCNWZcI3NdNcWfXis24s+vFAHOyI2aK1JLPnpRQBxtvAOOKvR24x0qnbzLxzV6OZfWv7gP00VoFx0qrPAOeKuNMuKqzzL60AZdxbrzxWfNbj0rSuJl55
rOmmWgCt9nGa+gf2U4Fz4n4/58v/AGvXgHnD1r6B/ZTmXPifn/ny/wDa9fl/jP8A8kRjv+4X/p6mevkX/Iwp/P8A9JZ9E29uvpWlBAPSs+3mU45rSgmX1r+Dz9ELKwDHSmyW646VIsy4602SZcdaAK
Fxbj0rMuIB6VqXEy+tZtxMvPNAGfJbj0op0ky560UAfCNve9OavR3vvXN28jcVejlav9QD8kNlr3jrVWe996ptK2OtVZ5G9aAJLi9681nTXvPWoriVuRWfNI2aAL323n71fQP7Kd7z4n5/58v/AGvX
zT5jetfQH7KcjZ8T8/8APl/7Xr8v8Z/+SIx3/cL/ANPUz18i/wCRhT+f/pLPqG3venNaUF571y9vIwxWlBI3Ffwefoh0K3vHWmyXvHWstZGxTZJWxQBYuL33rNuL3rzTLiRqzLiVuTQBYkveetFZMk
jZooA+L7e2PHFXo7Y+lXbezHHFXo7MY6V/qAfkhjm2OOlVZ7Y88V0rWYx0qrPZjnigDkri2PPFZ01sc9K6y4sxzxWdNZj0oA537Mc9K+gf2U7Y58T8f8+X/tevGfsYz0r6B/ZTsxnxPx/z5f8Atevy
/wAZ/wDkiMd/3C/9PUz18i/5GFP5/wDpLPcLe2PpWlBbH0qzb2Y9K0oLMelfwefohnrbHHSmyWxx0rdWzGOlNksxjpQBy89sfSsy4tjnpXW3Fn7Vm3FmM9KAOWktjnpRW3JZjPSigD45twtXowuKw7
e7HHNX47setf6gH5IaBAxVWcLTGuxjrVWe7HrQBFcBaz5guafcXY55rOmuxnrQBPhc19Afsphf+Kn/AO3L/wBr184/axnrX0D+yndjPifn/ny/9r1+X+M//JEY7/uF/wCnqZ6+Rf8AIwp/P/0ln0xb
heK0oAtYFvdjjmtKC7GBzX8Hn6IbChccU2QLiqi3Yx1psl2MdaACcLzWZcBealuLsetZtxdjnmgBJAuaKpSXYz1ooA+Dbe6PHNX47o+tY9ujcVejRsV/qAfkhda6OOtVZ7o4PNDI2Kqzo1AFe4ujzz
WdNdHPWp7hGrPmRs0AO+1HPWvoH9lO6OfE/P8Az5f+16+ddjZxivoD9lNGz4n/AO3L/wBr1+X+M/8AyRGO/wC4X/p6mevkX/Iwp/P/ANJZ9K290eOa0oLo+tYdujcVpQI1fwefohqrdHHWmyXRx1qu
qNimyI2KAI7i6PrWbcXR9as3CNWZcI3NAEUl0c9aKrSI2aKAP//Z
END
base64 -d > exif-6-then-1.jpg <<'END'
/9j/4AAQSkZJRgABAQAAAQABAAD/4QBiRXhpZgAATU0AKgAAAAgABQESAAMAAAABAAYAAAEaAAUAAAABAAAASgEbAAUAAAABAAAAUgEoAAMAAAABAAEAAAITAAMAAAABAAEAAAAAAAAAAAABAAAAAQ
AAAAEAAAAB/+EAYkV4aWYAAE1NACoAAAAIAAUBEgADAAAAAQABAAABGgAFAAAAAQAAAEoBGwAFAAAAAQAAAFIBKAADAAAAAQABAAACEwADAAAAAQABAAAAAAAAAAAAAQAAAAEAAAABAAAAAf/bAEMA
AwICAgICAwICAgMDAwMEBgQEBAQECAYGBQYJCAoKCQgJCQoMDwwKCw4LCQkNEQ0ODxAQERAKDBITEhATDxAQEP/bAEMBAwMDBAMECAQECBALCQsQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB
AQEBAQEBAQEBAQEBAQEBAQEBAQEP/AABEIAKAAeAMBIgACEQEDEQH/xAAfAAABBQEBAQEBAQAAAAAAAAAAAQIDBAUGBwgJCgv/xAC1EAACAQMDAgQDBQUEBAAAAX0BAgMABBEFEiExQQYTUWEHInEU
MoGRoQgjQrHBFVLR8CQzYnKCCQoWFxgZGiUmJygpKjQ1Njc4OTpDREVGR0hJSlNUVVZXWFlaY2RlZmdoaWpzdHV2d3h5eoOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyM
nK0tPU1dbX2Nna4eLj5OXm5+jp6vHy8/T19vf4+fr/xAAfAQADAQEBAQEBAQEBAAAAAAAAAQIDBAUGBwgJCgv/xAC1EQACAQIEBAMEBwUEBAABAncAAQIDEQQFITEGEkFRB2FxEyIygQgUQpGhscEJ
IzNS8BVictEKFiQ04SXxFxgZGiYnKCkqNTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqCg4SFhoeIiYqSk5SVlpeYmZqio6Slpqeoqaqys7S1tre4ubrCw8TFxsfIycrS09TV1t
fY2dri4+Tl5ufo6ery8/T19vf4+fr/2gAMAwEAAhEDEQA/AOUt5l45q9HMvrXM29705q9He8da/Mj+vTbaZcVWnmX1qg17x1qtPe+9AE1xMvPNZ00y561BcXvvWdNe+9AGj5y5611PguZc3fP/ADz/
APZq8++289a6jwXe/wDH3z/zz/8AZqqG5+YeM3/JEY3/ALh/+nqZ6XbzKcc1pQTL61ytve9Oa04L33rY/hE6JZlxSSTLjrWQt7x1pJL3jrQBauJlrMuJl55qK4vfesy4vevNAFqSZc0VjyXvPWigDg
7eRuOavRytVe3tjxxV6O2OOlc5/p6NaVsdaqzyN61fa2OOlVZ7Y88UAZFxK3IrOmkbNa9xbHnis6a2PpQBS8xs9a6nwXI2bvn/AJ5/+zVzn2Y56V1Hgq2Obvj/AJ5/+zVUNz8w8Zv+SIxv/cP/ANPU
zrbeRhitOCVqpW9seOK04LY+lbH8IkiyNikklbFTrbHHSkktjjpQBl3EjVmXErcmtm4tj6VmXFsc9KAMuSRs0VNJbHPSigCpb2Y44q9HZj0p1uF4q9GFxXOf6elJrMY6VVnsxzxW0wGKrThaAOcuLM
c8VnzWY9K6G4C9qzpguaAMf7GM9K6nwXZjN3x/zz/9mrHwua6jwWF/0v8A7Z/+zVUNz8w8Zv8AkiMb/wBw/wD09TOjt7MccVpQWY9KbbheK04AtbH8IkK2Yx0pslmMdK0lC44pJAuKAMGezHpWZcWY
54ro7gLzWZcBeaAMGSzHpRWhIFzRQBxlvdjjmr0d2PWuWt7o8c1ejuj61zn+npvNdjHWqs92OeazmujjrVWe6PPNAFm4uxzzWfNdjPWqlxdHnms6a6OetAGp9rGetdV4Luxm75/55/8As1edG6Oetd
T4Lujm75/55/8As1VDc/MPGb/kiMb/ANw//T1M9Ot7scc1pQXY45rkre6PHNaUF0fWtj+ETpluxjrSSXYx1rFW6OOtNkujjrQBeuLsetZlxdj1qtPdH1rNuLo+tAF2S7GetFYkl0c9aKAOPt0bir0a
NU1vZ+1Xo7PjpXOf6emeyNiqs6NW61nx0qrPZ9eKAOauEbms6ZGzXSXFn14rOms/agDF2NnGK6nwWjZu/wDtn/7NWT9j56V1PguzObvj/nn/AOzVUNz8w8Zv+SIxv/cP/wBPUzft0bitOBGpbez6cV
pQWftWx/CJWVGxSSI2K1Vs+OlNks+OlAHPXCNWZcI3NdNcWfXis24s+vFAHOyI2aK1JLPnpRQBxtvAOOKvR24x0qnbzLxzV6OZfWv7gP00VoFx0qrPAOeKuNMuKqzzL60AZdxbrzxWfNbj0rSuJl55
rOmmWgCt9nGa+gf2U4Fz4n4/58v/AGvXgHnD1r6B/ZTmXPifn/ny/wDa9fl/jP8A8kRjv+4X/p6mevkX/Iwp/P8A9JZ9E29uvpWlBAPSs+3mU45rSgmX1r+Dz9ELKwDHSmyW646VIsy4602SZcdaAK
Fxbj0rMuIB6VqXEy+tZtxMvPNAGfJbj0op0ky560UAfCNve9OavR3vvXN28jcVejlav9QD8kNlr3jrVWe996ptK2OtVZ5G9aAJLi9681nTXvPWoriVuRWfNI2aAL323n71fQP7Kd7z4n5/58v/AGvX
zT5jetfQH7KcjZ8T8/8APl/7Xr8v8Z/+SIx3/cL/ANPUz18i/wCRhT+f/pLPqG3venNaUF571y9vIwxWlBI3Ffwefoh0K3vHWmyXvHWstZGxTZJWxQBYuL33rNuL3rzTLiRqzLiVuTQBYkveetFZMk
jZooA+L7e2PHFXo7Y+lXbezHHFXo7MY6V/qAfkhjm2OOlVZ7Y88V0rWYx0qrPZjnigDkri2PPFZ01sc9K6y4sxzxWdNZj0oA537Mc9K+gf2U7Y58T8f8+X/tevGfsYz0r6B/ZTsxnxPx/z5f8Atevy
/wAZ/wDkiMd/3C/9PUz18i/5GFP5/wDpLPcLe2PpWlBbH0qzb2Y9K0oLMelfwefohnrbHHSmyWxx0rdWzGOlNksxjpQBy89sfSsy4tjnpXW3Fn7Vm3FmM9KAOWktjnpRW3JZjPSigD45twtXowuKw7
e7HHNX47setf6gH5IaBAxVWcLTGuxjrVWe7HrQBFcBaz5guafcXY55rOmuxnrQBPhc19Afsphf+Kn/AO3L/wBr184/axnrX0D+yndjPifn/ny/9r1+X+M//JEY7/uF/wCnqZ6+Rf8AIwp/P/0ln0xb
heK0oAtYFvdjjmtKC7GBzX8Hn6IbChccU2QLiqi3Yx1psl2MdaACcLzWZcBealuLsetZtxdjnmgBJAuaKpSXYz1ooA+Dbe6PHNX47o+tY9ujcVejRsV/qAfkhda6OOtVZ7o4PNDI2Kqzo1AFe4ujzz
WdNdHPWp7hGrPmRs0AO+1HPWvoH9lO6OfE/P8Az5f+16+ddjZxivoD9lNGz4n/AO3L/wBr1+X+M/8AyRGO/wC4X/p6mevkX/Iwp/P/ANJZ9K290eOa0oLo+tYdujcVpQI1fwefohqrdHHWmyXRx1qu
qNimyI2KAI7i6PrWbcXR9as3CNWZcI3NAEUl0c9aKrSI2aKAP//Z
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
use image::ImageDecoder as _;
fn main() {
    let name = std::env::args().nth(1).unwrap();
    let file = std::io::BufReader::new(std::fs::File::open(name).unwrap());
    let mut decoder = image::codecs::jpeg::JpegDecoder::new(file).unwrap();
    println!("{}", decoder.orientation().unwrap().to_exif());
}
END
CARGO_TARGET_DIR="$folder/target" cargo build --quiet --release --manifest-path probe/Cargo.toml
python3 -m venv venv
venv/bin/pip install --quiet pillow==13.0.0
seen=""
for name in exif-1-then-6.jpg exif-6-then-1.jpg; do
    pillow=$(venv/bin/python -c "import sys; from PIL import Image; print(Image.open(sys.argv[1]).getexif()[0x112])" $name)
    line="$name Pillow $pillow image $(target/release/probe $name)"
    echo "$line"
    seen+="$line;"
done
test "$seen" = "exif-1-then-6.jpg Pillow 1 image 6;exif-6-then-1.jpg Pillow 6 image 1;"
