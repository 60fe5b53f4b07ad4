/** The context of all components of the panel. */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import React from 'react';
import type { ModelMarkdown } from '../../../markdown/markdown';
import type { IToolRenderers } from '../../../tokens';
import type { IPanelState } from '../../store/panel-state';
import type { Store } from '../../store/store';

export interface IDiff {
  readonly before: string;
  readonly after: string;
  /** The code's MIME type, for highlighting. */
  readonly mimeType: string;
  /** For screen readers. */
  readonly label: string;
}

/** A variable (`name`) or a file (its path) of a notebook. */
export interface IWantedTable {
  readonly notebook: string;
  readonly name: string;
}

/** A slash command of the message field. */
export interface ISlashCommand {
  readonly name: string;
  /** What it does, in a few words. */
  readonly caption: string;
  /**
   * Called on the person's own key press or click, after the command is removed from the field;
   * text behind it stays there. The panel shows the errors it throws.
   */
  execute(): void | Promise<unknown>;
}

export interface IPanelContext {
  readonly store: Store;
  readonly trans: TranslationBundle;
  readonly markdown: ModelMarkdown;
  readonly renderers: IToolRenderers;
  readonly slash: readonly ISlashCommand[];
  /** Open a notebook and bring it to the front. */
  openNotebook(path: string): Promise<void>;
  /** Open a variable as a table in a tab. */
  openTable(wanted: IWantedTable): Promise<void>;
  /** Files of the server, by path. */
  readonly files: {
    /** Open the file as a double click in the file browser does. */
    open(path: string): Promise<void>;
    /** The download URL, for the logged-in person. */
    url(path: string): Promise<string>;
  };
  /** Show the request of the newest step. */
  showSent(): Promise<void>;
  /** Show a diff in `host` until disposed. */
  showDiff(host: HTMLElement, diff: IDiff): IDisposable;
  /** Ask the person before something that cannot be undone. `action` is on the button. */
  confirm(question: string, words: string, action: string): Promise<boolean>;
}

export const PanelContext = React.createContext<IPanelContext | null>(null);

export function usePanel(): IPanelContext {
  const context = React.useContext(PanelContext);
  if (!context) {
    throw new Error('Drawn outside of the panel.');
  }
  return context;
}

/** The panel's state; renders the component again when it changes. */
export function usePanelState(): IPanelState {
  const { state } = usePanel().store;
  return useSignal(state.changed, () => state.now);
}

/** The result of `read`; renders the component again when a signal changes it. */
export function useSignal<T>(
  signal: ISignal<object, unknown>,
  read: () => T
): T {
  const subscribe = React.useCallback(
    (listener: () => void) => {
      signal.connect(listener);
      return () => void signal.disconnect(listener);
    },
    [signal]
  );
  return React.useSyncExternalStore(subscribe, read);
}
