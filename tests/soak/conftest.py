"""The fuzzer of the readers needs atheris, and runs in a process of its own."""

collect_ignore = ["fuzz_readers.py"]
