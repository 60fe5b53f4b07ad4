/** Tokens that the plugins of this extension share only with each other. */
import type { ITranslator, TranslationBundle } from '@jupyterlab/translation';
import { nullTranslator } from '@jupyterlab/translation';
import { Token } from '@lumino/coreutils';
import type { Notebooks } from '../notebook/notebooks';
import type { Store } from '../panel/store/store';
import type { Api } from '../protocol/api';
import type { Client } from '../protocol/client';

export interface IConnection {
  readonly api: Api;
  readonly client: Client;
}

export const IConnection = new Token<IConnection>(
  'jupyter-codeinterp:IConnection',
  'Client of the code interpreter’s server extension.'
);
export const ILiveNotebooks = new Token<Notebooks>(
  'jupyter-codeinterp:ILiveNotebooks',
  'The notebooks in which the code interpreter can work here.'
);
export const IStore = new Token<Store>(
  'jupyter-codeinterp:IStore',
  'The conversations that this window follows.'
);

export function bundle(translator: ITranslator | null): TranslationBundle {
  return (translator ?? nullTranslator).load('jupyter_codeinterp');
}
