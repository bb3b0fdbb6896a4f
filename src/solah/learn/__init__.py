"""Learning: described rows in, trees, hierarchies and their evidence out."""
