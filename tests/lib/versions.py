"""Tables as earlier versions left them."""

from collections.abc import Sequence

import pytest

from wallet_api.database import Connection, migrations


def migrate_to(connection: Connection, names: Sequence[str]) -> None:
    """Apply these migrations alone, as a version that had no others."""
    with pytest.MonkeyPatch.context() as earlier:
        earlier.setattr(migrations, "available", lambda: list(names))
        migrations.migrate(connection)
