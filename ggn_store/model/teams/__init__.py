"""What people do to rulesets together: revisions, histories, tags, proposals, reviews, policies, and what travels."""
