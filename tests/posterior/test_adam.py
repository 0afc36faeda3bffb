import torch

from dissensus.posterior import Adam


def test_equals_torch():
    start = torch.randn(50, generator=torch.Generator().manual_seed(0))
    theirs = torch.nn.Parameter(start.clone())
    optimiser = torch.optim.Adam([theirs], lr=1e-2)
    rule, ours = Adam(learning_rate=1e-2), start.clone()
    state = rule.init(ours)
    for step in range(40):
        gradient = torch.sin(theirs.detach() * 3) * (1 + step % 3)
        theirs.grad = gradient.clone()
        optimiser.step()
        rule.step_(state, ours, gradient)
    torch.testing.assert_close(ours, theirs.detach(), rtol=0, atol=1e-5)
