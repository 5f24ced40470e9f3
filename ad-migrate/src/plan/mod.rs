//! Every row held against the rules: what goes, what cannot, and why.
