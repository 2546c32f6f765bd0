"""A program for the tests of the nursery; it says what it has become."""

import os
import signal
import sys

if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments[0] == "exit":
        sys.exit(int(arguments[1]))
    if arguments[0] == "write":
        os.write(int(arguments[1]), b"written\n")
    leads = "leads" if os.getpgid(0) == os.getpid() else "is in"
    is_loaded = "apps.postings.models" in sys.modules
    print(f"{arguments} child of {os.getppid()}, {leads} group {os.getpgid(0)}, loaded {is_loaded}, nice {os.nice(0)}")
    print("ready", flush=True)
    signal.pause()
