"""What an impact at one place does, by named laws: `impact` (laws), incremental, algebraic, effective masses."""
