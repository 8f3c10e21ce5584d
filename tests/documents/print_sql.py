"""Print the statements of a file as they run, with what they include: `make sql NAME=queries/leaderboard`."""

import sys

from wallet_api.database import load_sql, load_statements


def main(name: str) -> None:
    """Print one statement, or each of a file in its order below its name."""
    folder, _, file = name.removeprefix("wallet_api/").removesuffix(".sql").rpartition("/")
    package = ".".join(["wallet_api", *folder.split("/")]) if folder else "wallet_api"
    for part, statement in (load_statements(package, file) or {file: load_sql(package, file)}).items():
        print(f"-- {part} --\n{statement};\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
