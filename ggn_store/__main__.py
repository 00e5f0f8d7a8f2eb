"""`python -m ggn_store` is the same program as `ggn-store`."""

from ggn_store.cli import main

if __name__ == "__main__":
    main()
