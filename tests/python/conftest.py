"""What several files of tests need."""

import signal

import pytest


@pytest.fixture
def python_takes_ctrl_c():
    """As usual; but jobs in the background of a shell ignore Ctrl+C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
