"""How well consensus methods, ours and others', agree with the truth."""
