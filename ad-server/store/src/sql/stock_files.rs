//! Stock files that somebody has sent to the console, and what was said about their columns.

use ad_core::model::Timestamp;
use uuid::Uuid;

use crate::statement::statements;

statements! {
    /// Adds a file of a dealer.
    AddStockFile<'a> { id: Uuid, dealer_code: &'a str, name: &'a str, content: &'a str, at: Timestamp }
    both "INSERT INTO stock_files (id, dealer_code, name, content, at) VALUES (:id, :dealer_code, :name, :content, :at)";

    /// Removes the oldest files of a dealer, beyond the number of those that it may have.
    RemoveSurplusStockFiles<'a> { dealer_code: &'a str, kept: u32 }
    both "
        DELETE FROM stock_files WHERE id IN (
            SELECT id FROM stock_files WHERE dealer_code = :dealer_code ORDER BY at DESC, id LIMIT 1000 OFFSET :kept
        )";

    /// A file of a dealer.
    StockFileOf<'a> { id: Uuid, dealer_code: &'a str }
    both "SELECT name, content, plan FROM stock_files WHERE id = :id AND dealer_code = :dealer_code";

    /// Notes the latest plan of a file.
    SetPlanOfStockFile { id: Uuid, plan: Uuid }
    both "UPDATE stock_files SET plan = :plan WHERE id = :id";

    /// Removes files that were sent before a time.
    RemoveStockFilesBefore { before: Timestamp }
    both "DELETE FROM stock_files WHERE at < :before";

    /// Erases the files of a dealer.
    EraseStockFiles<'a> { dealer_code: &'a str }
    both "DELETE FROM stock_files WHERE dealer_code = :dealer_code";

    /// Erases what was said about the columns of a dealer's files.
    EraseColumnChoices<'a> { dealer_code: &'a str }
    both "DELETE FROM column_choices WHERE dealer_code = :dealer_code";

    /// Keeps what was said about the columns of a header.
    KeepColumnChoices<'a> { dealer_code: &'a str, header: &'a str, choices: &'a str, at: Timestamp }
    both "
        INSERT INTO column_choices (dealer_code, header, choices, at) VALUES (:dealer_code, :header, :choices, :at)
        ON CONFLICT (dealer_code, header) DO UPDATE SET choices = excluded.choices, at = excluded.at";

    /// Forgets what was said longest ago, beyond the number of headers that a dealer may have.
    ForgetSurplusColumnChoices<'a> { dealer_code: &'a str, kept: u32 }
    both "
        DELETE FROM column_choices WHERE dealer_code = :dealer_code AND header IN (
            SELECT header FROM column_choices WHERE dealer_code = :dealer_code ORDER BY at DESC, header LIMIT 1000 OFFSET :kept
        )";

    /// What was said about the columns of a header.
    ColumnChoicesOf<'a> { dealer_code: &'a str, header: &'a str }
    both "SELECT choices FROM column_choices WHERE dealer_code = :dealer_code AND header = :header";
}
