"""What an operator runs: the commands, backups, the embedded servers, the demo."""
