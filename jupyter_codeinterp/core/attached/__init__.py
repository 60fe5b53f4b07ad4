"""Files that a message names, as a model sees them: images and PDFs."""
