"""Bodies that touch by elastic, damped contact with friction; when they touch and part is located on the solution."""
