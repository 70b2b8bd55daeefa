"""The paper's methods: what each trains and measures on a fold."""
