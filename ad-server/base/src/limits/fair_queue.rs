//! What waits to be run, in the order of turns: of clients and of the service itself, and among clients of their dealers. So nobody
//! waits for all that somebody else has sent.

use std::collections::VecDeque;

/// What waits for its turn.
pub trait QueueItem {
    /// The dealer whose client waits for it; `None` if it is of the service itself.
    fn dealer(&self) -> Option<&str>;

    /// Whether the caller still waits for it.
    fn is_wanted(&self) -> bool;
}

impl<W: QueueItem + ?Sized> QueueItem for Box<W> {
    fn dealer(&self) -> Option<&str> {
        (**self).dealer()
    }

    fn is_wanted(&self) -> bool {
        (**self).is_wanted()
    }
}

/// Work that waits, in the order of turns.
#[derive(Debug)]
pub struct FairQueue<W> {
    /// What is of clients, by dealer, in the order of the dealers' turns. No queue is empty.
    of_dealers: VecDeque<(String, VecDeque<W>)>,
    /// What is of the service itself.
    own: VecDeque<W>,
    is_turn_of_own: bool,
}

impl<W> Default for FairQueue<W> {
    fn default() -> Self {
        Self { of_dealers: VecDeque::new(), own: VecDeque::new(), is_turn_of_own: false }
    }
}

impl<W: QueueItem> From<W> for FairQueue<W> {
    fn from(waiting: W) -> Self {
        let mut queue = Self::default();
        queue.add(waiting);
        queue
    }
}

impl<W: QueueItem> FairQueue<W> {
    pub fn is_empty(&self) -> bool {
        self.of_dealers.is_empty() && self.own.is_empty()
    }

    pub fn add(&mut self, waiting: W) {
        let Some(dealer) = waiting.dealer() else { return push(&mut self.own, waiting) };
        match self.of_dealers.iter_mut().find(|(other, _)| other == dealer) {
            Some((_, queue)) => push(queue, waiting),
            None => self.of_dealers.push_back((dealer.to_owned(), VecDeque::from([waiting]))),
        }
    }

    /// The next one whose caller still waits.
    pub fn next_wanted(&mut self) -> Option<W> {
        std::iter::from_fn(|| self.next()).find(W::is_wanted)
    }

    /// The next one, alternating between clients and the service itself.
    fn next(&mut self) -> Option<W> {
        self.is_turn_of_own = !self.is_turn_of_own;
        if self.is_turn_of_own {
            self.own.pop_front().or_else(|| self.next_of_dealers())
        } else {
            self.next_of_dealers().or_else(|| self.own.pop_front())
        }
    }

    fn next_of_dealers(&mut self) -> Option<W> {
        let (dealer, mut queue) = self.of_dealers.pop_front()?;
        let next = queue.pop_front();
        if !queue.is_empty() {
            self.of_dealers.push_back((dealer, queue));
        }
        next
    }
}

/// Adds to a queue. Before the queue grows, it drops what nobody waits for any more: a client who sends and leaves again and again
/// cannot fill it.
fn push<W: QueueItem>(queue: &mut VecDeque<W>, waiting: W) {
    if queue.len() == queue.capacity() {
        queue.retain(W::is_wanted);
    }
    queue.push_back(waiting);
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Call {
        dealer: Option<&'static str>,
        is_wanted: bool,
    }

    impl QueueItem for Call {
        fn dealer(&self) -> Option<&str> {
            self.dealer
        }

        fn is_wanted(&self) -> bool {
            self.is_wanted
        }
    }

    #[test]
    fn dealers_and_the_service_itself_are_served_by_turns() {
        let mut queue = FairQueue::default();
        for dealer in [Some("a"), Some("a"), Some("a"), None, None, None, Some("b")] {
            queue.add(Call { dealer, is_wanted: true });
        }
        queue.add(Call { dealer: Some("c"), is_wanted: false });
        let order: Vec<_> =
            std::iter::from_fn(|| queue.next_wanted()).map(|call| call.dealer.unwrap_or("own")).collect();
        assert_eq!(order, ["own", "a", "own", "b", "own", "a", "a"]);
        assert!(queue.is_empty());
    }

    #[test]
    fn what_nobody_waits_for_any_more_does_not_fill_the_queues() {
        let mut queue = FairQueue::default();
        for dealer in [Some("a"), None] {
            queue.add(Call { dealer, is_wanted: true });
            for _ in 0..10_000 {
                queue.add(Call { dealer, is_wanted: false });
            }
        }
        assert!(queue.own.len() < 10 && queue.of_dealers[0].1.len() < 10);
        assert!(queue.next_wanted().is_some() && queue.next_wanted().is_some() && queue.next_wanted().is_none());
    }
}
