"""What is simulated in the plane: bodies, shapes, connectors and forces. The engines planar and contactsim share it."""
