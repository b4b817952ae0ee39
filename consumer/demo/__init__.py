"""`sendonce demo`: the real service on embedded parts, with a provider that loses answers.

traffic     what upstream publishes: two kinds of mail, repeats, drift, broken records
world       the parts: embedded Kafka and Postgres, the double, a catalogue, a configuration
processes   children that end with us, whatever happened
tally       what became of every record: counted by ledger, guard and offsets, never assumed
show        what a person sees meanwhile and at the end
run         the order of it all
"""
