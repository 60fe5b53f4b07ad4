"""What an admin allows: which providers, which models, and where keys may come from."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Union

import msgspec

from ...core.errors import ModelError
from ...core.providers import Provider


class Limits(msgspec.Struct, frozen=True):
    """None: all. ``models`` are ids as ``provider/model``, where ``*`` stands for anything; those
    of the default provider may be written without its name.

    ``environment_only``: keys and addresses are those of the server's environment and
    configuration; what a person has entered is not used, and nothing can be entered.
    ``day_cost``: US dollars that all requests of a day may cost (``spending.py``).
    """

    providers: Union[tuple[str, ...], None] = None
    models: Union[tuple[str, ...], None] = None
    environment_only: bool = False
    day_cost: Union[float, None] = None

    def provider(self, name: str) -> bool:
        return self.providers is None or name in self.providers

    def model(self, provider: Provider, model: str, is_default: bool) -> bool:
        """``model`` is what it is called there, with or without the provider's name."""
        if not self.provider(provider.name):
            return False
        if self.models is None:
            return True
        bare = model.removeprefix(f"{provider.name}/")
        names = [f"{provider.name}/{bare}"]
        if is_default or bare == provider.name:
            names.append(bare)
        return any(fnmatchcase(name, allowed) for name in names for allowed in self.models)

    def check(self, provider: Provider, model: str, is_default: bool) -> None:
        """Raises ModelError ``not_allowed``."""
        if not self.provider(provider.name):
            words = f"The admin of this server does not allow {provider.label}."
            raise ModelError("not_allowed", f"{words} Allowed: {_listed(self.providers)}.")
        if not self.model(provider, model, is_default):
            words = f"The admin of this server does not allow the model “{model}”."
            raise ModelError("not_allowed", f"{words} Allowed: {_listed(self.models)}.")


NONE = Limits()


def _listed(names: Union[tuple[str, ...], None]) -> str:
    return ", ".join(names or ()) or "none"
