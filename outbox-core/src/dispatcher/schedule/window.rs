use crate::dispatcher::router::RouteId;

/// How many events wait in memory, by the topic that their lanes wait for.
#[derive(Debug)]
pub(crate) struct Window {
    size: usize,
    waiting: usize,
    /// By route.
    topics: Vec<usize>,
    /// How many topics have events in memory.
    present: usize,
}

impl Window {
    pub(crate) fn new(size: usize, topics: usize) -> Self {
        Self {
            size,
            waiting: 0,
            topics: vec![0; topics],
            present: 0,
        }
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting
    }

    /// How many more events there is room for.
    pub(crate) fn room(&self) -> usize {
        self.size.saturating_sub(self.waiting)
    }

    /// How many events a topic may have in memory where others exist. What all of them leave free
    /// is as much as one of them has: there is room for one that comes next.
    pub(crate) fn share(&self) -> usize {
        if self.topics.len() == 1 {
            self.size
        } else {
            (self.size / (self.present.max(1) + 1)).max(1)
        }
    }

    /// How many events wait for a topic.
    pub(crate) fn of(&self, topic: RouteId) -> usize {
        self.topics[topic]
    }

    /// Whether a topic has more than its share.
    pub(crate) fn is_over(&self, topic: RouteId) -> bool {
        self.of(topic) > self.share()
    }

    pub(crate) fn add(&mut self, topic: Option<RouteId>, events: usize) {
        self.waiting += events;
        if let Some(topic) = topic {
            self.present += usize::from(self.topics[topic] == 0 && events > 0);
            self.topics[topic] += events;
        }
    }

    pub(crate) fn remove(&mut self, topic: Option<RouteId>, events: usize) {
        self.waiting -= events;
        if let Some(topic) = topic {
            self.topics[topic] -= events;
            self.present -= usize::from(self.topics[topic] == 0 && events > 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_that_hold_their_shares_leave_room_for_another() {
        let mut window = Window::new(100, 9);
        for topic in 0..4 {
            window.add(Some(topic), 1);
        }
        assert_eq!(window.share(), 20);
        for topic in 0..4 {
            window.add(Some(topic), 19);
        }
        assert_eq!(window.room(), 20);
        window.remove(Some(3), 20);
        assert_eq!(window.share(), 25);
        assert!(!window.is_over(0));
    }

    #[test]
    fn a_topic_without_others_has_it_all() {
        assert_eq!(Window::new(100, 1).share(), 100);
    }
}
