"""The Python face: stores, rulesets and positions, composed of documents and store."""
