"""The sections of a specification, a module each, whose `read` adds what one says to the reader's draft."""
