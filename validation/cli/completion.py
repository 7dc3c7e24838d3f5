"""upright completion"""

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script for a shell: commands, options, scenarios and engines.

    \b
    upright completion bash >> ~/.bashrc
    upright completion zsh  >> ~/.zshrc
    upright completion fish > ~/.config/fish/completions/upright.fish
    """
    from validation.cli import cli

    made = get_completion_class(shell)
    if made is None:
        raise click.ClickException(f"no completion is known for {shell}")
    click.echo(made(cli, {}, "upright", "_UPRIGHT_COMPLETE").source())
