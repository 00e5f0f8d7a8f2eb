"""Settings for properties that may take their time."""

from __future__ import annotations

from hypothesis import HealthCheck, settings


def unhurried(examples: int) -> settings:
    """Try so many examples, by the profile in force when this is called: before `conftest` has chosen one, another."""
    patient = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    return settings(max_examples=examples, suppress_health_check=patient)
