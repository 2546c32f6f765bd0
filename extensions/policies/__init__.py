"""Policies of retrieval beside those of `apps.retrieval.policies`: both solvers that Sia, Cho and Cho describe, and the
policies that they compare theirs with."""
