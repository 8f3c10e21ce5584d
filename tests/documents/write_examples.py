"""Write wallet_api/responses/examples.json from responses to a small ledger: `make examples`."""

import json
import re
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.api.test_examples import responses
from wallet_api import embedded, migrations
from wallet_api.database import connect
from wallet_api.settings import Settings

FILE = Path(__file__).parents[2] / "wallet_api" / "responses" / "examples.json"


def main() -> None:
    """Replace the data of all examples that the ledger gives; those of balances stay as they are."""
    examples: dict[str, dict[str, Any]] = json.loads(FILE.read_text())
    with tempfile.TemporaryDirectory(prefix="wallet-examples-") as home:
        Path(home).chmod(0o711)
        with embedded.running(Settings(wallet_api_home=home)) as settings:
            url = str(settings.database_url)
            with connect(url) as connection:
                migrations.migrate(connection)
                found = responses(url, connection)
    for (path, name), data in found.items():
        examples[path.removeprefix("/v1/")][name] = data
    text = json.dumps(examples, indent=1, ensure_ascii=False, default=float)
    # As in responses, without an exponent.
    text = re.sub(r"\b\d[\d.]*e-\d+", lambda number: f"{Decimal(number[0]):f}", text)
    FILE.write_text(f"{text}\n")


if __name__ == "__main__":
    main()
