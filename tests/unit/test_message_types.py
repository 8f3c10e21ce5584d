"""An event of webhooks that is half added is named at start."""

import inspect

import pytest

from wallet_api.notify import events


@pytest.mark.parametrize(
    "half", ['HALF = "half"', 'HALF = ("half", "", "a meaning")', 'HALF = ("half", "A text.")']
)
def test_an_event_without_its_text_or_its_meaning_is_named_at_start(half: str) -> None:
    head, method, rest = inspect.getsource(events.MessageType).partition("    def __new__")
    names = vars(events).copy()
    exec(f"{head}{method}{rest}", names)
    assert [*names["MessageType"]] == [*events.MessageType]
    with pytest.raises(ValueError, match="the type of message 'half' has no text or no meaning"):
        exec(f"{head}    {half}\n\n{method}{rest}", names)
