"""Settings for properties that may take their time."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

UNHURRIED = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
)
