//! Finds the records and the encoding of an XML document from its beginning.

use quick_xml::{Reader, events::Event};
use rustc_hash::FxHashSet;

use super::{DEEPEST, attributes, local};
use crate::readers::tree::{NodeId, RecordsPlace, Tree};

/// Finds the records in a text that may be truncated.
pub(super) fn find(text: &[u8]) -> RecordsPlace {
    let mut tree = Tree::default();
    let mut reader = Reader::from_reader(text);
    reader.config_mut().expand_empty_elements = true;
    reader.config_mut().check_end_names = false;
    let mut open: Vec<(NodeId, FxHashSet<String>)> = vec![(Tree::ROOT, FxHashSet::default())];
    // The search ends where the text is truncated or invalid.
    while let Ok(event) = reader.read_event() {
        let Some((parent, seen)) = open.last_mut() else { break };
        match event {
            Event::Start(start) => {
                let name = local(start.local_name()).into_owned();
                let Some(node) = tree.enter(*parent, &name) else { break };
                if !seen.insert(name) {
                    tree.add_repetition(node);
                }
                for (name, _) in attributes(&start) {
                    if let Some(attribute) = tree.enter(node, &format!("@{name}")) {
                        tree.value(attribute);
                    }
                }
                if open.len() > DEEPEST {
                    break;
                }
                open.push((node, FxHashSet::default()));
            }
            Event::End(_) => {
                if seen.is_empty() {
                    tree.value(*parent);
                }
                open.pop();
            }
            Event::Eof => break,
            _ => {}
        }
    }
    tree.records(None)
}

/// The encoding that the declaration of a document names, if it has one.
pub(in crate::readers) fn declared_encoding(head: &[u8]) -> Option<String> {
    let start = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head).trim_ascii_start();
    let declaration = start.strip_prefix(b"<?xml")?;
    let declaration = &declaration[..memchr::memmem::find(&declaration[..declaration.len().min(1000)], b"?>")?];
    let at = memchr::memmem::find(declaration, b"encoding")?;
    let value = declaration[at + 8..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let (quote, value) = value.split_first()?;
    let end = memchr::memchr(*quote, value)?;
    Some(String::from_utf8_lossy(&value[..end]).into_owned())
}
