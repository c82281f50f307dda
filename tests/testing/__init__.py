"""What programs are tested with, tested."""
