"""What analyses make of the rows that the store gives them: values and pure computation."""
