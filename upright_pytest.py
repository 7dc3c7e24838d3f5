"""Empty: what an editable installation from before `upright.pytest_plugin` asks for until it is installed again."""
