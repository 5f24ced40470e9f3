//! What a process does besides answering requests.
//!
//! | Module | What it is for |
//! |---|---|
//! | [`periodic`] | what a process does every so often: one table |
//! | [`worker`] | runs accepted requests through the pipeline |
//! | [`webhook_worker`] | sends events to the endpoints of integrators |
//! | [`stock_plans`] | applies stock plans |
//! | [`promotions`] | runs the schedules of promotions that are due |
//! | [`photos`] | examines images of published ads and makes their renditions |
//! | [`cleanup`] | removes what is kept for a limited time |
//! | [`retention`] | erases what is older than its retention time |
//! | [`operators`] | what operators do and see, by commands and in the console |

pub mod cleanup;
pub mod operators;
pub mod periodic;
pub mod photos;
pub mod promotions;
pub mod retention;
pub mod sales;
pub mod stock_plans;
pub mod webhook_worker;
pub mod worker;
