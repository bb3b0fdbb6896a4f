"""A small hierarchy on the wine data, as text and as a mapping."""

WINE_HIERARCHY = "taste <- alcohol, ash; look <- hue, color_intensity; wine <- taste, look, proline"
WINE_STRUCTURE = {
    "taste": ["alcohol", "ash"],
    "look": ["hue", "color_intensity"],
    "wine": ["taste", "look", "proline"],
}
