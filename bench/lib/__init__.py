"""Modules that the scripts of bench/ share."""
