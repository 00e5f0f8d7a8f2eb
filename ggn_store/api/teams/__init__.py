"""Work that people share: histories, tags, states, policies, reviews; rulesets that go from store to store."""
