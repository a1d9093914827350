"""What a configuration is expected to need and to do: intervals, computed from a full assignment."""
