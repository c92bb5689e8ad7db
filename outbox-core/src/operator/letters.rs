use super::{
    Act, Answer, BlockedAggregate, Bulk, BulkDone, Letter, LetterDetail, LetterFilter, Operator,
    OperatorStore, Page, Span, handle::PAGE,
};
use crate::store::{Position, StoreError};
use tokio::time::sleep;

/// Dead letters.
impl<S: OperatorStore> Operator<S> {
    /// The dead letters that match, by position. Start `after` 0, and go on after the page's
    /// `next`.
    ///
    /// # Errors
    /// When the database cannot answer.
    pub async fn letters(
        &self,
        filter: &LetterFilter,
        after: Position,
    ) -> Result<Page<Letter>, StoreError> {
        self.store.letters(filter, Span::new(after, PAGE)).await
    }

    /// One dead letter with its content; `None` when there is none at this position.
    ///
    /// # Errors
    /// When the database cannot answer.
    pub async fn letter(&self, position: Position) -> Result<Option<LetterDetail>, StoreError> {
        self.store.letter(position).await
    }

    /// How many dead letters match: what [`retry_all`](Self::retry_all) would bring back. It reads
    /// all dead letters, some at a time.
    ///
    /// # Errors
    /// When the database cannot answer.
    pub async fn count_letters(&self, filter: &LetterFilter) -> Result<usize, StoreError> {
        let (positions, _) = self.matching(filter, usize::MAX).await?;
        Ok(positions.len())
    }

    /// Delivers a dead letter again, starting over. An ordered event returns to its old place,
    /// before all that waited for it; an unordered one gets a new place. [`Answer::TooLate`] also where
    /// another event has that place by now, as after a restore: discard one of them.
    ///
    /// # Errors
    /// When the database cannot do it; then nothing is done.
    pub async fn retry(&self, position: Position, why: &str) -> Result<Answer, StoreError> {
        self.act(Act::Retry, position, why).await
    }

    /// Lets the aggregate go on without the letter, which is kept. Retried later, an ordered event
    /// comes after some that followed it.
    ///
    /// # Errors
    /// When the database cannot do it; then nothing is done.
    pub async fn skip(&self, position: Position, why: &str) -> Result<Answer, StoreError> {
        self.act(Act::Skip, position, why).await
    }

    /// Deletes a dead letter, or an event that is still to be delivered, for good. What is in work
    /// may still come to its end; its outcome finds nothing then.
    ///
    /// # Errors
    /// When the database cannot do it; then nothing is done.
    pub async fn discard(&self, position: Position, why: &str) -> Result<Answer, StoreError> {
        self.act(Act::Discard, position, why).await
    }

    /// Delivers all dead letters again that match now, by position, no more and no faster than
    /// `bulk` says. Those that die once more meanwhile are left.
    ///
    /// # Errors
    /// When the database cannot do it. What was done before is done, and recorded.
    ///
    /// # Cancel safety
    /// Dropping the future ends it between two transactions, or rolls one back.
    pub async fn retry_all(
        &self,
        filter: &LetterFilter,
        bulk: Bulk,
        why: &str,
    ) -> Result<BulkDone, StoreError> {
        let by = self.by(why);
        let (positions, more) = self.matching(filter, bulk.most).await?;
        let mut done = BulkDone {
            more,
            ..BulkDone::default()
        };
        for batch in positions.chunks(bulk.batch()) {
            if done.done + done.too_late > 0 {
                sleep(bulk.pause(batch.len())).await;
            }
            let acted = self.store.act(Act::Retry, batch, &by).await?;
            self.store.wake().notify();
            done.done += acted.len();
            done.too_late += batch.len() - acted.len();
        }
        Ok(done)
    }

    /// The aggregates that wait for an operator, by the position of the dead letter that holds
    /// each back. Start `after` 0, and go on after the page's `next`.
    ///
    /// # Errors
    /// When the database cannot answer.
    pub async fn blocked(&self, after: Position) -> Result<Page<BlockedAggregate>, StoreError> {
        self.store.blocked_aggregates(Span::new(after, PAGE)).await
    }

    async fn act(&self, act: Act, position: Position, why: &str) -> Result<Answer, StoreError> {
        let acted = self.store.act(act, &[position], &self.by(why)).await?;
        self.store.wake().notify();
        Ok(Answer::of(!acted.is_empty()))
    }

    /// The positions of the first `most` letters that match, and whether there are more.
    async fn matching(
        &self,
        filter: &LetterFilter,
        most: usize,
    ) -> Result<(Vec<Position>, bool), StoreError> {
        const LOOK: usize = 1_000;
        let mut positions = Vec::new();
        let mut after = Some(0);
        while let Some(from) = after {
            let page = self.store.letters(filter, Span::new(from, LOOK)).await?;
            positions.extend(page.items.iter().map(|letter| letter.position));
            if positions.len() > most {
                positions.truncate(most);
                return Ok((positions, true));
            }
            after = page.next;
        }
        Ok((positions, false))
    }
}
