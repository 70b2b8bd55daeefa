"""Random search for faults: ``python -m fuzz`` (or ``make fuzz``) runs campaigns of generated cases.

=================  ===================================================================================================
file               holds
=================  ===================================================================================================
`campaign`         what a campaign is; the list of all
`extremes`         extreme targets, weights and scales, with laws as oracles
`model_files`      damaged and forged model files of every engine
`forgeries`        changes to headers, arrays and models of libraries inside a file
`odd_tables`       odd tables, targets and weights through training, prediction, files and the command line
`odd_columns`      their columns and containers
`odd_targets`      their targets and weights
`public_calls`     random sequences of public calls on one estimator
`worker`           a process that runs cases and answers, one line per case
`sanitize`         builds the core with sanitizers and runs tests and cases on it
`arm`              builds the core for ARM, runs tests on it under QEMU, and compares its bits, ``python -m fuzz.arm``
`bits`             hashes of trees and predictions, the same on every platform, ``python -m fuzz.bits``
`staging`          builds the core with other options, for `sanitize` and `arm`
`runner`           workers, their time limits, and the findings
`record`           how far each campaign has come, and its failing cases, in ``build/fuzz``
`soak`             an hour of all calls with the same memory, files and threads, ``python -m fuzz.soak``
=================  ===================================================================================================
"""
