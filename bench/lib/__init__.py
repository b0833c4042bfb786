"""What the scripts of bench/ share: nothing here asks a question of its own."""
