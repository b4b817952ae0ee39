"""The whole service as its operators run it: real Kafka, real Postgres, a provider that counts."""
