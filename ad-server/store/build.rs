//! The migrations are embedded by a macro: a new file among them has to build the crate again.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
