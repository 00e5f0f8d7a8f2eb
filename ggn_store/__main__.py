"""The program: `ggn-store`, or `python -m ggn_store`."""

import signal

# Until the program takes signals itself there is nothing to undo, and Python would end Ctrl-C with a traceback.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from ggn_store.cli import main

if __name__ == "__main__":
    main()
