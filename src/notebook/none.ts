/** Replaces `Notebooks` where the notebook plugin is disabled. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';
import type { INotebooks } from '../tokens';

export class NoNotebooks implements INotebooks {
  constructor(private readonly _trans: TranslationBundle) {}

  readonly currentPath = '';
  readonly currentChanged = new Signal<this, string>(this);
  readonly renamed = new Signal<this, { from: string; to: string }>(this);
  readonly leaseChanged = new Signal<this, string>(this);
  readonly shownChanged = new Signal<this, void>(this);
  readonly kernelChanged = new Signal<this, string>(this);

  sourceOf(): null {
    return null;
  }

  isShown(): boolean {
    return false;
  }

  holdsLease(): undefined {
    return undefined;
  }

  async reveal(): Promise<boolean> {
    return false;
  }

  async showCode(): Promise<boolean> {
    return false;
  }

  async goTo(): Promise<boolean> {
    return false;
  }

  makeViewZone(): null {
    return null;
  }

  async insert(): Promise<boolean> {
    return false;
  }

  async runAbove(): Promise<boolean> {
    return false;
  }

  async restartAndRunAbove(): Promise<boolean> {
    return false;
  }

  followKernel(): void {}

  isLocked(): boolean {
    return false;
  }

  modelOf(): null {
    return null;
  }

  hasLost(): boolean {
    return false;
  }

  readonly placesChanged = new Signal<this, string>(this);

  sourcesIn(): null {
    return null;
  }

  places(): null {
    return null;
  }

  attach(): Promise<string> {
    return this.createNotebook();
  }

  outline(): null {
    return null;
  }

  codeMimeType(): string {
    return 'text/plain';
  }

  async ready(): Promise<void> {}

  async save(): Promise<void> {}

  createNotebook(): Promise<string> {
    const words = this._trans.__(
      'The notebook plugin of Code Interpreter is disabled (jupyter-codeinterp:notebook).'
    );
    return Promise.reject(new Error(words));
  }
}
