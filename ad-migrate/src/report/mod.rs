//! What was found, for people and programs: a table, JSON, a page to forward.
