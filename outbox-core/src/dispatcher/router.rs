use super::route::Route;
use std::collections::HashMap;

/// Finds the route of a topic.
pub(crate) struct Router {
    routes: Vec<Route>,
    topics: HashMap<String, RouteId>,
    /// In the order of registration: the first that matches wins.
    patterns: Vec<(Pattern, RouteId)>,
}

/// Indexes [`Router::route`].
pub(crate) type RouteId = usize;

/// A topic, or a prefix with `*` at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern {
    start: String,
    open: bool,
}

impl Pattern {
    pub(crate) fn parse(pattern: &str) -> Option<Self> {
        let (start, open) = match pattern.strip_suffix('*') {
            Some(start) => (start, true),
            None => (pattern, false),
        };
        let valid = !start.contains('*') && !pattern.is_empty();
        valid.then(|| Self {
            start: start.to_owned(),
            open,
        })
    }

    fn matches(&self, topic: &str) -> bool {
        if self.open {
            topic.starts_with(&self.start)
        } else {
            topic == self.start
        }
    }
}

impl Router {
    pub(crate) fn new() -> Self {
        Self {
            routes: Vec::new(),
            topics: HashMap::new(),
            patterns: Vec::new(),
        }
    }

    /// Adds the route of one topic; `false` when the topic has one already.
    pub(crate) fn topic(&mut self, topic: &str, route: Route) -> bool {
        let new = !self.has(topic);
        if new {
            self.topics.insert(topic.to_owned(), self.routes.len());
            self.routes.push(route);
        }
        new
    }

    /// Sends the events of one more topic to the route that was added last; `false` when the topic
    /// has a route already.
    pub(crate) fn also(&mut self, topic: &str) -> bool {
        let new = !self.has(topic);
        if new && let Some(last) = self.routes.len().checked_sub(1) {
            self.topics.insert(topic.to_owned(), last);
        }
        new
    }

    pub(crate) fn pattern(&mut self, pattern: Pattern, route: Route) {
        self.patterns.push((pattern, self.routes.len()));
        self.routes.push(route);
    }

    pub(crate) fn has(&self, topic: &str) -> bool {
        self.topics.contains_key(topic)
    }

    pub(crate) fn find(&self, topic: &str) -> Option<RouteId> {
        self.topics.get(topic).copied().or_else(|| {
            let matching = |(pattern, _): &&(Pattern, RouteId)| pattern.matches(topic);
            self.patterns.iter().find(matching).map(|(_, route)| *route)
        })
    }

    /// Whether a route is that of a topic, or would be if an earlier one did not match as well.
    pub(crate) fn leads_to(&self, topic: &str, id: RouteId) -> bool {
        self.topics.get(topic) == Some(&id)
            || self
                .patterns
                .iter()
                .any(|(pattern, route)| *route == id && pattern.matches(topic))
    }

    pub(crate) fn route(&self, id: RouteId) -> &Route {
        &self.routes[id]
    }

    pub(crate) fn routes(&self) -> &[Route] {
        &self.routes
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn patterns_are_topics_or_prefixes() {
        let matches = |pattern, topic| Pattern::parse(pattern).unwrap().matches(topic);
        assert!(matches("order.*", "order.placed"));
        assert!(!matches("order.*", "orders"));
        assert!(matches("*", "anything"));
        assert!(matches("order.placed", "order.placed"));
        assert!(!matches("order.placed", "order.placed.twice"));
        for bad in ["", "*.placed", "a*b", "**"] {
            assert_eq!(Pattern::parse(bad), None, "{bad}");
        }
    }
}
