//! Where the labels of a function are.

use crate::ir::Label;

/// Labels and the events they stand for.
pub(super) struct Labels {
    /// By label: the event's number plus one, 0 where there is none. Functions name few
    /// labels and mostly the same, so little of this is ever touched.
    events: Vec<u32>,
    /// Those that have one.
    named: Vec<Label>,
}

impl Labels {
    pub(super) fn new() -> Labels {
        Labels { events: vec![0; usize::from(u16::MAX) + 1], named: vec![] }
    }

    pub(super) fn clear(&mut self) {
        for label in self.named.drain(..) {
            self.events[usize::from(label.0)] = 0;
        }
    }

    /// Whether the label is new.
    pub(super) fn insert(&mut self, label: Label, event: u32) -> bool {
        let place = &mut self.events[usize::from(label.0)];
        if *place != 0 {
            return false;
        }
        *place = event + 1;
        self.named.push(label);
        true
    }

    pub(super) fn get(&self, label: Label) -> Option<u32> {
        self.events[usize::from(label.0)].checked_sub(1)
    }
}
