"""A wrong answer as a script in the engine's own API, which needs nothing of Upright: a call, and a proof."""
