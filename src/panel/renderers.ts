/** Other extensions' renderers for tool results, by tool name. */
import { DisposableDelegate } from '@lumino/disposable';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';
import type { IToolRenderers, ToolRenderer } from '../tokens';

export class ToolRenderers implements IToolRenderers {
  readonly changed = new Signal<this, string>(this);

  get(tool: string): ToolRenderer | null {
    return this._renderers.get(tool) ?? null;
  }

  add(tool: string, renderer: ToolRenderer): IDisposable {
    if (this._renderers.has(tool)) {
      throw new Error(`The tool "${tool}" has a renderer already.`);
    }
    this._renderers.set(tool, renderer);
    this.changed.emit(tool);
    return new DisposableDelegate(() => {
      this._renderers.delete(tool);
      this.changed.emit(tool);
    });
  }

  private readonly _renderers = new Map<string, ToolRenderer>();
}
