"""The admin's limits: allowed providers and models, and sources of keys."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Union

import msgspec

from ...core.errors import ModelError
from ...core.providers import Provider


class Limits(msgspec.Struct, frozen=True):
    """Allowed providers and models; None: all.

    models            ``provider/model`` with ``*`` as wildcard; the default provider's name is
                      optional
    environment_only  only the server's environment and configuration set keys and addresses
    day_cost          US dollars for all requests of a day (``spending.py``)
    """

    providers: Union[tuple[str, ...], None] = None
    models: Union[tuple[str, ...], None] = None
    environment_only: bool = False
    day_cost: Union[float, None] = None

    def provider(self, name: str) -> bool:
        return self.providers is None or name in self.providers

    def model(self, provider: Provider, model: str, is_default: bool) -> bool:
        """Whether a model is allowed; ``model`` may include the provider's name."""
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
