"""Weight draws: chosen, grouped, joined, loaded into a model."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from dissensus.errors import DataError
from dissensus.posterior import (
    Diagnostics,
    PartDraws,
    SamplingSettings,
    WeightDraws,
    join_draws,
    load_draw,
    load_weights,
    sample_posterior,
)

KINDS = pytest.mark.parametrize("kind", ["first_draws", "coupled_draws"])


@pytest.fixture
def first_draws(vectors, vector_vae):
    """Variant 1: three chains of two draws, one encoder each."""
    settings = SamplingSettings.variant_1(epochs=3, burn_in=2, chains=3, batch_size=100)
    return sample_posterior(vector_vae, vectors, settings, seed=0)


@pytest.fixture
def coupled_draws(vectors, vector_vae):
    """Variant 2: three chains of two draws, each with its own encoder."""
    settings = SamplingSettings.variant_2(epochs=3, burn_in=2, chains=3, batch_size=100)
    return sample_posterior(vector_vae, vectors, settings, seed=0)


@pytest.fixture
def part():
    """Five draws of a part that has three values, in no order."""
    stacks = {"weight": torch.arange(6.0).view(3, 2), "bias": torch.arange(3.0)}
    return PartDraws(stacks, np.array([2, 0, 2, 1, 0]))


def same(a, b):
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def held(module):
    return {name: parameter.detach() for name, parameter in module.named_parameters()}


@pytest.mark.parametrize(
    ("chosen", "of", "biases"),
    [
        ([0], [0], [2]),
        ([1, 4], [0, 0], [0]),
        ([3, 0], [0, 1], [1, 2]),
        ([4, 3, 2, 1, 0], [0, 1, 2, 0, 2], [0, 1, 2]),
        ([2, 2], [0, 0], [2]),
        ([], [], []),
    ],
)
def test_a_part_keeps_the_values_that_are_used_once_each(part, chosen, of, biases):
    some = part.select(np.array(chosen, dtype=np.int64))
    assert some.of.tolist() == of
    assert some.of.dtype == np.int64
    assert some.stacks["bias"].tolist() == biases
    assert some.stacks["weight"].shape == (len(biases), 2)
    for new, old in enumerate(chosen):
        assert same(some.weights(some.of[new]), part.weights(part.of[old]))


def test_what_is_selected_does_not_change_with_what_it_was_selected_from(part):
    some = part.select(np.array([0, 1]))
    part.stacks["bias"].zero_()
    assert some.stacks["bias"].tolist() == [0, 2]


@KINDS
@pytest.mark.parametrize("chosen", [[5], [0, 1], [4, 0, 3], [5, 4, 3, 2, 1, 0], [2, 2]])
def test_select_keeps_every_draw_with_its_encoder(request, kind, chosen):
    draws = request.getfixturevalue(kind)
    some = draws.select(np.array(chosen))
    assert len(some) == len(chosen)
    for new, old in enumerate(chosen):
        for part in ("decoder", "encoder"):
            assert same(some.weights(part, new), draws.weights(part, old))
    assert some.chain.tolist() == draws.chain[chosen].tolist()
    assert some.epoch.tolist() == draws.epoch[chosen].tolist()
    for name, part in some.parts.items():
        used = {int(draws.parts[name].of[m]) for m in chosen}
        assert all(len(stack) == len(used) for stack in part.stacks.values())


def groups(draws, parts):
    return [group.tolist() for group in draws.sharing(parts)]


def test_draws_share_what_was_optimised_and_nothing_that_was_sampled(first_draws, coupled_draws):
    pairs, single = [[0, 1], [2, 3], [4, 5]], [[m] for m in range(6)]
    assert groups(first_draws, ("encoder",)) == pairs
    assert groups(first_draws, ("decoder",)) == single
    assert groups(first_draws, ("encoder", "decoder")) == single
    assert groups(coupled_draws, ("encoder",)) == single
    for draws in (first_draws, coupled_draws):
        assert groups(draws, ()) == [[0, 1, 2, 3, 4, 5]]


def test_a_group_shares_all_of_the_named_parts(part):
    other = PartDraws({"scale": torch.arange(2.0)}, np.array([0, 1, 1, 0, 1]))
    draws = WeightDraws({"a": part, "b": other}, np.zeros(5, np.int64), np.arange(5))
    assert sorted(groups(draws, ["a"])) == [[0, 2], [1, 4], [3]]
    assert sorted(groups(draws, ["b"])) == [[0, 3], [1, 2, 4]]
    assert sorted(groups(draws, ["a", "b"])) == [[0], [1, 4], [2], [3]]
    none = draws.select(np.array([], dtype=np.int64))
    assert groups(none, ["a"]) == []


def of_chains(draws, *chains):
    return draws.select(np.flatnonzero(np.isin(draws.chain, chains)))


@KINDS
@pytest.mark.parametrize("runs", [[(0, 1, 2)], [(0,), (1, 2)], [(0, 1), (2,)], [(0,), (1,), (2,)]])
def test_joined_runs_are_one_run(request, kind, runs):
    draws = request.getfixturevalue(kind)
    joined = join_draws([of_chains(draws, *chains) for chains in runs])
    assert joined.chain.tolist() == draws.chain.tolist()
    assert joined.epoch.tolist() == draws.epoch.tolist()
    assert list(joined.parts) == list(draws.parts)
    for name, part in draws.parts.items():
        assert joined.parts[name].of.tolist() == part.of.tolist()
        assert joined.parts[name].of.dtype == np.int64
        assert same(joined.parts[name].stacks, part.stacks)


@KINDS
def test_runs_may_be_joined_in_any_order(request, kind):
    """Every draw keeps its weights, and what its chain's draws share they still share."""
    draws = request.getfixturevalue(kind)
    joined = join_draws([of_chains(draws, 2), of_chains(draws, 0, 1)])
    for new, old in enumerate([4, 5, 0, 1, 2, 3]):
        assert (joined.chain[new], joined.epoch[new]) == (draws.chain[old], draws.epoch[old])
        for part in ("decoder", "encoder"):
            assert same(joined.weights(part, new), draws.weights(part, old))
    assert len(groups(joined, ("encoder",))) == len(groups(draws, ("encoder",)))


def test_what_was_found_of_each_chain_is_kept_and_what_compares_chains_is_not(first_draws):
    reports = first_draws.diagnostics.reports
    assert {report.chain for report in reports} == {0, 1, 2}
    runs = [
        replace(
            of_chains(first_draws, chain),
            diagnostics=Diagnostics(
                tuple(report for report in reports if report.chain == chain),
                {2: 1.5},
                7.0,
                {chain: {"scale": 0.1 * chain}},
            ),
        )
        for chain in (0, 1, 2)
    ]
    found = join_draws(runs).diagnostics
    assert sorted(found.reports, key=reports.index) == list(reports)
    assert found.rhat == {}
    assert found.effective_size is None
    assert found.tuned == {0: {"scale": 0.0}, 1: {"scale": 0.1}, 2: {"scale": 0.2}}


def test_the_same_chain_is_not_counted_twice(first_draws):
    with pytest.raises(DataError, match=r"same chain.*first_chain"):
        join_draws([of_chains(first_draws, 0, 1), of_chains(first_draws, 1, 2)])


def test_a_part_without_weights_is_joined(first_draws):
    """As a network has that is frozen as a whole."""
    frozen = [
        replace(run, parts={**run.parts, "encoder": PartDraws({}, run.parts["encoder"].of)})
        for run in (of_chains(first_draws, 0), of_chains(first_draws, 1, 2))
    ]
    joined = join_draws(frozen)
    assert joined.weights("encoder", 5) == {}
    assert same(joined.parts["decoder"].stacks, first_draws.parts["decoder"].stacks)


@pytest.mark.parametrize("change", ["shape", "name", "part"])
def test_draws_of_different_models_are_not_joined(first_draws, change):
    run, other = of_chains(first_draws, 0), of_chains(first_draws, 1)
    decoder = dict(other.parts["decoder"].stacks)
    name = next(iter(decoder))
    if change == "shape":
        decoder[name] = decoder[name][..., :-1]
    else:
        decoder["another"] = decoder.pop(name)
    parts = {**other.parts, "decoder": PartDraws(decoder, other.parts["decoder"].of)}
    if change == "part":
        parts = {"decoder": other.parts["decoder"]}
    with pytest.raises(DataError, match="different models"):
        join_draws([run, replace(other, parts=parts)])


def test_nothing_is_not_joined():
    with pytest.raises(DataError, match="no draws to join"):
        join_draws([])


@KINDS
def test_load_draw_fills_every_part(request, kind, vector_vae):
    draws = request.getfixturevalue(kind)
    for draw in (4, 0, 5):
        load_draw(vector_vae, draws, draw)
        for part, module in vector_vae.parts().items():
            assert same(held(module), draws.weights(part, draw))


def test_load_weights_copies_into_the_module_s_own_memory(first_draws, vector_vae):
    weights = first_draws.weights("decoder", 4)
    parameters = dict(vector_vae.decoder.named_parameters())
    addresses = {name: p.data_ptr() for name, p in parameters.items()}
    load_weights(vector_vae.decoder, weights)
    assert {name: p.data_ptr() for name, p in parameters.items()} == addresses
    assert same(held(vector_vae.decoder), weights)
    assert all(p.requires_grad for p in parameters.values())
