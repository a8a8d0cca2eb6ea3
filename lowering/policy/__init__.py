"""Numbers that are choices: thresholds, weights of cost models, limits. Facts of a machine are in `dlc.targets.machine`.

Code reads `policy().<group>.<field>`. Each field states its unit, meaning and range (`setting`); `python -m bench fit` measures it.
Numbers that encode (predicates, positions of operands, coefficients of functions) stay where they are used.
"""

from dlc.lowering.policy.record import POLICY, Policy, policy, policy_of, read_policy, state_policy, using

__all__ = ["POLICY", "Policy", "policy", "policy_of", "read_policy", "state_policy", "using"]
