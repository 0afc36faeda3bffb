"""Models by name, as objects and as classes; what could not be loaded back is refused in one sentence."""

import numpy as np
import pytest
import torch
from torch import nn

from dissensus.errors import ArtifactError, SettingsError
from dissensus.models import (
    MODELS,
    VAE,
    Bernoulli,
    GenerativeModel,
    build_model,
    build_vae,
    check_model,
    model_from_config,
    model_name,
    model_to_config,
)


class Normal(GenerativeModel):
    """p(x) = N(μ, 1): one weight a column, and all that a gate needs."""

    def __init__(self, shape):
        super().__init__()
        self.input_shape = tuple(shape)
        self.mean = nn.Parameter(torch.zeros(*shape))

    def initialise_(self, generator):
        with torch.no_grad():
            self.mean.copy_(torch.randn(self.mean.shape, generator=generator))

    def objective(self, x, noise):
        return self.log_likelihood(x, noise, ())[0]

    def log_likelihood(self, x, noise, inferred):
        log_p = -0.5 * (x.double() - self.mean).square().flatten(1).sum(1)
        return log_p, torch.zeros_like(log_p)

    def config(self):
        return {"shape": list(self.input_shape)}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


class WithoutConfig(Normal):
    def config(self):
        return GenerativeModel.config(self)


class WithoutFromConfig(Normal):
    @classmethod
    def from_config(cls, config):
        return super(Normal, cls).from_config(config)


class NoJSON(Normal):
    def config(self):
        return {"shape": np.array(self.input_shape)}


class NotANumber(Normal):
    def config(self):
        return {"shape": float("nan")}


class OtherWeights(Normal):
    @classmethod
    def from_config(cls, config):
        return cls([*config["shape"][:-1], config["shape"][-1] + 1])


class OtherShape(Normal):
    @classmethod
    def from_config(cls, config):
        made = cls(config["shape"])
        made.input_shape = (99,)
        return made


class OtherClass(Normal):
    @classmethod
    def from_config(cls, config):
        return Normal(config["shape"])


class Counts(Normal):
    """Looks at numbers while it is made, which the meta device has none of."""

    def __init__(self, shape):
        super().__init__(shape)
        assert int(torch.zeros(1).sum()) == 0


class Turned(Normal):
    """Has a random rotation that is made anew each time."""

    def __init__(self, shape):
        super().__init__(shape)
        self.register_buffer("rotation", torch.randn(*shape, *shape))


class Frozen(Normal):
    """Has a random weight that is not trained."""

    def __init__(self, shape):
        super().__init__(shape)
        self.offset = nn.Parameter(torch.randn(*shape), requires_grad=False)


class Chatty(Normal):
    def facts(self):
        return {"model": self}


def local():
    class Local(Normal):
        pass

    return Local


ANEW = "could not be loaded back: from_config(config()) "
REFUSED = {
    "an unknown name": ("flow-of-tomorrow", "there is no model 'flow-of-tomorrow'; choose one of auto, "),
    "something else": (3, "model=3 is no model: choose one of auto, "),
    "another class": (dict, "is no model: choose one of auto, "),
    "an estimator's network": (nn.Linear(2, 2), "inherits from dissensus.models.GenerativeModel"),
    "a class inside a function": (local(), "the class Local is defined inside a function, where no gate"),
    "an object of one": (local()((3,)), "the class Local is defined inside a function, where no gate"),
    "no config": (WithoutConfig((3,)), "could not be loaded back (WithoutConfig has no config(): it cannot"),
    "no from_config": (WithoutFromConfig((3,)), "could not be loaded back (WithoutFromConfig has no from_c"),
    "no JSON": (NoJSON((3,)), "is not JSON serializable): give it config(), which returns JSON values"),
    "not a number": (NotANumber((3,)), "not JSON compliant"),
    "other weights": (OtherWeights((3,)), ANEW + "has other weights than it"),
    "another shape": (OtherShape((3,)), ANEW + "takes inputs of another shape than it"),
    "another class's object": (OtherClass((3,)), ANEW + "makes a Normal: give OtherClass a from_config()"),
    "no meta device": (Counts((3,)), 'also on torch\'s "meta" device'),
    "a buffer of its own": (Turned((3,)), ANEW + "has another rotation than it, and what is not trained is"),
    "a frozen weight": (Frozen((3,)), ANEW + "has another offset than it"),
    "facts that are no JSON": (Chatty((3,)), "says in facts() must be JSON values by name"),
    "networks without a class": (
        VAE(nn.Linear(3, 4), nn.Linear(2, 3), Bernoulli(), (3,), 2),
        "the model vae could not be loaded back (this model was made of custom networks",
    ),
}


@pytest.mark.parametrize(("model", "said"), REFUSED.values(), ids=REFUSED)
def test_what_could_not_be_loaded_back_is_refused_in_one_sentence(model, said):
    with pytest.raises(SettingsError) as error:
        check_model(model)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


OF_PICTURES = ("deep-vae", "pixelcnn")
OF_ANY_ROWS = [name for name in MODELS if name not in ("sequences", *OF_PICTURES)]
"""All but that which has to know its symbols, and those of pictures."""


@pytest.mark.parametrize(
    "model", ["auto", *OF_ANY_ROWS, Normal, Normal((3,)), build_vae((3,), generator=torch.Generator())]
)
def test_what_can_be_is_not(model):
    before = torch.random.get_rng_state()
    check_model(model)
    assert torch.equal(torch.random.get_rng_state(), before)
    made = build_model(model, (3,), clip=4.0, generator=torch.Generator().manual_seed(0))
    assert made is not model
    assert made.input_shape == (3,)


@pytest.mark.parametrize("name", OF_PICTURES)
def test_what_is_of_pictures_is_made_for_them_and_refuses_rows(name):
    before = torch.random.get_rng_state()
    made = build_model(name, (3, 8, 9), clip=None, generator=torch.Generator().manual_seed(0))
    check_model(made)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert made.input_shape == (3, 8, 9)
    with pytest.raises(SettingsError, match=r"the inputs have shape \(3,\)"):
        build_model(name, (3,), clip=4.0, generator=torch.Generator().manual_seed(0))


class Unmakeable(Normal):
    @classmethod
    def for_inputs(cls, shape, *, clip, generator):  # noqa: ARG003
        raise RuntimeError("rows alone\nplease")


class OwnVAE(VAE):
    """Has networks of its own, and inherits how VAEs are made."""


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (
            Unmakeable,
            "Unmakeable cannot be made for inputs of shape (3,) (rows alone please): give it for_inputs()",
        ),
        (OwnVAE, "OwnVAE.for_inputs() makes a VAE: give OwnVAE a for_inputs() of its own, or pass an object"),
        (NoJSON, "could not be loaded back"),
        (Normal((4,)), "the model Normal takes inputs of shape (4,), and X holds inputs of shape (3,)"),
    ],
)
def test_what_cannot_be_made_for_the_inputs_is_refused(model, said):
    with pytest.raises(SettingsError) as error:
        build_model(model, (3,), clip=None, generator=torch.Generator())
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_description_names_the_class_and_makes_it_again_where_it_is_passed():
    config = model_to_config(Normal((3,)))
    name = model_name(Normal)
    assert name.endswith("test_described:Normal")
    assert config == {"model": name, "config": {"shape": [3]}}
    for passed in (Normal, Normal((7,)), [Chatty, Normal]):
        made = model_from_config(config, passed)
        assert (type(made), made.input_shape) == (Normal, (3,))
    for passed, said in ((None, "pass it again"), ((), "pass it again"), (Chatty, "what was passed is")):
        with pytest.raises(ArtifactError, match=said) as error:
            model_from_config(config, passed)
        assert f"its model is {name}" in str(error.value)
        assert f"load(…, model=Normal), or --model {name}" in str(error.value)
