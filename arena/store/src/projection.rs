use arena_canon::Digest;
use rusqlite::{Connection, OptionalExtension, params};

use crate::event::Event;
use crate::fault::StoreFault;
use crate::journal::{COLUMNS, event};

/// Tables that follow from the events: for queries, and for constraints that must hold whatever the rules
/// overlook. They are written in the transaction of the append, and built anew when they change.
pub trait Projection: Send + 'static {
    /// Lower-case letters, digits and `_`, without `__`. Its tables are `p_<name>` and `p_<name>__<part>`.
    fn name(&self) -> &'static str;

    /// Changes whenever what [`apply`](Self::apply) writes does. A change of the tables alone is noticed.
    fn version(&self) -> u32;

    /// What makes its tables and their indices, all of which are named after it.
    fn tables(&self) -> &'static str;

    /// Writes what follows from an event. It looks at the event and its own tables only, so that building
    /// them anew gives the same. A constraint that does not hold ends the append.
    fn apply(&self, db: &Connection, event: &Event) -> rusqlite::Result<()>;
}

pub(crate) type Projections = Vec<Box<dyn Projection>>;

/// Makes the tables be those of `projections`, within the caller's transaction: new and changed ones are
/// built from all events, those that are not registered any more are dropped.
pub(crate) fn bring_up(db: &Connection, projections: &Projections) -> Result<(), StoreFault> {
    let mut registered: Vec<&str> = Vec::new();
    for projection in projections {
        let name = projection.name();
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        if name.is_empty() || name.len() > 40 || name.contains("__") || !name.bytes().all(plain) {
            return Err(wrong(name, "the name is not 1 to 40 of a-z 0-9 _, without __"));
        }
        if registered.contains(&name) {
            return Err(wrong(name, "it is registered twice"));
        }
        registered.push(name);
    }
    let known: Vec<String> = db
        .prepare("SELECT name FROM projections")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for name in known.iter().filter(|name| !registered.contains(&name.as_str())) {
        remove(db, name)?;
    }
    for projection in projections {
        if !is_current(db, projection.as_ref())? {
            build(db, projection.as_ref())?;
        }
    }
    Ok(())
}

fn is_current(db: &Connection, projection: &dyn Projection) -> Result<bool, StoreFault> {
    let select = "SELECT version, ddl_sha256 FROM projections WHERE name = ?1";
    let found = db.query_row(select, [projection.name()], |row| Ok((row.get(0)?, row.get(1)?)));
    let expected = (projection.version(), *Digest::of(projection.tables().as_bytes()).as_bytes());
    Ok(found.optional()? == Some(expected))
}

/// Drops the tables of a projection and builds them from the first event on, within the caller's transaction.
pub(crate) fn build(db: &Connection, projection: &dyn Projection) -> Result<(), StoreFault> {
    let name = projection.name();
    remove(db, name)?;
    let before = names(db)?;
    db.execute_batch(projection.tables())?;
    for made in names(db)?.iter().filter(|it| !before.contains(it)) {
        if !belongs(made, name) {
            return Err(wrong(name, &format!("`{made}` is not named `p_{name}` or `p_{name}__...`")));
        }
    }
    let mut statement = db.prepare(&format!("SELECT {COLUMNS} ORDER BY seq"))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        apply(db, projection, &event(row)?)?;
    }
    let insert = "INSERT INTO projections (name, version, ddl_sha256) VALUES (?1, ?2, ?3)";
    let ddl_sha256 = Digest::of(projection.tables().as_bytes());
    db.execute(insert, params![name, projection.version(), ddl_sha256.as_bytes()])?;
    Ok(())
}

/// Takes one event in. A constraint is told apart from a failure, since the domain may make a refusal of it.
pub(crate) fn apply(db: &Connection, projection: &dyn Projection, event: &Event) -> Result<(), StoreFault> {
    projection.apply(db, event).map_err(|why| match why.sqlite_error_code() {
        Some(rusqlite::ErrorCode::ConstraintViolation) => {
            StoreFault::Constraint { projection: projection.name(), seq: event.seq, why: why.to_string() }
        }
        _ => why.into(),
    })
}

fn remove(db: &Connection, name: &str) -> Result<(), StoreFault> {
    let select = "SELECT type, name FROM sqlite_schema WHERE type IN ('table', 'view')";
    let tables: Vec<(String, String)> =
        db.prepare(select)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    for (kind, table) in tables.iter().filter(|(_, table)| belongs(table, name)) {
        db.execute_batch(&format!("DROP {kind} IF EXISTS \"{}\"", table.replace('"', "\"\"")))?;
    }
    db.execute("DELETE FROM projections WHERE name = ?1", [name])?;
    Ok(())
}

fn names(db: &Connection) -> rusqlite::Result<Vec<String>> {
    // What SQLite makes for itself has a name of its own, after that of the table.
    let select = "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
    db.prepare(select)?.query_map([], |row| row.get(0))?.collect()
}

fn belongs(table: &str, projection: &str) -> bool {
    let rest = table.strip_prefix("p_").and_then(|rest| rest.strip_prefix(projection));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("__"))
}

fn wrong(projection: &str, why: &str) -> StoreFault {
    StoreFault::Projection { projection: projection.to_owned(), why: why.to_owned() }
}
