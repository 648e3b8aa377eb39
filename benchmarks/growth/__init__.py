"""What a core and a gigabyte carry, and what machines of them would."""
