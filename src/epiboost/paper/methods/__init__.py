"""The paper's methods: each trains models on one fold and evaluates them."""
