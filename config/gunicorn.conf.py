"""Your own settings of gunicorn, below those of the service: the FILE of `gunicorn --config FILE`."""

from wallet_api.serving.settings import *  # noqa: F403
