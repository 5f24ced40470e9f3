//! Rows about the same vehicle as one row, in which each keeps its elements and objects.

use super::{Batch, LONGEST_ROW, Node, NodeId, Span};

impl Batch {
    /// Bytes that its rows take.
    pub(in crate::readers) fn held(&self) -> usize {
        self.text.len()
            + size_of_val(&*self.cells)
            + size_of_val(&*self.nodes)
            + self.rows.len() * size_of::<Span>()
            + size_of::<Self>()
    }

    /// Whether its rows are too many, or too long, for one row.
    pub(in crate::readers) fn is_too_long(&self) -> bool {
        self.held() > LONGEST_ROW
    }

    /// Adds the values of the last row to a batch, as a row of their own. Returns how many bytes that takes.
    pub(in crate::readers) fn copy_last(&self, to: &mut Self) -> usize {
        let Some(span) = self.rows.last() else { return 0 };
        let before = if to.rows.is_empty() { 0 } else { to.held() };
        if to.rows.is_empty() {
            // Very many batches have one row alone.
            to.rows.reserve_exact(1);
            to.cells.reserve_exact(span.cells.1 - span.cells.0);
            to.nodes.reserve_exact(self.nodes.len() - span.nodes + 1);
        }
        to.begin(span.number, span.line);
        // Its elements and objects are within one that is the row.
        to.nodes.push(Node { parent: 0, path: 0 });
        let row = u32::try_from(to.nodes.len()).unwrap_or(0);
        let first = u32::try_from(span.nodes).unwrap_or(0);
        let place = |node: NodeId| if node == 0 { row } else { node - first + row };
        to.nodes.extend(self.nodes[span.nodes..].iter().map(|node| Node { parent: place(node.parent), ..*node }));
        for cell in &self.cells[span.cells.0..span.cells.1] {
            to.node = place(cell.node);
            to.push_of(cell.kind, cell.column, &self.text[cell.start..cell.end]);
        }
        to.node = 0;
        to.held() - before
    }

    /// Puts the values of all rows of a batch before those of the last row.
    pub(in crate::readers) fn prepend(&mut self, earlier: &Self) {
        let mut own = Self::default();
        self.copy_last(&mut own);
        let Some(span) = self.rows.last_mut() else { return };
        if let Some(first) = self.cells.get(span.cells.0) {
            self.text.truncate(first.start);
        }
        self.cells.truncate(span.cells.0);
        self.nodes.truncate(span.nodes);
        (span.cells.1, span.in_place, span.is_merged) = (span.cells.0, false, true);
        for rows in [earlier, &own] {
            let before = u32::try_from(self.nodes.len()).unwrap_or(0);
            let place = |node: NodeId| if node == 0 { 0 } else { node + before };
            self.nodes.extend(rows.nodes.iter().map(|node| Node { parent: place(node.parent), ..*node }));
            for cell in &rows.cells {
                self.node = place(cell.node);
                self.push_of(cell.kind, cell.column, &rows.text[cell.start..cell.end]);
            }
        }
        self.node = 0;
    }
}
