"""The generative aspect model: expectation propagation and variational inference."""
