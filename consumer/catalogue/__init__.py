"""The catalogue: a folder per mail type says what an event becomes (`schemas/README.md`)."""

from consumer.catalogue.catalogue import Catalogue, Example, TopicRule
from consumer.catalogue.errors import CatalogueError, Problem
from consumer.catalogue.former import Former
from consumer.catalogue.loading import load

__all__ = ["Catalogue", "CatalogueError", "Example", "Former", "Problem", "TopicRule", "load"]
