"""Measuring models: engines in processes of their own, interleaved rounds, statistics, peaks of the machine, profiles."""
