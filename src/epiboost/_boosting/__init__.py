"""The paper's method: ensemble recipes, Langevin noise, step sizes, variance guard, virtual members, objectives."""
