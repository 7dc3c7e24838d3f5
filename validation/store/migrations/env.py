"""Alembic's entry: runs the migrations on the connection, and in the transaction, that `migration.upgrade` gives it."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    transactional_ddl=True,  # SQLite's too, as our transactions begin explicitly
    render_as_batch=True,
)
context.run_migrations()
