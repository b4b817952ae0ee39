"""The catalogue: one folder a mail type says what an event becomes. `schemas/README.md` tells how."""

from consumer.catalogue.catalogue import Catalogue, Example, TopicRule
from consumer.catalogue.errors import CatalogueErrors, Problem
from consumer.catalogue.loading import load

__all__ = ["Catalogue", "CatalogueErrors", "Example", "Problem", "TopicRule", "load"]
