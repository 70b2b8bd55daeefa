"""Some random sequences of public calls, as a test of Hypothesis that shrinks what it finds."""

from hypothesis import settings

from fuzz.public_calls import PublicCalls

TestPublicCalls = PublicCalls.TestCase
TestPublicCalls.settings = settings(max_examples=3, stateful_step_count=8, deadline=None, derandomize=True)
