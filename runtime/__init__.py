"""What runs a compiled model: sessions, calls, memory, threads; `src` holds its C++.

Imports nothing of dlc but its leaves.
"""
