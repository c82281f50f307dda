"""What holds for every graph, every answer and every interleaving, as far as chance finds them."""
