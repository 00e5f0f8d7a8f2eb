"""Questions about whole rulesets and stores: analyses, views and SQL enter; rows and files leave."""
