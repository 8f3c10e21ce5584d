"""A ledger on servers of its own, for what runs outside of the session of the tests."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from wallet_api.database import connect, migrations
from wallet_api.operate import embedded
from wallet_api.settings import Settings


@contextmanager
def ledger_alone(folder: Path | None = None, database_url: str | None = None) -> Iterator[Settings]:
    """Run servers in this block, and yield settings with a database that has all tables.

    They are below a folder, in which the ledger stays, or in one that is removed. With the URL of another
    database, that one is used.
    """
    with ExitStack() as stack:
        # Short: the address of a socket has room for a hundred characters.
        folder = folder or Path(stack.enter_context(TemporaryDirectory(prefix="wallet-alone-")))
        folder.mkdir(parents=True, exist_ok=True)
        # The servers of root run as another user.
        folder.chmod(0o711)
        own = Settings(wallet_api_home=str(folder / "home"), database_url=database_url)
        settings = stack.enter_context(embedded.running(own))
        with connect(str(settings.database_url)) as connection:
            migrations.migrate(connection)
        yield settings
