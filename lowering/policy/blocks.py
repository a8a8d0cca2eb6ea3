"""Choices of blocks for caches: shares of a cache that what is used in turn may take, and sizes of blocks."""

from __future__ import annotations

from dataclasses import dataclass

from dlc.lowering.policy.setting import candidates, setting


@dataclass(frozen=True)
class BlockPolicy:
    """Shares of a cache by what else must lie there, and what blocks must bring."""

    full_share: float = setting(6 / 7, "share", "of a cache that rows and one panel may fill", 0.1, 1, 1)
    resident_share: float = setting(3 / 4, "share", "of a cache that holds what a loop comes back to", 0.1, 1, 1)
    working_share: float = setting(2 / 3, "share", "of a cache that a working set may take beside streams", 0.1, 1, 1)
    panel_share: float = setting(
        3 / 5, "share", "of L2 from which rows go in blocks, and up to which panels are fetched ahead", 0.1, 1, 1
    )
    crowding_share: float = setting(9 / 16, "share", "of L2 of a block of rows that may crowd panels out", 0.1, 1, 1)
    half_share: float = setting(1 / 2, "share", "of a cache that leaves room for another set of the size", 0.1, 1, 1)
    third_share: float = setting(1 / 3, "share", "of a cache that leaves room for two others of the size", 0.1, 1, 1)
    rows_share: float = setting(5 / 16, "share", "of L2 of a block of rows beside two panels", 0.05, 1, 1)
    quarter_share: float = setting(1 / 4, "share", "of a cache that leaves room for three others of the size", 0.05, 1, 1)
    outside_share: float = setting(1 / 5, "share", "of L2 of a dense panel of a block outside of all panels", 0.05, 1, 1)
    eighth_share: float = setting(1 / 8, "share", "of a cache that leaves room for the same of other cores", 0.01, 1, 1)
    fewest_block_tiles: int = setting(4, "tiles", "tiles in a block of rows, panels that pass it, and turns that pay", 1, 64)
    most_block_tiles: int = setting(16, "tiles", "tiles in a block of rows of narrow panels", 1, 256)
    most_sum_blocks: int = setting(8, "blocks", "blocks of a sum inside of blocks of rows", 1, 64)
    fewer_bytes: float = setting(3 / 5, "share", "bytes that crowding blocks of rows bring in, of those without", 0.1, 1, 1)
    narrow_panel: int = setting(24, "columns", "columns of a panel so narrow that rows come again often", 1, 128)
    rows_to_columns: int = setting(2, "ratio", "rows of a block for each column of a narrow panel", 1, 16)
    near_pages: int = setting(64, "pages", "pages that the nearest table holds", 8, 4096)
    part_of_page: float = setting(1 / 8, "share", "of a page that tiles which meet too many pages read of each", 0, 1, 1)
    strip_columns: int = setting(256, "columns", "columns of a strip of results at most", 16, 4096)
    largest_panel: int = setting(4, "L2", "second-level caches of a copied panel at most", 1, 64)
    fewest_lines: int = setting(2, "lines", "lines of each row in a block of columns, at least", 1, 16)
    most_lines: int = setting(4, "lines", "and at most", 1, 64)
    tall_block: int = setting(8, "elements", "elements of a block of an index set along each dim but the last", 1, 128)
    sum_blocks: tuple[int, ...] = candidates((64, 128, 256, 512), "trips", "blocks of a sum")
    tile_blocks: tuple[int, ...] = candidates((2, 4, 8, 16, 32), "tiles", "blocks of tiles")
    time_blocks: tuple[int, ...] = candidates((4, 8, 16, 32, 64), "trips", "blocks of the time loop of time tiles")
    space_blocks: tuple[int, ...] = candidates((4, 8, 16, 32), "trips", "blocks of the loops between")
    row_blocks: tuple[int, ...] = candidates((256, 512, 1024), "trips", "blocks of the innermost loop where whole rows do not do")
