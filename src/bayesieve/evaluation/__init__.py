"""Evaluation: nested cross-validation, stability, calibration, drift, decision rules."""
