/** What other extensions draw the results of tools with, by the tool's name. */
import { DisposableDelegate } from '@lumino/disposable';
import type { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';
import type { IToolRenderers, ToolRenderer } from '../tokens';

export class ToolRenderers implements IToolRenderers {
  get changed(): ISignal<this, string> {
    return this._changed;
  }

  get(tool: string): ToolRenderer | null {
    return this._renderers.get(tool) ?? null;
  }

  add(tool: string, renderer: ToolRenderer): IDisposable {
    if (this._renderers.has(tool)) {
      throw new Error(`The tool "${tool}" has a renderer already.`);
    }
    this._renderers.set(tool, renderer);
    this._changed.emit(tool);
    return new DisposableDelegate(() => {
      this._renderers.delete(tool);
      this._changed.emit(tool);
    });
  }

  private readonly _renderers = new Map<string, ToolRenderer>();
  private readonly _changed = new Signal<this, string>(this);
}
