"""Run by Alembic: migrate over the connection, and in the transaction, that the store holds."""

from __future__ import annotations

from alembic import context

from py2048.storage.schema import metadata, version

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=version.name,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
