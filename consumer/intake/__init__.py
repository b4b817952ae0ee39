"""From Kafka to the line, and back to a committed offset.

kafka.py      the only importer of aiokafka: consumer, outcome producer, security
positions.py  where a partition starts that the group has no offset for
offsets.py    what may be committed: a tracker per partition and ownership
hold.py       how a record in hand is called back
loop.py       poll, hand out, commit, drain
"""
