"""Questions to all who hold something, and what they must be told before."""

import itertools
from collections.abc import Callable

from .channel import Channel, Make
from .wire import Message


class Asking:
    """Whoever asks holders of one channel about ledgers of theirs.

    Parameters
    ----------
    channel : to those who hold.
    """

    def __init__(self, channel: Channel):
        self._channel = channel
        self._numbers = itertools.count()
        self._forgotten: list[int] = []
        self.ask(Message("nothing"))

    @property
    def channel(self) -> Channel:
        """To those who hold."""
        return self._channel

    @property
    def n_holders(self) -> int:
        """How many hold."""
        return self._channel.n_holders

    def next_number(self) -> int:
        """A number for a ledger, which no other has."""
        return next(self._numbers)

    def tell(self, number: int, messages: Callable[[int], list[Message]]) -> None:
        """Let every holder open its part of a ledger, now and whenever one is replaced.

        Parameters
        ----------
        number : of the ledger.
        messages : what one holder must know: first the ledger itself, then what was asked about.
        """
        self.ask_each(lambda holder: messages(holder)[0])
        self._channel.setups[number] = messages

    def forget(self, number: int) -> None:
        """Nobody asks this ledger any more; holders hear of it with the next question."""
        self._channel.setups.pop(number, None)
        self._forgotten.append(number)

    def ask(self, message: Message) -> list[Message]:
        """The same question to all."""
        return self.ask_each(lambda holder: message)

    def ask_each(self, make: Make) -> list[Message]:
        """To each a question of its own."""
        gone = [self._forgotten.pop() for _ in range(len(self._forgotten))]
        if not gone:
            return self._channel.ask(make)

        def with_news(holder: int) -> Message:
            message = make(holder)
            return message._replace(plain={**message.plain, "forget": gone})

        return self._channel.ask(with_news)
