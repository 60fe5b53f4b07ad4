/** The slash commands, ours and those of other extensions. */
import { DisposableDelegate } from '@lumino/disposable';
import type { IDisposable } from '@lumino/disposable';
import type { ISlashCommand, ISlashCommands } from '../tokens';

const NAME = /^[a-z][a-z0-9_-]*$/;

export class SlashCommands implements ISlashCommands {
  get all(): readonly ISlashCommand[] {
    return [...this._commands.values()];
  }

  get(name: string): ISlashCommand | null {
    return this._commands.get(name) ?? null;
  }

  add(command: ISlashCommand): IDisposable {
    const { name } = command;
    if (!NAME.test(name)) {
      throw new Error(`"${name}" is not a valid command name.`);
    }
    if (this._commands.has(name)) {
      throw new Error(`There is a "/${name}" already.`);
    }
    this._commands.set(name, command);
    return new DisposableDelegate(() => this._commands.delete(name));
  }

  private readonly _commands = new Map<string, ISlashCommand>();
}
