"""Where trades come from: transactions decoded, providers, synchronization, discovery."""
