"""The values of ``deploy/`` in the Helm charts that they are for: rendered, and checked.

A schema does not see a name that a chart's template ignores. So ``USED`` looks for values of the
file in what was rendered.
"""

from __future__ import annotations

import sys
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import yaml

DEPLOY = Path(__file__).parents[1] / "deploy"
USED: dict[str, tuple[tuple[str, str], ...]] = {
    "gateway": (
        ("Deployment", "elyra/enterprise-gateway:3.3.0"),
        ("Deployment", "14400"),
        ("Deployment", "110"),
        ("Deployment", "spark_python_kubernetes"),
        ("Deployment", "4Gi"),
        ("Service", "ClusterIP"),
        ("DaemonSet", "elyra/kernel-image-puller:3.3.0"),
        ("DaemonSet", "/run/containerd/containerd.sock"),
    ),
    "hub": (
        ("Deployment", "gateway-keys"),
        ("Secret", "key_of"),
        ("Secret", "registry.example.org/notebook"),
        ("NetworkPolicy", "models"),
    ),
}
"""Kinds of documents, and texts of the values that must be in one of that kind."""


def rendered(chart: Any, values: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path, text in chart.render(values, name="try", namespace="try").items():
        if path.endswith(".yaml"):
            yield from filter(None, yaml.safe_load_all(text))


def readable(document: dict[str, Any]) -> str:
    if document["kind"] == "Secret":
        return str([b64decode(text).decode() for text in document["data"].values()])
    return str(document)


def faults(name: str, folder: Path) -> Iterator[str]:
    # They have no types, and an environment of their own.
    import helm_python  # type: ignore[import-not-found]
    import kubernetes_validate  # type: ignore[import-not-found]

    chart = helm_python.Chart.load(str(folder))
    values = yaml.safe_load((DEPLOY / name / "values.yaml").read_text())
    schema = folder / "values.schema.yaml"
    if schema.exists():
        validator = jsonschema.Draft7Validator(yaml.safe_load(schema.read_text()))
        for error in validator.iter_errors(chart.merge_values(values)):
            yield f"{name}: {'.'.join(map(str, error.absolute_path))}: {error.message}"
    documents = list(rendered(chart, values))
    version = kubernetes_validate.latest_version()
    for document in documents:
        try:
            kubernetes_validate.validate(document, version, strict=True)
        except kubernetes_validate.ValidationError as error:
            yield f"{name}: {document['kind']} {document['metadata']['name']}: {error.message}"
    for kind, text in USED[name]:
        if not any(text in readable(one) for one in documents if one["kind"] == kind):
            yield f"{name}: no {kind} has {text}"
    print(f"{name}: {len(documents)} documents, Kubernetes {version}")


def main(folders: list[str]) -> int:
    charts = zip(USED, map(Path, folders), strict=True)
    found = [fault for name, folder in charts for fault in faults(name, folder)]
    print("\n".join(found) or "All of them fit.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
