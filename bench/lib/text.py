"""Tables for a terminal."""


def columns(rows, left):
    """Rows of cells in aligned columns: the first `left` columns are left-aligned, the numbers right-aligned."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = (
        "  ".join(
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
    return "".join(line.rstrip() + "\n" for line in lines)
