/** What every component of the panel may use. */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import React from 'react';
import type { ModelMarkdown } from '../../../markdown/markdown';
import type { ISlashCommands, IToolRenderers } from '../../../tokens';
import type { IPanelState } from '../../store/panel-state';
import type { Store } from '../../store/store';

export interface IDiff {
  readonly before: string;
  readonly after: string;
  /** Of the code, for its colours. */
  readonly mimeType: string;
  /** For those who do not see it. */
  readonly label: string;
}

export interface IPanelContext {
  readonly store: Store;
  readonly trans: TranslationBundle;
  readonly markdown: ModelMarkdown;
  readonly renderers: IToolRenderers;
  readonly slash: ISlashCommands;
  /** Open a notebook and bring it to the front. */
  openNotebook(path: string): Promise<void>;
  /** Files of the server's, by their paths. */
  readonly files: {
    /** As a double click in the file browser does. */
    open(path: string): Promise<void>;
    /** Where the browser gets it, as the person who is logged in. */
    url(path: string): Promise<string>;
    /** Its text. Rejects if it is none, or gone. */
    text(path: string): Promise<string>;
  };
  /** Show what was sent to the model in the newest step. */
  showSent(): Promise<void>;
  /** Show a source as it was against another in `host`, until it is disposed of. */
  showDiff(host: HTMLElement, diff: IDiff): IDisposable;
  /** Ask before a conversation is deleted for good. */
  confirmDelete(title: string): Promise<boolean>;
}

export const PanelContext = React.createContext<IPanelContext | null>(null);

export function usePanel(): IPanelContext {
  const context = React.useContext(PanelContext);
  if (!context) {
    throw new Error('Drawn outside of the panel.');
  }
  return context;
}

/** The panel's state; the component is drawn again when it changes. */
export function usePanelState(): IPanelState {
  const { state } = usePanel().store;
  const subscribe = React.useCallback(
    (listener: () => void) => {
      state.changed.connect(listener);
      return () => void state.changed.disconnect(listener);
    },
    [state]
  );
  return React.useSyncExternalStore(subscribe, () => state.now);
}
