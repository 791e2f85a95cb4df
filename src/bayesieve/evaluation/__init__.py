"""How far to trust a model: honest figures, stability, calibration."""
