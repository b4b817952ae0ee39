"""What the teams that publish the events are told: read out of the catalogue, never written twice.

kinds       a mail type as upstream meets it: its event, its key, its examples as they are read
fields      the members of an event, one by one: type, meaning, limits, what each is used for
asyncapi    all of it as one AsyncAPI 3.0 document, for programs
schemas     the catalogue's schemas in the dialect that AsyncAPI speaks
outcomes    what is published when an event is finished, as a schema

The same for people, as pages: `consumer/pages`.
"""

from consumer.contract.asyncapi import document
from consumer.contract.kinds import Kind, kinds

__all__ = ["Kind", "document", "kinds"]
