"""Programs with silent errors, and right ones of the same look: can the checks tell them apart?"""
