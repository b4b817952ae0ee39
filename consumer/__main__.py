"""`python -m consumer` is `sendonce`."""

from consumer.cli import main

if __name__ == "__main__":
    main()
