"""The engine over XGBoost, in memory and on a Dask cluster."""
