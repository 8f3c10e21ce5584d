"""gunicorn: its settings, the worker with its threads, and the logs."""
