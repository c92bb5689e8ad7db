use crate::events::{CustomerMoved, OrderEvent};
use outbox_core::{
    BoxError,
    contract::{self, Change, ContractError, Info, Schemas},
};
use std::{fs, io, path::Path};

/// The files that are checked in: what was promised, and two documents made from the types.
pub struct Documents {
    schemas: Schemas,
    texts: [(&'static str, String); 2],
}

const LOCK: &str = "outbox.lock.json";

/// The documents of all event types of the application.
///
/// # Errors
/// When a type's schema is not that of its events.
pub fn documents() -> Result<Documents, ContractError> {
    let schemas = Schemas::new()
        .with::<OrderEvent>()?
        .with::<CustomerMoved>()?;
    let info = Info::new("Shop", "2.0.0").description("What happens in the shop.");
    let markdown = format!("# Events of the shop\n\n{}", schemas.markdown()?);
    Ok(Documents {
        texts: [
            ("asyncapi.json", schemas.asyncapi(&info)?),
            ("EVENTS.md", markdown),
        ],
        schemas,
    })
}

impl Documents {
    /// Says what in `folder` is not up to date.
    ///
    /// # Errors
    /// That is the error.
    pub fn check(&self, folder: &Path) -> Result<(), BoxError> {
        contract::check(&self.schemas, folder.join(LOCK))?;
        for (name, text) in &self.texts {
            if fs::read_to_string(folder.join(name))? != *text {
                return Err(format!("{name} is not up to date").into());
            }
        }
        Ok(())
    }

    /// Writes the files anew, and says what has changed for others.
    ///
    /// # Errors
    /// When a change needs a new version of its topic: then nothing is written.
    pub fn update(&self, folder: &Path) -> Result<Vec<Change>, BoxError> {
        let changes = contract::update(&self.schemas, folder.join(LOCK))?;
        let written: io::Result<()> = self
            .texts
            .iter()
            .try_for_each(|(name, text)| fs::write(folder.join(name), text));
        written?;
        Ok(changes)
    }
}
