"""What the numbers of the policy are worth: which there are, and how code is with others."""
