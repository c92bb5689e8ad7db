use crate::{
    app::App,
    entities::mail,
    events::Confirmation,
    mailer::{Answer, Mail},
};
use outbox_seaorm::{BatchHandler, Delivery, HandlerError, Outcome};
use sea_orm::{DbErr, EntityTrait, Set};

/// Sends the mails about new orders, as many as there are in one call.
#[derive(Clone)]
pub struct Confirm {
    /// A batch has no single delivery whose state it could ask for.
    pub app: App,
}

impl BatchHandler<Confirmation> for Confirm {
    async fn handle(&self, batch: Vec<(Confirmation, Delivery)>) -> Vec<Outcome> {
        let mails = batch.iter().map(|(confirmation, delivery)| Mail {
            key: delivery.idempotency_key(),
            recipient: confirmation.recipient.clone(),
            text: format!("Thank you for order {}", confirmation.order_id),
        });
        let mails: Vec<_> = mails.collect();
        let answers = match self.app.mailer.send(&mails).await {
            Ok(answers) => answers,
            Err(error) => {
                let outage = batch.iter().map(|_| Err(HandlerError::outage(error)));
                return outage.collect();
            }
        };
        if let Err(error) = self.note(&batch, &answers).await {
            // They are sent, and come again with the same keys.
            let error = error.to_string();
            let again = batch.iter().map(|_| Err(HandlerError::retry(&*error)));
            return again.collect();
        }
        let outcomes = answers.iter().map(|answer| match answer {
            Answer::Accepted => Ok(()),
            Answer::Refused => Err(HandlerError::dead("nobody reads mail there")),
        });
        outcomes.collect()
    }
}

impl Confirm {
    /// Notes the mails that are on their way.
    async fn note(
        &self,
        batch: &[(Confirmation, Delivery)],
        answers: &[Answer],
    ) -> Result<(), DbErr> {
        let sent = batch
            .iter()
            .zip(answers)
            .filter(|(_, answer)| **answer == Answer::Accepted)
            .map(|((confirmation, _), _)| mail::ActiveModel {
                order_id: Set(confirmation.order_id),
                recipient: Set(confirmation.recipient.clone()),
            });
        mail::Entity::insert_many(sent)
            .on_conflict_do_nothing()
            .exec_without_returning(&self.app.db)
            .await?;
        Ok(())
    }
}
